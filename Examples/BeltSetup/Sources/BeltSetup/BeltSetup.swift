import AccessorySetupKit
import CoreBluetooth
import Foundation

#if canImport(UIKit)
    import UIKit
#endif

/// Sets a heart-rate belt up with AccessorySetupKit, and reads its heart rates with Core Bluetooth.
///
/// The user is never asked for the permission to use Bluetooth: the choice of a belt is the permission. All methods and
/// reports run on the queue passed to the initializer.
package final class BeltSetup: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        /// There is no belt yet. The user interface offers ``addBelt()``.
        case needsBelt
        case added(String)
        case renamed(String)
        case removed
        case heartRate(Int)
        case failed(ASError.Code)
    }

    package static let service = CBUUID(string: "180D")
    private static let measurement = CBUUID(string: "2A37")

    private let session = ASAccessorySession()
    private let queue: DispatchQueue
    private let report: @Sendable (Report) -> Void
    private var belt: ASAccessory?
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?

    /// Activates the session. A belt of an earlier launch is used at once.
    package init(queue: DispatchQueue = .main, report: @escaping @Sendable (Report) -> Void) {
        self.queue = queue
        self.report = report
        super.init()
        session.activate(on: queue) { [weak self] in self?.handle($0) }
    }

    /// Shows the picker with the belts in reach.
    package func addBelt() {
        let descriptor = ASDiscoveryDescriptor()
        descriptor.bluetoothServiceUUID = Self.service
        descriptor.supportedOptions = .bluetoothPairingLE
        let item = ASPickerDisplayItem(
            name: "Heart-rate belt",
            productImage: UIImage(named: "belt") ?? UIImage(),
            descriptor: descriptor
        )
        item.setupOptions = .rename
        session.showPicker(for: [item]) { [report] in Self.report($0, report) }
    }

    /// Removes the belt, with its pairing.
    package func removeBelt() {
        guard let belt else { return }
        session.removeAccessory(belt) { [report] in Self.report($0, report) }
    }

    private static func report(_ error: (any Error)?, _ report: (Report) -> Void) {
        if let error { report(.failed((error as? ASError)?.code ?? .unknown)) }
    }

    private func handle(_ event: ASAccessoryEvent) {
        switch event.eventType {
        case .activated:
            guard let known = session.accessories.first else { return report(.needsBelt) }
            use(known)
        case .accessoryAdded:
            guard let added = event.accessory else { return }
            report(.added(added.displayName))
            use(added)
        case .accessoryChanged:
            guard let changed = event.accessory else { return }
            belt = changed
            report(.renamed(changed.displayName))
        case .accessoryRemoved:
            (belt, manager, peripheral) = (nil, nil, nil)
            report(.removed)
        default: break
        }
    }

    /// Connects to the belt, as soon as Bluetooth is on.
    private func use(_ accessory: ASAccessory) {
        belt = accessory
        if manager == nil { manager = CBCentralManager(delegate: self, queue: queue) } else { connect() }
    }

    private func connect() {
        guard let manager, manager.state == .poweredOn, let identifier = belt?.bluetoothIdentifier else { return }
        peripheral = manager.retrievePeripherals(withIdentifiers: [identifier]).first
        peripheral?.delegate = self
        if let peripheral { manager.connect(peripheral) }
    }
}

extension BeltSetup: CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) { connect() }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        // The request waits until the belt is back.
        if belt != nil { central.connect(peripheral) }
    }
}

extension BeltSetup: CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([Self.measurement], for: service)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        // Flags, then a rate of one octet, or of two if the first flag is set (Heart Rate Service 1.0, 3.1).
        guard let value = characteristic.value, value.count >= 2 else { return }
        let octets = [UInt8](value)
        if octets[0] & 1 == 0 {
            report(.heartRate(Int(octets[1])))
        } else if octets.count >= 3 {
            report(.heartRate(Int(octets[1]) | Int(octets[2]) << 8))
        }
    }
}
