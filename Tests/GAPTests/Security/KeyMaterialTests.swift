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
    /// A peripheral that serves the key material, and a central that reads it.
    private struct ServingPair {
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
            try #require(server.link).secureLink.isAuthorized = isAuthorized
        }
    }

    @Test("GAP/GAT/BV-09: an authenticated and authorized client reads the key material")
    func whoIsAuthenticatedAndAuthorizedReadsTheKeyMaterial() throws {
        let devices = try ServingPair()
        try devices.pair.bond(.authenticated)
        // The user is asked and agrees. The value takes two requests, but the user is asked once.
        var asked = 0
        var answer: ((Bool) -> Void)?
        devices.service.authorize = { session, decide in
            #expect(session === devices.server.session)
            asked += 1
            devices.pair.world.loop.schedule(after: .seconds(3)) { decide(true) }
            answer = decide
        }
        #expect(try devices.read().get() == devices.material.octets)
        #expect(asked == 1)
        // That applied to one read only.
        #expect(try devices.read().isSuccess && asked == 2)
        // A second answer changes nothing.
        answer?(false)
        // The user is not asked about an authorized link.
        try devices.authorize()
        let octets = try devices.read().get()
        #expect(try EncryptedDataKeyMaterial(octets: octets) == devices.material && asked == 2)
        // No client may write it.
        #expect(try devices.find().properties == [.read, .indicate])
        #expect(try devices.write(PacketBuffer(devices.random.bytes(24))).refusal == .writeNotPermitted)
        #expect(try devices.read().get() == devices.material.octets)
    }

    @Test("GAP/GAT/BV-10: an unauthenticated client does not read the key material")
    func whoIsNotAuthenticatedDoesNot() throws {
        var mute = PairingConfiguration()
        mute.ioCapability = .noInputNoOutput
        let devices = try ServingPair(mute)
        devices.service.authorize = { _, _ in Issue.record("the user is asked too early") }
        try devices.pair.connect()
        try devices.authorize()
        #expect(try devices.read().refusal == .insufficientAuthentication)
        #expect(ATTErrorCode.insufficientAuthentication.rawValue == 0x05)
        // An unauthenticated key does not suffice.
        #expect(try #require(try devices.pair.secure(.central)).isSuccess)
        #expect(try #require(devices.server.link).secureLink.linkSecurity.isEncrypted)
        #expect(try devices.read().refusal == .insufficientAuthentication)
        // Subscribing does not bypass the check either.
        let (client, place) = (try #require(devices.reader.client), try devices.find())
        let subscription = try devices.wait { client.setNotifying(true, place, completion: $0) }
        #expect(subscription.refusal == .insufficientAuthentication)
    }

    @Test("GAP/GAT/BV-11: an unauthorized client does not read the key material")
    func whoIsNotAuthorizedDoesNot() throws {
        let devices = try ServingPair()
        try devices.pair.bond(.authenticated)
        #expect(try devices.read().refusal == .insufficientAuthorization)
        #expect(ATTErrorCode.insufficientAuthorization.rawValue == 0x08)
        // The user is asked and declines.
        devices.service.authorize = { _, decide in decide(false) }
        #expect(try devices.read().refusal == .insufficientAuthorization)
        // A revoked authorization no longer counts.
        try devices.authorize()
        #expect(try devices.read().isSuccess)
        try devices.authorize(false)
        #expect(try devices.read().refusal == .insufficientAuthorization)
    }

    @Test("GAP/GAT/BV-15: changes of the key material are indicated to a bonded peer")
    func changesAreIndicatedToABondedPeer() throws {
        let devices = try ServingPair()
        try devices.pair.bond(.authenticated)
        try devices.authorize()
        try devices.exchangeMTU()
        let (client, place) = (try #require(devices.reader.client), try devices.find())
        #expect(try devices.wait { client.setNotifying(true, place, completion: $0) }.isSuccess)
        #expect(devices.server.session?.configurations[place.value] == .indicate)
        var told: [PacketBuffer] = []
        func listen() {
            devices.reader.client?.onValue = { handle, value, _ in if handle == place.value { told.append(value) } }
        }
        func change() throws -> EncryptedDataKeyMaterial {
            let new = EncryptedDataKeyMaterial(random: devices.random)
            devices.service.change(new, on: devices.server.server)
            // Without a confirmation the bearer would be closed after 30 seconds.
            devices.pair.world.run(.seconds(31))
            #expect(try #require(devices.server.session).bearer.closure == nil)
            return new
        }
        listen()
        var expected = [try change().octets]
        #expect(told == expected)
        #expect(try devices.read().get() == expected.last)
        // An unchanged value is not sent.
        devices.service.change(try #require(devices.service.keyMaterial), on: devices.server.server)
        devices.pair.world.run(.seconds(1))
        #expect(told == expected)
        // The next link belongs to the peer once it is encrypted, and the peer's subscription applies again.
        let record = try #require(devices.server.session).record
        devices.pair.disconnect()
        try devices.pair.connect()
        try #require(devices.server.session).restore(record)
        try devices.exchangeMTU()
        listen()
        _ = try change()
        #expect(told == expected, "the new link is not authorized yet")
        try devices.authorize()
        expected.append(try change().octets)
        #expect(told == expected)
    }

    /// The remaining part would belong to other key material, which the user has not allowed.
    @Test func aChangeEndsWhatThePersonHasAllowed() throws {
        let devices = try ServingPair()
        try devices.pair.bond(.authenticated)
        devices.service.authorize = { _, decide in decide(true) }
        #expect(try devices.read().isSuccess)
        devices.service.authorize = { _, decide in decide(false) }
        let (client, place) = (try #require(devices.reader.client), try devices.find())
        #expect(try devices.wait { client.read(place.value, from: 8, completion: $0) }.isSuccess)
        devices.service.change(EncryptedDataKeyMaterial(random: devices.random), on: devices.server.server)
        let refused = try devices.wait { client.read(place.value, from: 8, completion: $0) }
        #expect(refused.refusal == .insufficientAuthorization)
    }

    @Test func changesWaitForRoomInTheQueue() throws {
        let devices = try ServingPair()
        try devices.pair.bond(.authenticated)
        try devices.authorize()
        try devices.exchangeMTU()
        let (client, place) = (try #require(devices.reader.client), try devices.find())
        #expect(try devices.wait { client.setNotifying(true, place, completion: $0) }.isSuccess)
        var told: [PacketBuffer] = []
        client.onValue = { _, value, _ in told.append(value) }
        for _ in 0..<100 {
            devices.service.change(EncryptedDataKeyMaterial(random: devices.random), on: devices.server.server)
        }
        devices.pair.world.run(.seconds(60))
        #expect(told.count < 100)
        #expect(told.last == devices.service.keyMaterial?.octets)
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
