import CoreBluetooth

/// A gateway, written as for iOS: it connects to the first heart-rate sensors it discovers, follows all of them
/// concurrently, and disconnects when each has delivered enough measurements.
///
/// Callbacks arrive on the queue given to the initializer.
package final class HeartRateCollector: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: mutable state is only touched on the manager's queue, where its callbacks arrive.

    /// A sensor, as the app knows it.
    package struct Sensor: Hashable, Sendable {
        package let identifier: UUID
        package let name: String?
    }

    /// An event for the output of the program.
    package enum Event: Hashable, Sendable {
        /// Bluetooth cannot be used, by its state.
        case unusable(CBManagerState)
        /// A sensor is connected, as one of `linked`.
        case connected(Sensor, linked: Int)
        /// The connection was lost, or not established. The app connects again.
        case lost(Sensor, reason: String)
        /// A measurement has arrived, the sensor's `number`th.
        case measured(Sensor, Data, beatsPerMinute: Int, number: Int)
        /// Each sensor has delivered enough, over this number of simultaneous links.
        case complete(linked: Int)
        /// The app has disconnected from a sensor.
        case disconnected(Sensor)
    }

    private let wanted: Int
    private let measurements: Int
    private let onEvent: @Sendable (Event) -> Void
    private let finish: @Sendable () -> Void
    private var manager: CBCentralManager!
    private var sensors: [CBPeripheral] = []
    private var counts: [UUID: Int] = [:]
    private var isLeaving = false

    package init(
        queue: DispatchQueue,
        sensors: Int,
        measurements: Int,
        onEvent: @escaping @Sendable (Event) -> Void,
        finish: @escaping @Sendable () -> Void
    ) {
        wanted = sensors
        self.measurements = measurements
        self.onEvent = onEvent
        self.finish = finish
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// The number of connected sensors.
    package var linked: Int { sensors.count { $0.state == .connected } }
    /// The number of sensors that have delivered enough measurements.
    package var done: Int { sensors.count { counts[$0.identifier, default: 0] >= measurements } }

    // MARK: Scanning and connecting

    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return onEvent(.unusable(central.state)) }
        central.scanForPeripherals(withServices: [HeartRateProfile.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard sensors.count < wanted, !sensors.contains(peripheral) else { return }
        sensors.append(peripheral)
        peripheral.delegate = self
        central.connect(peripheral)
        if sensors.count == wanted { central.stopScan() }
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        onEvent(.connected(sensor(peripheral), linked: linked))
        peripheral.discoverServices([HeartRateProfile.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        again(peripheral, error)
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if !isLeaving { return again(peripheral, error) }
        onEvent(.disconnected(sensor(peripheral)))
        if sensors.allSatisfy({ $0.state == .disconnected }) { finish() }
    }

    private func again(_ peripheral: CBPeripheral, _ error: (any Error)?) {
        onEvent(.lost(sensor(peripheral), reason: error?.localizedDescription ?? "disconnected"))
        manager.connect(peripheral)
    }

    // MARK: Following

    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else { return }
        peripheral.discoverCharacteristics([HeartRateProfile.measurement], for: service)
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        guard let measurement = service.characteristics?.first else { return }
        peripheral.setNotifyValue(true, for: measurement)
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let value = characteristic.value, let rate = HeartRateProfile.rate(of: value) else { return }
        let count = counts[peripheral.identifier, default: 0] + 1
        counts[peripheral.identifier] = count
        if count <= measurements {
            onEvent(.measured(sensor(peripheral), value, beatsPerMinute: rate, number: count))
        }
        guard !isLeaving, sensors.count == wanted, linked == wanted, done == wanted else { return }
        isLeaving = true
        onEvent(.complete(linked: linked))
        for sensor in sensors { manager.cancelPeripheralConnection(sensor) }
    }

    private func sensor(_ peripheral: CBPeripheral) -> Sensor {
        Sensor(identifier: peripheral.identifier, name: peripheral.name)
    }
}
