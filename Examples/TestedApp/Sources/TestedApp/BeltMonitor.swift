import CoreBluetooth
import Foundation

/// Follows a heart-rate belt: finds it, connects within ten seconds, and reports its location and each heart rate. When
/// the belt has been out of range, it goes on.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
public final class BeltMonitor: NSObject {
    /// An event for the user interface.
    public enum Report: Hashable, Sendable {
        case searching
        case connecting
        case connected
        case location(Int)
        case rate(Int)
        case disconnected
        case timedOut
        case failed(String)
    }

    /// The longest time for the first connection, in seconds.
    public static let timeout = 10.0

    private static let service = CBUUID(string: "180D")
    private static let measurement = CBUUID(string: "2A37")
    private static let location = CBUUID(string: "2A38")

    private let queue: DispatchQueue
    private let report: (Report) -> Void
    private var manager: CBCentralManager?
    /// Retained while in use, since a manager does not retain its peripherals.
    private var belt: CBPeripheral?
    private var timeOut: DispatchWorkItem?

    /// Begins to search as soon as Bluetooth is on.
    ///
    /// - Parameters:
    ///   - queue: The queue of the callbacks.
    ///   - report: Receives each event for the user interface.
    public init(queue: DispatchQueue = .main, report: @escaping (Report) -> Void) {
        self.queue = queue
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    private func connect(_ peripheral: CBPeripheral) {
        report(.connecting)
        manager?.connect(peripheral)
        let timeOut = DispatchWorkItem { [weak self] in self?.giveUp() }
        self.timeOut = timeOut
        queue.asyncAfter(deadline: .now() + Self.timeout, execute: timeOut)
    }

    /// A pending connection has no time-out of its own.
    private func giveUp() {
        guard let belt else { return }
        manager?.cancelPeripheralConnection(belt)
        self.belt = nil
        report(.timedOut)
    }
}

extension BeltMonitor: CBCentralManagerDelegate {
    /// Searches as soon as Bluetooth is on.
    public func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else {
            // Peripherals, and requests for connections, do not outlive this.
            timeOut?.cancel()
            belt = nil
            return report(.failed("Bluetooth is not available"))
        }
        report(.searching)
        central.scanForPeripherals(withServices: [Self.service])
    }

    /// Connects to the first belt that is found.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        belt = peripheral
        peripheral.delegate = self
        connect(peripheral)
    }

    /// Discovers the services, after each connection.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        timeOut?.cancel()
        report(.connected)
        // After a reconnection too: the services of the connection before are no longer valid.
        peripheral.discoverServices([Self.service])
    }

    /// Reports why there is no connection.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        timeOut?.cancel()
        report(.failed(error?.localizedDescription ?? "no connection"))
    }

    /// Connects again as soon as the belt is back.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        // The app has given up before.
        guard belt != nil else { return }
        report(.disconnected)
        // Waits until the belt is back, however long that takes.
        central.connect(peripheral)
    }
}

extension BeltMonitor: CBPeripheralDelegate {
    /// After an update of its firmware a belt may have another table.
    public func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        // The app uses no other service.
        let used = [Self.service]
        peripheral.discoverServices(used)
    }

    /// Discovers the characteristics of the service.
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([Self.measurement, Self.location], for: service)
        }
    }

    /// Subscribes to the rate and reads the location.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        for characteristic in service.characteristics ?? [] {
            switch characteristic.uuid {
            case Self.measurement: peripheral.setNotifyValue(true, for: characteristic)
            case Self.location: peripheral.readValue(for: characteristic)
            default: break
            }
        }
    }

    /// Reports the value, or why it cannot be read.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        let octets = [UInt8](characteristic.value ?? Data())
        switch characteristic.uuid {
        case Self.measurement:
            guard octets.count >= 2 else { return report(.failed("unreadable heart rate")) }
            report(.rate(Int(octets[1])))
        case Self.location:
            guard let place = octets.first else { return report(.failed("unreadable location")) }
            report(.location(Int(place)))
        default: break
        }
    }
}
