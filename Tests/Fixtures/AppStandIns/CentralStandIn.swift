import CoreBluetooth
import Synchronization

/// A central app that does what most do: it scans once Bluetooth is on, connects to the first peripheral that it finds,
/// and discovers the services it has scanned for. Subclasses override what they do differently.
open class CentralStandIn: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: the manager is set once, before its callbacks.
    private let services: [CBUUID]?
    package private(set) var manager: CBCentralManager?
    /// The peripheral found since Bluetooth is on, or the one that a subclass has restored.
    package var found: CBPeripheral? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
    private let kept = Mutex<CBPeripheral?>(nil)

    /// Creates the app and its manager.
    ///
    /// - Parameters:
    ///   - services: The services to scan for and to discover, or nil for all.
    ///   - identifier: The restore identifier, if the app has one.
    public init(
        seeking services: [CBUUID]?,
        on queue: DispatchQueue? = DispatchQueue(label: "central"),
        restoring identifier: String? = nil
    ) {
        self.services = services
        super.init()
        let options = identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        manager = CBCentralManager(delegate: self, queue: queue, options: options)
    }

    /// Called with each characteristic once it is discovered. Does nothing by default.
    open func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {}

    open func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return found = nil }
        central.scanForPeripherals(withServices: services)
    }

    open func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard found == nil else { return }
        found = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    open func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(services)
    }

    open func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    open func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for each in service.characteristics ?? [] { use(each, of: peripheral) }
    }

    // MARK: What only subclasses handle

    // A delegate method that a subclass adds is not called: the conformance of the class has those declared here.

    open func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}

    open func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    open func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {}

    open func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    ) {}

    open func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    open func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    open func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    open func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}

    open func peripheral(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    ) {}

    open func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {}
}
