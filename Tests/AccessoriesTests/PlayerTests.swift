import Accessories
import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Foundation
import TestBasics
import Testing

/// A central app that explores an accessory, reads and follows everything, and writes on request.
private final class Visitor: CentralStandIn, @unchecked Sendable {
    let notes = Notes<String>()
    private let queue = DispatchQueue(label: "visitor")
    private let isConnecting: Bool

    init(connects: Bool) {
        isConnecting = connects
        super.init(seeking: nil, on: queue)
    }

    /// Writes a value to a characteristic.
    func write(_ octets: [UInt8], to uuid: String, _ type: CBCharacteristicWriteType = .withResponse) {
        queue.sync {
            guard let found, let characteristic = characteristic(uuid) else { return notes.add("no \(uuid)") }
            found.writeValue(Data(octets), for: characteristic, type: type)
        }
    }

    func read(_ uuid: String) {
        queue.sync {
            guard let found, let characteristic = characteristic(uuid) else { return notes.add("no \(uuid)") }
            found.readValue(for: characteristic)
        }
    }

    /// Ends the subscription to a characteristic.
    func leave(_ uuid: String) {
        queue.sync {
            guard let found, let characteristic = characteristic(uuid) else { return notes.add("no \(uuid)") }
            found.setNotifyValue(false, for: characteristic)
        }
    }

    private func characteristic(_ uuid: String) -> CBCharacteristic? {
        found?.services?.flatMap { $0.characteristics ?? [] }.first { $0.uuid == CBUUID(string: uuid) }
    }

    override func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard found == nil else { return }
        let data = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        let serviceData = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        let isConnectable = (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue
        notes.add(
            """
            found \(name ?? "-") \(services.map(\.uuidString)) \(hex(data)) \(serviceData.mapValues { hex($0) }.values.sorted()) \
            \(isConnectable == true ? "connectable" : "not connectable")
            """
        )
        guard isConnecting else { return found = peripheral }
        super.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
    }

    override func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        notes.add("disconnected")
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        let service = characteristic.service?.uuid.uuidString ?? "-"
        notes.add("\(service.prefix(8)) has \(characteristic.uuid.uuidString.prefix(8))")
        if !characteristic.properties.isDisjoint(with: [.notify, .indicate, .notifyEncryptionRequired]) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let value = error.map { "error \(($0 as NSError).code)" } ?? hex(characteristic.value)
        notes.add("\(characteristic.uuid.uuidString.prefix(8)) = \(value)")
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let outcome = error.map { "error \(($0 as NSError).code)" } ?? "ok"
        notes.add("wrote \(characteristic.uuid.uuidString.prefix(8)): \(outcome)")
    }

    private func hex(_ data: Data?) -> String { (data ?? Data()).map { String(format: "%02x", $0) }.joined() }
}

/// A world with an accessory and a phone whose app visits it.
private struct Meeting {
    let world = SimulatedWorld(seed: 7)
    let thing: SimulatedAccessory
    let phone: SimulatedDevice
    let visitor: Visitor

    init(_ accessory: Accessory, connects: Bool = true, for duration: Duration = .seconds(5)) {
        thing = world.addAccessory(accessory)
        phone = world.addDevice(named: "Phone")
        phone.person.behaves(.agrees(lookingAt: [thing.device]))
        visitor = phone.launch("visitor") { _ in Visitor(connects: connects) }
        world.run(for: duration)
    }

    init(_ readyMade: ReadyMadeAccessory, connects: Bool = true, for duration: Duration = .seconds(5)) {
        self.init(readyMade.accessory, connects: connects, for: duration)
    }

    /// Reads a value and returns what follows within a time.
    func read(_ uuid: String, for duration: Duration = .seconds(1)) -> [String] {
        _ = visitor.notes.take()
        visitor.read(uuid)
        world.run(for: duration)
        return visitor.notes.take()
    }

    /// Writes a value and returns what follows within a time.
    func write(_ octets: [UInt8], to uuid: String, for duration: Duration = .seconds(1)) -> [String] {
        _ = visitor.notes.take()
        visitor.write(octets, to: uuid)
        world.run(for: duration)
        return visitor.notes.take()
    }
}

