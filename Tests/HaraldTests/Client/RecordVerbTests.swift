import Accessories
import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import TestBasics
import Testing

@testable import harald

/// `harald record` with devices that answer anything.
@Suite struct RecordVerbTests {
    @Test(
        "AB-F06: whatever a device has, the recording ends, and harald serve reads it",
        arguments: 1...12 as ClosedRange
    )
    func hostileDevices(seed: UInt64) throws {
        let world = VerbWorld(seed: seed)
        let device = world.world.addDevice(named: "Sensor", at: Position(x: 1))
        let sensor = device.launch("Sensor") { HostileSensor($0, RandomSource(seed: seed)) }
        world.world.run(for: .seconds(2))
        let recorded = Notes<Accessory>()
        let selector = try #require(DeviceSelector(argument: "pulse"))
        let run = try world.run(for: .seconds(600)) { client async throws(ToolError) in
            let device = try await client.find(selector, seconds: 30)
            try await client.connect(device, limit: .seconds(10))
            let (accessory, loss) = try await client.record(device, for: .seconds(5))
            recorded.add(try accessory.fitted().accessory)
            if let loss { throw loss }
        }
        withExtendedLifetime(sensor) {}
        if case .failure(let error) = run.result { #expect(error.exitStatus == 6, "\(error)") }
        for accessory in recorded.all {
            #expect(try Accessory(json: accessory.json) == accessory)
            #expect(accessory.json.utf8.count <= AccessoryLimits.fileSize)
        }
        #expect(recorded.all.count == 1 || sensor.leaves)
    }

    @Test("AB-F06: a recording that is too long for a file loses its later notifications, and then long values")
    func tooLong() throws {
        var accessory = Accessory(name: "Pulse")
        var characteristic = Accessory.Characteristic(uuid: 0x2A37, properties: [.read, .notify])
        characteristic.value = Accessory.Value([UInt8](repeating: 7, count: 20))
        let change = Accessory.Change(after: .seconds(1), value: Accessory.Value([UInt8](repeating: 1, count: 512)))
        characteristic.changes = Array(repeating: change, count: AccessoryLimits.changes)
        characteristic.repeatsChanges = true
        let service = Accessory.Service(uuid: 0x180D, isPrimary: true)
        accessory.services = [service]
        accessory.services[0].characteristics = [characteristic]
        let (fitted, isCut) = try accessory.fitted()
        #expect(isCut)
        let kept = fitted.services[0].characteristics[0]
        #expect(kept.changes.count > 400 && kept.changes.count < AccessoryLimits.changes / 4)
        #expect(kept.value == characteristic.value)
        characteristic.changes = []
        characteristic.repeatsChanges = false
        characteristic.value = change.value
        accessory.services = Array(repeating: service, count: AccessoryLimits.services)
        let many = Array(repeating: characteristic, count: AccessoryLimits.characteristics)
        for index in accessory.services.indices { accessory.services[index].characteristics = many }
        let values = try accessory.fitted().accessory.services.flatMap(\.characteristics).map(\.value)
        #expect(values.allSatisfy { $0.octets().isEmpty })
        accessory.services = []
        #expect(try !accessory.fitted().isCut)
        accessory.name = ""
        #expect(throws: ToolError.self) { try accessory.fitted() }
    }

    @Test("AB-F06: notifications without end take a bounded amount of memory")
    func budget() {
        let budget = RecordingBudget()
        var octets = 0
        while budget.take(512), octets < 1 << 30 { octets += 512 }
        #expect(octets <= AccessoryLimits.fileSize)
        #expect(!budget.take(0))
    }
}

/// A device with a random table: doubled and reserved UUIDs, values that are no text, errors, and notifications without
/// end. It may leave at any time.
private final class HostileSensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: all of it is used on the queue after the initializer.
    private var random: RandomSource
    private let queue = DispatchQueue(label: "hostile")
    private var manager: CBPeripheralManager!
    private var notifying: [CBMutableCharacteristic] = []
    private let device: SimulatedDevice
    let leaves: Bool

    init(_ app: SimulatedApp, _ random: RandomSource) {
        self.random = random
        device = app.device
        leaves = random.next() % 3 == 0
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
        app.everyInterval(.milliseconds(20), on: queue) { [weak self] in self?.notify() }
        guard leaves else { return }
        app.everyInterval(.seconds(4), on: queue) { [device] in device.move(to: Position(x: 1_000_000)) }
    }

    private func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    private func octets(_ most: Int) -> Data { Data((0..<below(most + 1)).map { _ in UInt8(below(256)) }) }

    private func uuid() -> CBUUID {
        let known = ["180D", "1800", "1801", "2A37", "2A00", "FFE4", "2A05", "00001800-0000-1000-8000-00805F9B34FB"]
        return below(3) == 0 ? CBUUID(nsuuid: UUID()) : CBUUID(string: known[below(known.count)])
    }

    private func characteristic() -> CBMutableCharacteristic {
        let all: [CBCharacteristicProperties] = [.read, .write, .writeWithoutResponse, .notify, .indicate]
        let properties = all.reduce(into: CBCharacteristicProperties()) { if below(2) == 0 { $0.insert($1) } }
        let isFixed = properties == .read && below(2) == 0
        let permissions: [CBAttributePermissions] = [.readable, .readEncryptionRequired, [.readable, .writeable]]
        let result = CBMutableCharacteristic(
            type: uuid(),
            properties: properties.isEmpty ? .read : properties,
            value: isFixed ? octets(512) : nil,
            permissions: isFixed ? .readable : permissions[below(permissions.count)]
        )
        let texts = ["", "\u{1B}[31mred", "\u{202E}", String(repeating: "é", count: 300), "\"},{\"", "\0"]
        if below(2) == 0 {
            let description = CBUUID(string: CBUUIDCharacteristicUserDescriptionString)
            result.descriptors = [CBMutableDescriptor(type: description, value: texts[below(texts.count)])]
        }
        if !properties.isDisjoint(with: [.notify, .indicate]) { notifying.append(result) }
        return result
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        for _ in 0..<below(90) {
            let service = CBMutableService(type: uuid(), primary: below(4) != 0)
            service.characteristics = (0..<below(below(20) == 0 ? 80 : 4)).map { _ in characteristic() }
            peripheral.add(service)
        }
        let names = [
            "Pulse", "Pulse\u{1B}[2J", "Pulse\"\n{", "Pulse\u{202E}\u{0}", "Pulse" + String(repeating: "x", count: 240),
        ]
        peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: names[below(names.count)]])
    }

    private func notify() {
        for characteristic in notifying.prefix(8) {
            _ = manager.updateValue(octets(512), for: characteristic, onSubscribedCentrals: nil)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let errors: [CBATTError.Code] = [
            .readNotPermitted, .unlikelyError, .insufficientAuthentication, .attributeNotFound,
        ]
        request.value = octets(512)
        peripheral.respond(to: request, withResult: below(3) == 0 ? errors[below(errors.count)] : .success)
    }
}
