import ATT
import BluetoothTypes
import EventLoops
import GATT
import HCI
import HCIHost
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// The key material of encrypted advertising data, which only some clients may read (Core Vol 3 Part C 12.6), between
/// two complete devices. The peripheral serves it.
@Suite struct KeyMaterialTests {
    private struct World {
        let pair: SecurePair
        let service: GenericAccessService
        let random = RandomSource(seed: 6)
        let material: EncryptedDataKeyMaterial

        var server: SecureDevice { pair.peripheral }
        var reader: SecureDevice { pair.central }

        init(_ configuration: PairingConfiguration = PairingConfiguration()) throws {
            pair = try SecurePair(central: configuration, peripheral: configuration)
            material = EncryptedDataKeyMaterial(random: random)
            var definition = GenericAccessService.Configuration(deviceName: "Harald")
            definition.keyMaterial = material
            service = try GenericAccessService(definition, in: pair.peripheral.server.database)
            pair.peripheral.genericAccess = service
        }

        func wait<T, E: Error>(_ procedure: (@escaping (Result<T, E>) -> Void) -> Void) throws -> Result<T, E> {
            var result: Result<T, E>?
            procedure { result = $0 }
            pair.world.run { result != nil }
            return try #require(result)
        }

        /// Discovers the characteristic, as the reader.
        func find() throws -> DiscoveredCharacteristic {
            let client = try #require(reader.client)
            let services = try wait { client.discoverServices(GATTUUID.genericAccess, completion: $0) }.get()
            let service = try #require(services.first)
            let found = try wait { done in
                client.discoverCharacteristics(GATTUUID.encryptedDataKeyMaterial, of: service, completion: done)
            }
            return try #require(try found.get().first)
        }

