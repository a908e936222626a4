import CoreBluetooth
import Synchronization

/// Follows a heart rate sensor, or writes to a terminal, and has one of the flaws of `Examples/TestedApp/broken.py`.
final class BrokenApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: the other properties are only used on the manager's queue, where its callbacks arrive.
    enum Flaw: String, CaseIterable, Sendable {
        case forgottenDelegate, lostReference, noRediscovery, noTimeOut, ignoredError, writeWithoutRoom, wrongUUID
        case readBeforeDiscovery, blockedCallback, peripheralNotKept

        /// The service that the app looks for.
        fileprivate var service: CBUUID {
            switch self {
            case .writeWithoutRoom: CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
            case .wrongUUID: CBUUID(string: "180E")
            default: CBUUID(string: "180D")
            }
        }
    }

    /// The line of the call that is wrong, or that is not followed by what has to follow.
    static let lines = Mutex<[Flaw: Int]>([:])

    private let flaw: Flaw
    private let blocks: DispatchSemaphore
    private var manager: CBCentralManager?
    private var device: CBPeripheral?
    private var kept: CBCharacteristic?

    /// - Parameter blocks: What a callback of the app waits for that does not return.
    init(_ flaw: Flaw, blocks: DispatchSemaphore) {
        (self.flaw, self.blocks) = (flaw, blocks)
        super.init()
        noteNextLine(in: .lostReference)
        let made = CBCentralManager(delegate: self, queue: DispatchQueue(label: "broken"))
        if flaw != .lostReference { manager = made }
    }

    private func noteNextLine(in flaws: Flaw..., line: Int = #line) {
        if flaws.contains(flaw) { Self.lines.withLock { $0[flaw] = line + 1 } }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        noteNextLine(in: .wrongUUID)
        central.scanForPeripherals(withServices: [flaw.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        if flaw != .peripheralNotKept { device = peripheral }
        if flaw != .forgottenDelegate { peripheral.delegate = self }
        noteNextLine(in: .noTimeOut, .readBeforeDiscovery, .peripheralNotKept)
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        if flaw == .readBeforeDiscovery {
            for each in peripheral.services?.flatMap({ $0.characteristics ?? [] }) ?? [] {
                peripheral.readValue(for: each)
            }
            return
        }
        if let kept, flaw == .noRediscovery {
            noteNextLine(in: .noRediscovery)
            peripheral.setNotifyValue(true, for: kept)
            return
        }
        noteNextLine(in: .forgottenDelegate, .ignoredError, .blockedCallback)
        peripheral.discoverServices([flaw.service])
        if flaw == .blockedCallback { blocks.wait() }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if flaw == .blockedCallback { blocks.signal() }
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for each in service.characteristics ?? [] {
            if flaw == .writeWithoutRoom, each.properties.contains(.writeWithoutResponse) {
                noteNextLine(in: .writeWithoutRoom)
                for _ in 0..<200 { peripheral.writeValue(Data([1]), for: each, type: .withoutResponse) }
            } else if each.uuid == CBUUID(string: "2A37") {
                kept = each
                peripheral.setNotifyValue(true, for: each)
            }
        }
    }
}