@Suite struct PlayerTests {
    @Test func aHeartRateSensorIsExploredReadAndFollowed() {
        let meeting = Meeting(.heartRate)
        let notes = meeting.visitor.notes.all
        #expect(notes.first == "found Heart Rate [\"180D\"]  [] connectable")
        for each in ["180D has 2A37", "180D has 2A38", "180D has 2A39", "180F has 2A19"] {
            #expect(notes.contains(each))
        }
        #expect(notes.filter { $0.hasPrefix("2A37 = 0e") }.count >= 3)
        #expect(meeting.read("2A38").contains("2A38 = 01"))
        #expect(meeting.read("2A19").contains("2A19 = 57"))
    }

    @Test func aControlPointAnswersByContent() {
        let meeting = Meeting(.heartRate)
        let reset = meeting.write([1], to: "2A39")
        #expect(reset.contains("wrote 2A39: ok"))
        #expect(reset.contains("2A37 = 0e480000"))
        #expect(meeting.write([2], to: "2A39").contains("wrote 2A39: error 128"))
    }

    @Test func aGlucoseMeterAsksForSubscriptions() {
        let meeting = Meeting(ReadyMadeAccessory.glucose.accessory)
        let report = meeting.write([1, 1], to: "2A52")
        #expect(report.contains("wrote 2A52: ok"))
        #expect(report.count { $0.hasPrefix("2A18 = ") } == 3)
        meeting.visitor.leave("2A18")
        meeting.world.run(for: .seconds(1))
        #expect(meeting.write([1, 1], to: "2A52").contains("wrote 2A52: error 253"))
        #expect(meeting.write([4, 1], to: "2A52").contains("2A52 = 05000300"))
    }

    @Test func aThermometerIndicatesInItsRhythm() {
        let notes = Meeting(.thermometer, for: .seconds(9)).visitor.notes.all.filter { $0.hasPrefix("2A1C =") }
        #expect(notes.starts(with: ["2A1C = 046f0100ff06", "2A1C = 04710100ff06", "2A1C = 046e0100ff06"]))
    }

    @Test func aScaleSendsItsValueWhileSomebodyIsSubscribed() {
        let meeting = Meeting(.weightScale, for: .seconds(12))
        #expect(meeting.visitor.notes.all.filter { $0 == "2A9D = 00a438" }.count == 2)
    }

    @Test func aBatteryRunsDown() {
        let notes = Meeting(.battery, for: .seconds(250)).visitor.notes.all.filter { $0.hasPrefix("2A19 =") }
        #expect(notes == ["2A19 = 63", "2A19 = 62", "2A19 = 61", "2A19 = 64"])
    }

