import CoreBluetooth
import Foundation

/// The steps of all central apps in this package: finds a thermometer, connects, discovers, and passes each temperature
/// on. An app replaces the step in which it is better or worse.
///
/// All methods and reports run on the queue passed to the initializer.
open class RoomThermometer: NSObject {
    /// The service Environmental Sensing.
    public static let service = CBUUID(string: "181A")
    /// The characteristic Temperature, in hundredths of a degree Celsius.
    public static let temperature = CBUUID(string: "2A6E")

    private let queue: DispatchQueue
    /// The thermometer in use. A manager does not retain its peripherals.
    public var peripheral: CBPeripheral?
    private let report: (Double) -> Void
    private var manager: CBCentralManager?

    /// Begins as soon as Bluetooth is on.
    ///
    /// - Parameters:
    ///   - queue: The queue of the callbacks.
    ///   - report: Receives each temperature, in degrees Celsius.
    public required init(queue: DispatchQueue, report: @escaping (Double) -> Void = { _ in }) {
        (self.queue, self.report) = (queue, report)
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Does something later, on the queue of the callbacks.
    public final func after(_ seconds: Double, _ action: @escaping () -> Void) {
        queue.asyncAfter(deadline: .now() + seconds, execute: DispatchWorkItem(block: action))
    }

    /// The first step, when Bluetooth is on.
    open func search(with central: CBCentralManager) {
        central.scanForPeripherals(withServices: [Self.service])
    }

    /// The step after a thermometer was found.
    open func use(_ found: CBPeripheral, with central: CBCentralManager) {
        central.stopScan()
        peripheral = found
        central.connect(found)
    }

    /// The step after the connection.
    open func exploreServices(of peripheral: CBPeripheral) {
        peripheral.discoverServices([Self.service])
    }

    /// The step for each service.
    open func exploreCharacteristics(of service: CBService, of peripheral: CBPeripheral) {
        peripheral.discoverCharacteristics([Self.temperature], for: service)
    }

    /// The step after the temperature was discovered.
    open func get(_ temperature: CBCharacteristic, of peripheral: CBPeripheral) {
        peripheral.setNotifyValue(true, for: temperature)
    }

    /// The step after each temperature.
    open func received(_ temperature: CBCharacteristic, of peripheral: CBPeripheral, with central: CBCentralManager) {}
}

extension RoomThermometer: CBCentralManagerDelegate {
    /// Searches as soon as Bluetooth is on.
    public func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { search(with: central) }
    }

    /// Uses the first thermometer.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if self.peripheral == nil { use(peripheral, with: central) }
    }

    /// Discovers the services, after each connection.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        exploreServices(of: peripheral)
    }
}

extension RoomThermometer: CBPeripheralDelegate {
    /// Discovers the characteristics of the services.
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] where service.uuid == Self.service {
            exploreCharacteristics(of: service, of: peripheral)
        }
    }

    /// Reads the temperature, or subscribes to it.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        let found = service.characteristics?.first { $0.uuid == Self.temperature }
        if let found { get(found, of: peripheral) }
    }

    /// Passes the temperature on.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let value = characteristic.value, value.count == 2, let manager else { return }
        report(Double(Int16(bitPattern: UInt16(value[0]) | UInt16(value[1]) << 8)) / 100)
        received(characteristic, of: peripheral, with: manager)
    }
}
