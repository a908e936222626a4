import AccessorySetupKit
import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import ServiceMessages
import Synchronization

/// An app that sets belts up, and uses them with Core Bluetooth.
final class BeltApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: all mutable state is in mutexes.
    static let service = CBUUID(string: "180D")
    static let declaration: AppDeclaration = {
        var declaration = AppDeclaration(displayName: "Belts", backgroundModes: .central)
        declaration.setup = SetupDeclaration(services: ["180D"], names: ["Belt"], companies: [0x012D])
        return declaration
    }()

    let process: SimulatedApp
    let session = ASAccessorySession()
    private let queue = DispatchQueue(label: "belts")
    private let lines = Mutex<[String]>([])
    private let made = Mutex<CBCentralManager?>(nil)
    private let seen = Mutex<[CBPeripheral]>([])

    /// - Parameter central: Whether the app creates a central manager at once.
    init(in process: SimulatedApp, central: Bool = false) {
        self.process = process
        super.init()
        session.activate(on: queue) { [weak self] in self?.handle($0) }
        if central { makeCentral() }
    }

    /// Creates the central manager. Called in the app's own code.
    func makeCentral() { made.withLock { $0 = CBCentralManager(delegate: self, queue: queue) } }
    var central: CBCentralManager? { made.withLock { $0 } }
    /// The peripherals that scans have found, the oldest first.
    var found: [CBPeripheral] { seen.withLock { $0 } }

    /// What has happened to the session since the last call, the oldest first.
    func takeSetup() -> [String] {
        take().filter { line in !["central", "discovered"].contains { line.hasPrefix($0) } }
    }

    /// What has happened since the last call, the oldest first.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private func note(_ line: String) { lines.withLock { $0.append(line) } }

    private func handle(_ event: ASAccessoryEvent) {
        let error = (event.error as? ASError).map { " \($0.code)" } ?? ""
        note("\(event.eventType)\(event.accessory.map { " \($0.displayName)" } ?? "")\(error)")
    }

    /// Notes the outcome of a request with this name.
    func outcome(_ name: String) -> @Sendable ((any Error)?) -> Void {
        { [weak self] in self?.note("\(name): \(($0 as? ASError).map { "\($0.code)" } ?? "done")") }
    }

    static func item(
        _ options: ASPickerDisplayItem.SetupOptions = [],
        pairs: Bool = false,
        _ change: (ASDiscoveryDescriptor) -> Void = { _ in }
    ) -> ASPickerDisplayItem {
        let descriptor = ASDiscoveryDescriptor()
        descriptor.bluetoothServiceUUID = service
        if pairs { descriptor.supportedOptions = .bluetoothPairingLE }
        change(descriptor)
        let image = UIImage(named: "belt") ?? UIImage()
        let item = ASPickerDisplayItem(name: "Heart belt", productImage: image, descriptor: descriptor)
        item.setupOptions = options
        return item
    }

    func showPicker(_ items: [ASPickerDisplayItem] = [item()]) {
        session.showPicker(for: items, completionHandler: outcome("picker"))
    }

    /// The peripherals that retrievals of a manager return, by identifier and by connection.
    func retrieved(_ identifiers: [UUID]) -> [[UUID]] {
        guard let central else { return [] }
        return [
            central.retrievePeripherals(withIdentifiers: identifiers),
            central.retrieveConnectedPeripherals(withServices: [Self.service]),
        ].map { $0.map(\.identifier) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        note("central \(central.state == .poweredOn ? "on" : "\(central.state.rawValue)")")
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        note("discovered \(peripheral.name ?? "-")")
        seen.withLock { $0.append(peripheral) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { note("connected") }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("failed \((error as? CBError)?.code.rawValue ?? -1)")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("disconnected \((error as? CBError)?.code.rawValue ?? -1)")
    }
}

/// A phone, and belts that advertise the same service.
struct SetupWorld {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let belts: [SimulatedDevice]

    init(
        _ names: [String] = ["Belt 1", "Belt 2"],
        version: SystemVersion = .newest,
        screen: DeviceOptions.PairingScreen = .none,
        permission: AppPermission = .notDetermined
    ) {
        let world = SimulatedWorld(seed: 1)
        let options = DeviceOptions(permission: permission, version: version)
        phone = world.addDevice(named: "Phone", options: options)
        belts = names.map { name in
            let belt = world.addDevice(named: name, options: DeviceOptions(pairingScreen: screen, addressLifetime: nil))
            // The belt pairs with everyone.
            belt.person.behaves(.agrees(lookingAt: []))
            belt.launch("belt") { _ in PeripheralStandIn(name, service: BeltApp.service) }
            return belt
        }
        self.world = world
        world.run(for: .seconds(1))
    }

    func launch(_ name: String = "belts", central: Bool = false, _ declaration: AppDeclaration = BeltApp.declaration)
        -> BeltApp
    {
        let app = phone.launch(name, declaring: declaration) { BeltApp(in: $0, central: central) }
        world.run(for: .seconds(1))
        return app
    }

    /// The names of the devices that the phone is paired with.
    var paired: [String?] { phone.pairedPeers.map(\.name) }

    /// The person chooses the accessory that advertises this name, and agrees to everything else.
    func choose(_ name: String, renamingTo new: String? = nil) {
        phone.person.answersAboutAccessories { question in
            switch question.kind {
            case .pick:
                question.offers.first { $0.advertisedName == name }.map { .choose($0.identifier) }
            case .rename: new.map { .name($0) } ?? .refuse
            case .migrate, .update: .accept
            }
        }
    }

    /// Sets the first belt up for an app, and returns it.
    func setUp(_ app: BeltApp, _ items: [ASPickerDisplayItem] = [BeltApp.item()]) -> ASAccessory? {
        choose("Belt 1")
        app.showPicker(items)
        world.run(for: .seconds(5))
        _ = app.take()
        return app.session.accessories.last
    }
}
