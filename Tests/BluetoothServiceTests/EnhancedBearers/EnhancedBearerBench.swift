import BluetoothTypes
import Foundation
import GAP
import GATT
import SMP
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// A prompter that accepts every pairing.
final class Agreeable: PairingPrompter {
    func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
        answer(.accept)
    }
    func closePrompt(_ peer: PromptedPeer) {}
}

/// A phone with one app and a sensor with two. Protected values make the devices pair.
final class EnhancedBearerBench {
    /// Eight fixed values, in the same service as the rest.
    static let shelf: BluetoothUUID = 0xFFF0
    static let books: [BluetoothUUID] = (1...8).map { BluetoothUUID(UInt16(0xFF00 + $0)) }
    /// Requires an encrypted link.
    static let secret: BluetoothUUID = 0xFF20
    /// The first app serves its reads and writes.
    static let desk: BluetoothUUID = 0xFF21
    /// The second app serves its reads and notifies it, from a service of its own.
    static let bell: BluetoothUUID = 0xFF22
    static let tower: BluetoothUUID = 0xFFF1
    static let bellID = LocalAttributeID(60)

    let air: RadioWorld
    let phone: BluetoothSystem
    let sensor: BluetoothSystem
    let app: TestManager
    let librarian: TestManager
    let ringer: TestManager
    var peer = UUID()
    var handles: [BluetoothUUID: AttributeHandle] = [:]
    private let person = Agreeable()

    /// - Parameters:
    ///   - phoneHas: Whether the phone uses enhanced bearers.
    ///   - sensorHas: Whether the sensor does.
    init(phoneHas: Bool = true, sensorHas: Bool = true, lossRate: Double = 0) throws {
        air = RadioWorld(lossRate: lossRate)
        let system = { [air, person] (name: String, has: Bool) in
            let system = air.system(name) {
                $0.usesEnhancedBearers = has
                $0.pairing.ioCapability = .noInputNoOutput
            }
            system.peers.deviceSecurity.prompter = person
            return system
        }
        (phone, sensor) = (system("Phone", phoneHas), system("Sensor", sensorHas))
        app = air.world.manager(.central, on: phone)
        librarian = air.world.manager(.peripheral, on: sensor)
        ringer = air.world.manager(.peripheral, on: sensor)
        try librarian.publish(Self.library, name: "Shelf")
        _ = try ringer.ask(.addService(Self.belfry), "serviceAdded", \.serviceAdded)
    }

    private static var library: LocalService {
        let fixed = books.enumerated().map { index, uuid in
            LocalCharacteristic(
                id: LocalAttributeID(UInt32(index) + 10),
                uuid: uuid,
                properties: 0x02,
                permissions: 1,
                value: [UInt8(index)]
            )
        }
        let others = [
            LocalCharacteristic(id: LocalAttributeID(40), uuid: secret, properties: 0x02, permissions: 4),
            LocalCharacteristic(id: LocalAttributeID(41), uuid: desk, properties: 0x0A, permissions: 3),
        ]
        return LocalService(
            id: LocalAttributeID(1),
            uuid: shelf,
            isPrimary: true,
            characteristics: fixed + others
        )
    }

    private static var belfry: LocalService {
        let bell = LocalCharacteristic(id: bellID, uuid: bell, properties: 0x12, permissions: 1)
        return LocalService(id: LocalAttributeID(2), uuid: tower, isPrimary: true, characteristics: [bell])
    }

    var world: ServiceWorld { air.world }

    /// The app discovers the sensor, connects, and discovers its characteristics.
    func open() throws {
        peer = try app.find(Self.shelf).identifier
        try connect()
    }

    func connect() throws {
        try app.connect(peer)
        let services = try app.ask(.discoverServices(peer: peer, uuids: nil), "services", \.services).get()
        for service in services {
            let request = Request.discoverCharacteristics(peer: peer, service: service.handle, uuids: nil)
            for found in try app.ask(request, "characteristics", \.characteristics).get() {
                handles[found.uuid] = found.handle
            }
        }
    }

    /// The app reads the protected value, which makes the devices pair unless they are bonded.
    func encrypt() throws {
        read(Self.secret)
        try answer(librarian, [9])
        #expect(try nextValue() == Answer(Self.secret, [9]))
        world.run(.seconds(1))
    }

    /// The bench once its app has connected and its devices have paired.
    func encrypted() throws -> Self {
        try open()
        try encrypt()
        return self
    }

    /// The number of bearers at each end, including the unenhanced one.
    var bearers: [Int] {
        [
            phone.links.all.first?.link.attributes?.client.bearers.count ?? 0,
            sensor.links.all.first?.served?.bearers.count ?? 0,
        ]
    }

    // MARK: Steps

    struct Answer: Equatable {
        let uuid: BluetoothUUID?
        let value: PacketBuffer?

        init(_ uuid: BluetoothUUID?, _ value: PacketBuffer?) {
            (self.uuid, self.value) = (uuid, value)
        }
    }

    func read(_ uuid: BluetoothUUID) {
        guard let handle = handles[uuid] else { return }
        app.send(.readCharacteristic(peer: peer, characteristic: handle))
    }

    func write(_ uuid: BluetoothUUID, _ value: PacketBuffer) {
        guard let handle = handles[uuid] else { return }
        app.send(.writeCharacteristic(peer: peer, characteristic: handle, value: value))
    }

    /// The next value that the app receives.
    func nextValue() throws -> Answer {
        try app.expect("value", answer)
    }

    /// The values that the app has received so far.
    func values() -> [Answer] { app.take().compactMap(answer) }

    private func answer(_ event: Event) -> Answer? {
        let (handle, value): (AttributeHandle, PacketBuffer?)
        switch event {
        case .central(.peer(_, .valueRead(let at, let result))): (handle, value) = (at, try? result.get())
        case .central(.peer(_, .valueNotified(let at, let notified))): (handle, value) = (at, notified)
        default: return nil
        }
        return Answer(handles.first { $0.value == handle }?.key, value)
    }

    /// An app of the sensor responds to its next read request.
    func answer(_ manager: TestManager, _ value: PacketBuffer) throws {
        let id = try manager.expect("readRequested", transaction)
        manager.send(.respond(transaction: id, status: .success, value: value))
    }

    /// The number of requests that an app of the sensor has received and not consumed.
    func questions(_ manager: TestManager) -> Int {
        manager.events.filter { transaction($0) != nil || $0.writeRequest != nil }.count
    }

    private func transaction(_ event: Event) -> UInt64? {
        if case .peripheral(.readRequested(let id, _, _, _)) = event { id } else { nil }
    }
}
