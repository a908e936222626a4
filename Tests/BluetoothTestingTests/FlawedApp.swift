import AppStandIns
import BluetoothTesting
import CoreBluetooth
import Foundation
import TestBasics

/// A belt with a rate that notifies, a location to read and a control to write, for apps with flaws.
final class FlawedAppBelt: PeripheralStandIn, @unchecked Sendable {
    let rate = CBMutableCharacteristic(CBUUID(string: "2A37"), .notify)

    init(isProtected: Bool = false, name: String = "Belt", more: [CBUUID] = []) {
        let location = CBMutableCharacteristic(CBUUID(string: "2A38"), .read, isEncrypted: isProtected)
        let control = CBMutableCharacteristic(
            CBUUID(string: "2A39"),
            [.write, .writeWithoutResponse],
            isEncrypted: isProtected
        )
        super.init(name, service: CBUUID(string: "180D"), [rate, location, control], advertising: more)
    }

    func send(_ value: [UInt8]) { send(value, of: rate) }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data([1])
        peripheral.respond(to: request, withResult: .success)
    }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }
}

/// Follows the belt, and has one flaw, as apps often have.
final class FlawedApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    enum Flaw {
        case none
        case setsNoDelegate
        case releasesManager
        case releasesPeripheral
        case keepsCharacteristics
        case discoversNothing
        case ignoresErrors
        case writesWithoutRoom
        case scansForOther
        case discoversOther
    }

    private let flaw: Flaw
    private let notes: Notes<String>
    private var manager: CBCentralManager?
    private var belt: CBPeripheral?
    private var kept: CBCharacteristic?

    init(_ flaw: Flaw, _ notes: Notes<String>) {
        (self.flaw, self.notes) = (flaw, notes)
        super.init()
        let made = CBCentralManager(
            delegate: self,
            queue: DispatchQueue(label: "follower"),
            options: [CBCentralManagerOptionRestoreIdentifierKey: "follower"]
        )
        if flaw != .releasesManager { manager = made }
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let restored = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        notes.add("restored")
        guard flaw != .releasesPeripheral else { return }
        belt = restored
        if flaw != .setsNoDelegate { belt?.delegate = self }
        kept = belt?.services?.first?.characteristics?.first { $0.uuid == CBUUID(string: "2A37") }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn, flaw != .releasesPeripheral else { return }
        if flaw == .scansForOther { return central.scanForPeripherals(withServices: [CBUUID(string: "180E")]) }
        guard let belt else { return central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
        guard belt.state == .connected, let service = belt.services?.first else { return }
        for each in service.characteristics ?? [] { use(each, of: belt) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        notes.add("found \(peripheral.name ?? "a belt without a name")")
        belt = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        notes.add("connected")
        switch flaw {
        case .discoversNothing: break
        case .keepsCharacteristics where kept != nil: if let kept { peripheral.setNotifyValue(true, for: kept) }
        default: peripheral.discoverServices([CBUUID(string: "180D")])
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        let wanted = flaw == .discoversOther ? [CBUUID(string: "2A99")] : nil
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(wanted, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for each in service.characteristics ?? [] { use(each, of: peripheral) }
    }

    private func use(_ each: CBCharacteristic, of peripheral: CBPeripheral) {
        switch each.uuid {
        case CBUUID(string: "2A37"): peripheral.setNotifyValue(true, for: each)
        case CBUUID(string: "2A38") where flaw != .ignoresErrors: peripheral.readValue(for: each)
        case CBUUID(string: "2A39"):
            if flaw == .ignoresErrors { peripheral.writeValue(Data([1]), for: each, type: .withResponse) }
            guard flaw == .writesWithoutRoom else { break }
            for _ in 0..<200 { peripheral.writeValue(Data([1]), for: each, type: .withoutResponse) }
        default: break
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let value = characteristic.value else { return }
        notes.add(
            characteristic.uuid == CBUUID(string: "2A38") ? "location" : "\(value.count) octets, \(value.last ?? 0) bpm"
        )
    }
}

/// A belt and a phone with the app, of which one launch has the flaw.
struct FlawedSituation {
    let world: TestWorld
    let strap: SimulatedDevice
    let phone: SimulatedDevice
    let belt: FlawedAppBelt
    let notes = Notes<String>()

    /// - Parameter isRestored: Whether only the processes that the system restores have the flaw.
    init(
        in world: TestWorld,
        _ flaw: FlawedApp.Flaw = .none,
        isRestored: Bool = false,
        options: DeviceOptions = .phone,
        belt make: () -> FlawedAppBelt = { FlawedAppBelt() }
    ) {
        self.world = world
        strap = world.addDevice(named: "Belt", .accessory)
        phone = world.addDevice(named: "Phone", at: Position(x: 1), options)
        belt = strap.launch("belt") { _ in make() }
        let declaration = AppDeclaration(usageDescription: "Follows belts.", backgroundModes: .central)
        phone.install("follower", declaring: declaration) { [notes] _, _ in
            FlawedApp(!isRestored || notes.all.contains("ends") ? flaw : .none, notes)
        }
    }

    func open(for seconds: Int = 5) async {
        phone.open("follower")
        await world.run(for: .seconds(seconds))
    }

    func measure(_ rates: ClosedRange<UInt8>) async {
        for rate in rates {
            belt.send([0, rate])
            await world.run(for: .seconds(1))
        }
    }

    /// Ends the process, so that the system launches the app again.
    func removeFromMemory() {
        notes.add("ends")
        _ = phone.app("follower")?.removeFromMemory()
    }

    /// Expects what none of these apps achieves.
    func expect(_ note: String, within seconds: Int = 10) async {
        let notes = notes
        await world.until(within: .seconds(seconds)) { notes.all.last == note }
    }
}
