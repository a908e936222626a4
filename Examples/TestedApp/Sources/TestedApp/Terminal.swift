import CoreBluetooth
import Foundation

/// A terminal for a device with a Nordic UART: sends octets, and reports what the device sends.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
public final class Terminal: NSObject {
    private static let service = CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    private static let input = CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
    private static let output = CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
    /// The octets in each write.
    private static let piece = 20

    private let report: (Data) -> Void
    private var manager: CBCentralManager?
    private var device: CBPeripheral?
    private var target: CBCharacteristic?
    private var unsent: Data

    /// Begins to search as soon as Bluetooth is on.
    ///
    /// - Parameters:
    ///   - text: What to send as soon as the device sends what it has.
    ///   - queue: The queue of the callbacks.
    ///   - report: Receives the octets of the device.
    public init(sending text: Data, queue: DispatchQueue = .main, report: @escaping (Data) -> Void) {
        self.report = report
        unsent = text
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Sends as much as there is room for. The system calls `peripheralIsReady` when there is room again.
    private func send(to device: CBPeripheral) {
        guard let target else { return }
        while !unsent.isEmpty, device.canSendWriteWithoutResponse {
            device.writeValue(unsent.prefix(Self.piece), for: target, type: .withoutResponse)
            unsent = unsent.dropFirst(Self.piece)
        }
    }
}

extension Terminal: CBCentralManagerDelegate {
    /// Searches as soon as Bluetooth is on.
    public func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [Self.service])
    }

    /// Connects to the first device that is found.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        device = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    /// Discovers the services of the connected device.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([Self.service])
    }
}

extension Terminal: CBPeripheralDelegate {
    /// Discovers the characteristics of the service.
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([Self.input, Self.output], for: service)
        }
    }

    /// Subscribes to the output of the device.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        target = service.characteristics?.first { $0.uuid == Self.input }
        guard let output = service.characteristics?.first(where: { $0.uuid == Self.output }) else { return }
        peripheral.setNotifyValue(true, for: output)
    }

    /// Sends once the answers arrive.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard characteristic.isNotifying else { return }
        send(to: peripheral)
    }

    /// Continues with the text that there was no room for.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        send(to: peripheral)
    }

    /// Reports the octets that the device has sent.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let value = characteristic.value else { return }
        report(value)
    }
}
