import AppStandIns
import BluetoothTesting
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

/// Apps that use peers whose attribute server breaks the rules (Core Vol 3 Parts F and G).
@Suite(.world) struct BrokenTableWorldTests {
    /// Changes attribute PDUs on links without encryption.
    private static func changePDUs(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        world.simulation.changePackets { frame in
            guard frame.channel < 37, frame.pdu.count > 6, frame.pdu[0] & 3 == 2, frame.pdu[4] == 4, frame.pdu[5] == 0,
                frame.pdu.count == Int(frame.pdu[2]) + 6, let new = change(Array(frame.pdu[6...]))
            else { return }
            (frame.pdu[1], frame.pdu[2]) = (UInt8(new.count + 4), UInt8(new.count))
            frame.pdu.replaceSubrange(6..., with: new)
        }
    }

    private static func service(_ uuid: String, _ characteristic: String) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
        service.characteristics = [CBMutableCharacteristic(CBUUID(string: characteristic), .read)]
        return service
    }

    /// Runs a phone whose app discovers everything and reads each characteristic, and returns what it noted.
    private static func explored(_ services: [CBMutableService], reading value: Data = Data([7])) async -> [String] {
        let notes = Notes<String>()
        _ = world.addDevice(named: "Box", .accessory).launch("box") { _ in ResultBox(services, value) }
        _ = world.addDevice(named: "Phone", at: Position(x: 1)).launch("app") { _ in TableReader(notes) }
        await world.run(for: .seconds(10))
        return notes.all
    }

    @Test("a Read Blob refused with Invalid Offset is the error of the read, Core Vol 3 Part F 3.4.4.5")
    func aPartIsNoValue() async {
        Self.changePDUs { $0[0] == 0x0D ? [0x01, 0x0C, 0x11, 0, 7] : nil }
        let notes = await Self.explored([Self.service("AA00", "AA01")], reading: Data(repeating: 0x55, count: 300))
        #expect(notes.last == "AA01: error 7 of CBATTErrorDomain")
    }

    @Test("AB-A08: an app uses a peer whose service includes itself")
    func aServiceThatIncludesItself() async {
        let inner = Self.service("BB00", "BB01")
        let outer = Self.service("AA00", "AA01")
        outer.includedServices = [inner]
        let own = Mutex<[UInt8]>([])
        Self.changePDUs { pdu in
            if pdu[0] == 0x11, pdu[1] == 6 {
                for index in stride(from: 2, to: pdu.count - 5, by: 6) where pdu[index + 5] == 0xAA {
                    own.withLock { $0 = Array(pdu[index..<index + 6]) }
                }
            }
            return pdu[0] == 0x09 && pdu[1] == 8 ? [0x09, 8, pdu[2], pdu[3]] + own.withLock { $0 } : nil
        }
        let notes = await Self.explored([inner, outer])
        #expect(notes == ["BB00: []", "AA00: []", "BB01: 07", "AA01: 07"])
    }

    /// The outer service ends where the inner one ends, as if it had been published around it.
    @Test("AB-A08: an app uses a peer whose services overlap")
    func aServiceInsideOfAnother() async {
        Self.changePDUs { pdu in
            guard pdu[0] == 0x11, pdu[1] == 6 else { return nil }
            var pdu = pdu
            for index in stride(from: 2, to: pdu.count - 5, by: 6) where pdu[index + 5] == 0xBB { pdu[index + 2] += 3 }
            return pdu
        }
        let notes = await Self.explored([Self.service("BB00", "BB01"), Self.service("AA00", "AA01")])
        #expect(notes == ["BB00: []", "AA00: []", "BB01: 07", "AA01: 07"])
    }
}

/// A peripheral that answers each read with the same value.
private final class ResultBox: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: used on the manager's queue only, after it is made.
    private let services: [CBMutableService]
    private let value: Data
    private var manager: CBPeripheralManager?

    init(_ services: [CBMutableService], _ value: Data) {
        (self.services, self.value) = (services, value)
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "box"))
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        for service in services { peripheral.add(service) }
        peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: "Box"])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }
}

/// A central that discovers all services of a peripheral, their includes and characteristics, and reads each value.
private final class TableReader: CentralStandIn, @unchecked Sendable {
    private let notes: Notes<String>

    init(_ notes: Notes<String>) {
        self.notes = notes
        super.init(seeking: nil)
    }

    private func note(_ subject: CBUUID, _ result: String, _ error: (any Error)?) {
        let failure = error.map { "error \(($0 as NSError).code) of \(($0 as NSError).domain)" }
        notes.add("\(subject.uuidString): \(failure ?? result)")
    }

    override func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { notes.add("services: \(error)") }
        for service in peripheral.services ?? [] { peripheral.discoverIncludedServices(nil, for: service) }
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    ) {
        note(service.uuid, "\((service.includedServices ?? []).map(\.uuid.uuidString))", error)
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if error != nil { note(service.uuid, "", error) }
        for characteristic in service.characteristics ?? [] { peripheral.readValue(for: characteristic) }
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let octets = (characteristic.value ?? Data()).prefix(4).map {
            String($0 / 16, radix: 16) + String($0 % 16, radix: 16)
        }
        note(characteristic.uuid, octets.joined(), error)
    }
}