        func read() throws -> Result<PacketBuffer, GATTError> {
            let (client, place) = (try #require(reader.client), try find())
            return try wait { client.read(place.value, completion: $0) }
        }

        func exchangeMTU() throws {
            let client = try #require(reader.client)
            #expect(try wait { client.exchangeMTU(completion: $0) }.get() == 247)
        }

        func write(_ value: PacketBuffer) throws -> Result<Void, GATTError> {
            let (client, place) = (try #require(reader.client), try find())
            return try wait { client.write(value, to: place.value, completion: $0) }
        }

        func authorize(_ isAuthorized: Bool = true) throws {
            try #require(server.link).security.isAuthorized = isAuthorized
        }
    }

    @Test("GAP/GAT/BV-09: an authenticated and authorized client reads the key material")
    func whoIsAuthenticatedAndAuthorizedReadsTheKeyMaterial() throws {
        let world = try World()
        try world.pair.bond(.authenticated)
        // The user is asked and agrees. The value takes two requests, but the user is asked once.
        var asked = 0
        var answer: ((Bool) -> Void)?
        world.service.authorize = { session, decide in
            #expect(session === world.server.session)
            asked += 1
            world.pair.world.loop.schedule(after: .seconds(3)) { decide(true) }
            answer = decide
        }
        #expect(try world.read().get() == world.material.octets)
        #expect(asked == 1)
        // That applied to one read only.
        #expect(try world.read().isSuccess && asked == 2)
        // A second answer changes nothing.
        answer?(false)
        // The user is not asked about an authorized link.
        try world.authorize()
        let octets = try world.read().get()
        #expect(try EncryptedDataKeyMaterial(octets: octets) == world.material && asked == 2)
        // No client may write it.
        #expect(try world.find().properties == [.read, .indicate])
        #expect(try world.write(PacketBuffer(world.random.bytes(24))).refusal == .writeNotPermitted)
        #expect(try world.read().get() == world.material.octets)
    }

    @Test("GAP/GAT/BV-10: an unauthenticated client does not read the key material")
    func whoIsNotAuthenticatedDoesNot() throws {
        var mute = PairingConfiguration()
        mute.ioCapability = .noInputNoOutput
        let world = try World(mute)
        world.service.authorize = { _, _ in Issue.record("the user is asked too early") }
        try world.pair.connect()
        try world.authorize()
        #expect(try world.read().refusal == .insufficientAuthentication)
        #expect(ATTErrorCode.insufficientAuthentication.rawValue == 0x05)
        // An unauthenticated key does not suffice.
        #expect(try #require(try world.pair.secure(.central)).isSuccess)
        #expect(try #require(world.server.link).security.linkSecurity.isEncrypted)
        #expect(try world.read().refusal == .insufficientAuthentication)
        // Subscribing does not bypass the check either.
        let (client, place) = (try #require(world.reader.client), try world.find())
        let subscription = try world.wait { client.setNotifying(true, place, completion: $0) }
        #expect(subscription.refusal == .insufficientAuthentication)
    }

    @Test("GAP/GAT/BV-11: an unauthorized client does not read the key material")
    func whoIsNotAuthorizedDoesNot() throws {
        let world = try World()
        try world.pair.bond(.authenticated)
        #expect(try world.read().refusal == .insufficientAuthorization)
        #expect(ATTErrorCode.insufficientAuthorization.rawValue == 0x08)
        // The user is asked and declines.
        world.service.authorize = { _, decide in decide(false) }
        #expect(try world.read().refusal == .insufficientAuthorization)
        // A revoked authorization no longer counts.
        try world.authorize()
        #expect(try world.read().isSuccess)
        try world.authorize(false)
        #expect(try world.read().refusal == .insufficientAuthorization)
    }

    @Test("GAP/GAT/BV-15: changes of the key material are indicated to a bonded peer")
    func changesAreIndicatedToABondedPeer() throws {
        let world = try World()
        try world.pair.bond(.authenticated)
        try world.authorize()
        try world.exchangeMTU()
        let (client, place) = (try #require(world.reader.client), try world.find())
        #expect(try world.wait { client.setNotifying(true, place, completion: $0) }.isSuccess)
        #expect(world.server.session?.configurations[place.value] == .indicate)
        var told: [PacketBuffer] = []
        func listen() {
            world.reader.client?.onValue = { handle, value, _ in if handle == place.value { told.append(value) } }
        }
        func change() throws -> EncryptedDataKeyMaterial {
            let new = EncryptedDataKeyMaterial(random: world.random)
            world.service.change(new, on: world.server.server)
            // Without a confirmation the bearer would be closed after 30 seconds.
            world.pair.world.run(.seconds(31))
            #expect(try #require(world.server.session).bearer.closure == nil)
            return new
        }
        listen()
        var expected = [try change().octets]
        #expect(told == expected)
        #expect(try world.read().get() == expected.last)
        // An unchanged value is not sent.
        world.service.change(try #require(world.service.keyMaterial), on: world.server.server)
        world.pair.world.run(.seconds(1))
        #expect(told == expected)
        // The next link belongs to the peer once it is encrypted, and the peer's subscription applies again.
        let record = try #require(world.server.session).record
        world.pair.disconnect()
        try world.pair.connect()
        try #require(world.server.session).restore(record)
        try world.exchangeMTU()
        listen()
        _ = try change()
        #expect(told == expected, "the new link is not authorized yet")
        try world.authorize()
        expected.append(try change().octets)
        #expect(told == expected)
    }

    /// The remaining part would belong to other key material, which the user has not allowed.
    @Test func aChangeEndsWhatThePersonHasAllowed() throws {
        let world = try World()
        try world.pair.bond(.authenticated)
        world.service.authorize = { _, decide in decide(true) }
        #expect(try world.read().isSuccess)
        world.service.authorize = { _, decide in decide(false) }
        let (client, place) = (try #require(world.reader.client), try world.find())
        #expect(try world.wait { client.read(place.value, from: 8, completion: $0) }.isSuccess)
        world.service.change(EncryptedDataKeyMaterial(random: world.random), on: world.server.server)
        let refused = try world.wait { client.read(place.value, from: 8, completion: $0) }
        #expect(refused.refusal == .insufficientAuthorization)
    }

    @Test func changesWaitForRoomInTheQueue() throws {
        let world = try World()
        try world.pair.bond(.authenticated)
        try world.authorize()
        try world.exchangeMTU()
        let (client, place) = (try #require(world.reader.client), try world.find())
        #expect(try world.wait { client.setNotifying(true, place, completion: $0) }.isSuccess)
        var told: [PacketBuffer] = []
        client.onValue = { _, value, _ in told.append(value) }
        for _ in 0..<100 {
            world.service.change(EncryptedDataKeyMaterial(random: world.random), on: world.server.server)
        }
        world.pair.world.run(.seconds(60))
        #expect(told.count < 100 && told.last == world.service.keyMaterial?.octets)
    }

    @Test func withoutKeyMaterialThereIsNoCharacteristic() throws {
        let pair = try SecurePair()
        let server = pair.peripheral.server
        let service = try GenericAccessService(.init(deviceName: "Harald"), in: server.database)
        pair.peripheral.genericAccess = service
        service.change(EncryptedDataKeyMaterial(random: RandomSource(seed: 1)), on: server)
        #expect(service.keyMaterial == nil)
        try pair.bond(.authenticated)
        let client = try #require(pair.central.client)
        var result: Result<[RemoteValue], GATTError>?
        client.readValues(of: GATTUUID.encryptedDataKeyMaterial) { result = $0 }
        pair.world.run { result != nil }
        #expect((try? result?.get())?.isEmpty ?? true)
    }
}