    @Test func aUARTEchoes() {
        let meeting = Meeting(.uart)
        let echoed = meeting.write(Array("hello".utf8), to: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
        #expect(echoed == ["wrote 6E400002: ok", "6E400003 = 68656c6c6f"])
    }

    @Test("a lock pairs, opens for the answer to its challenge, and closes by itself")
    func aLock() {
        let meeting = Meeting(.lock)
        let answer = "4C6F636B-0003-4861-7261-6C6420303031"
        #expect(meeting.read("4C6F636B-0002-4861-7261-6C6420303031", for: .seconds(3)).contains("4C6F636B = a1b2c3d4"))
        #expect(meeting.write([1, 2, 3, 4], to: answer, for: .seconds(2)) == ["wrote 4C6F636B: error 129"])
        let opened = meeting.write([0xD4, 0xC3, 0xB2, 0xA1], to: answer)
        #expect(opened.sorted() == ["4C6F636B = 01", "wrote 4C6F636B: ok"])
        #expect(meeting.thing.player.value(of: "state") == [1])
        meeting.world.run(for: .seconds(6))
        #expect(meeting.visitor.notes.take() == ["4C6F636B = 00"])
    }

    @Test("behaviour 2.29: beacons only advertise, and the data of an iBeacon are hidden from apps")
    func beacons() {
        var iBeacon = ReadyMadeAccessory.iBeacon.accessory
        #expect(Meeting(iBeacon, connects: false).visitor.notes.all == ["found - []  [] not connectable"])
        iBeacon.advertising.manufacturerData?.company = 0xFFFF
        let notes = Meeting(iBeacon, connects: false).visitor.notes.all
        #expect(notes == ["found - [] ffff0215e2c56db5dffb48d2b060d0f5a71096e000010002c5 [] not connectable"])
        let eddystone = Meeting(.eddystone, connects: false).visitor.notes.all
        #expect(eddystone == ["found - [\"FEAA\"]  [\"00ec8b0ca750095477cb3e77000000000001\"] not connectable"])
    }

    @Test("faults: a value without octets, each second read refused, delays, and a read without an answer")
    func faults() {
        let meeting = Meeting(.faulty)
        #expect(meeting.visitor.notes.take().filter { $0 == "2A37 = 0e" }.count > 20)
        #expect(meeting.read("2A38").contains("2A38 = "))
        #expect(!meeting.read("2A19").contains { $0.hasPrefix("2A19") })
        meeting.world.run(for: .seconds(2))
        #expect(meeting.visitor.notes.take().contains("2A19 = ff"))
        #expect(meeting.read("2A19", for: .seconds(3)).contains("2A19 = error 14"))
        let silent = "6661756C-0002-4861-7261-6C6420303031"
        #expect(!meeting.write([1], to: silent, for: .seconds(9)).contains { $0.hasPrefix("wrote") })
        meeting.world.run(for: .seconds(2))
        #expect(meeting.visitor.notes.take().contains("wrote 6661756C: error 17"))
        // A request without an answer ends the link after 30 s (Core Vol 3 Part F 3.3.3).
        #expect(!meeting.read(silent, for: .seconds(29)).contains { $0.hasPrefix("6661756C") || $0 == "disconnected" })
        meeting.world.run(for: .seconds(3))
        #expect(meeting.visitor.notes.take().contains("disconnected"))
    }

    @Test func valuesAreChangedFromOutside() {
        let meeting = Meeting(.battery)
        #expect(meeting.thing.player.setValue([7], of: "2A19"))
        #expect(!meeting.thing.player.setValue([7], of: "2A38"))
        #expect(meeting.thing.player.notify([8], of: "2A19"))
        meeting.world.run(for: .seconds(1))
        #expect(meeting.visitor.notes.take().suffix(2) == ["2A19 = 07", "2A19 = 08"])
        #expect(meeting.thing.player.value(of: "2A19") == [7])
    }

    @Test func anAccessoryThatIsRestartedBeginsAnew() {
        let meeting = Meeting(.battery)
        meeting.thing.player.setValue([7], of: "2A19")
        meeting.thing.restart()
        meeting.world.run(for: .seconds(5))
        #expect(meeting.thing.player.value(of: "2A19") == [100])
        #expect(meeting.thing.device.advertisedAddress != nil)
    }

    @Test("a long value is written in parts, and read in parts")
    func longValues() throws {
        let long = try Accessory(
            json: """
                {"format": 1, "name": "Long", "services": [{"uuid": "6C6F6E67-0001-4861-7261-6C6420303031", "characteristics": [
                  {"uuid": "6C6F6E67-0002-4861-7261-6C6420303031", "properties": ["read", "write"]}]}]}
                """
        )
        let meeting = Meeting(long)
        let value = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        let uuid = "6C6F6E67-0002-4861-7261-6C6420303031"
        #expect(meeting.write(value, to: uuid, for: .seconds(5)) == ["wrote 6C6F6E67: ok"])
        #expect(meeting.thing.player.value(of: uuid) == value)
        let digits = value.map { String(format: "%02x", $0) }.joined()
        #expect(meeting.read(uuid, for: .seconds(5)) == ["6C6F6E67 = \(digits)"])
    }

    @Test func anAccessoryThatDoesNotPairKeepsItsSecrets() throws {
        var accessory = ReadyMadeAccessory.lock.accessory
        accessory.security.allowsPairing = false
        let meeting = Meeting(accessory)
        let notes = meeting.read("4C6F636B-0002-4861-7261-6C6420303031", for: .seconds(5))
        #expect(!notes.contains("4C6F636B = a1b2c3d4"))
        #expect(notes.contains { $0.hasPrefix("4C6F636B = error") })
    }
}
