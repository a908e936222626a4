import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks
import Testing

extension BluetoothUUID {
    static let long = BluetoothUUID(high: 0x1234_5678_9ABC_DEF0, low: 0x0FED_CBA9_8765_4321)
    static let longCharacteristic = BluetoothUUID(high: 0x1234_5678_9ABC_DEF0, low: 1)
}

/// The app behind the server: it supplies the values that the database does not hold.
final class RecordingApp: GATTServerDelegate {
    var values: [UInt16: [UInt8]] = [:]
    var refusals: [UInt16: ATTErrorCode] = [:]
    var isSlow = false
    var reads: [GATTReadRequest] = []
    var writes: [GATTWriteRequest] = []
    var configurations: [String] = []
    var records: [ClientRecord] = []
    var ready = 0

    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
        reads.append(request)
        if !isSlow { answer(request) }
    }

    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
        writes.append(request)
        if !isSlow { answer(request) }
    }

    func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    ) {
        configurations.append("\(handle): \(old.rawValue)-\(new.rawValue)")
    }

    func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession) {
        ready += 1
    }

    func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession) {
        records.append(session.record)
    }

    func answer(_ request: GATTReadRequest) {
        if let refusal = refusals[request.handle] { return request.respond(.failure(refusal)) }
        let value = values[request.handle] ?? []
        guard request.offset <= value.count else { return request.respond(.failure(.invalidOffset)) }
        request.respond(.success(PacketBuffer(copying: value[request.offset...])))
    }

    func answer(_ request: GATTWriteRequest) {
        var values = values
        for write in request.writes {
            if let refusal = refusals[write.handle] { return request.respond(refusal, at: write.handle) }
            let old = values[write.handle] ?? []
            guard write.offset <= old.count else { return request.respond(.invalidOffset, at: write.handle) }
            values[write.handle] = Array(old.prefix(write.offset)) + write.value
        }
        self.values = values
        request.respond()
    }
}

/// A server with its database.
///
/// 1-5 Generic Access, 6-11 Generic Attribute (Service Changed 8, its configuration 9, features 11), 12-14 secondary
/// service 1111, 15-18 a service with a long UUID, 19-34 Heart Rate with two includes and seven characteristics.
final class ServerFixture {
    static let measurement: UInt16 = 23
    static let measurementConfiguration: UInt16 = 24
    static let longFixed: UInt16 = 26
    static let dynamic: UInt16 = 28
    static let descriptor: UInt16 = 29
    static let protected: UInt16 = 31
    static let writeOnly: UInt16 = 33
    static let fixed: UInt16 = 14
    static let longUUIDValue: UInt16 = 17

    let loop = VirtualEventLoop()
    let database = GATTDatabase()
    let server: GATTServer
    let app = RecordingApp()

    /// - Parameter hasHash: Whether the server has a Database Hash, whose value is then 13, with all handles after it
    ///   two higher. Older servers have none. `serverFeatures` add one too, and shift the handles by two more.
    init(hasHash: Bool = false, serverFeatures: ServerFeatures = []) throws {
        _ = try database.add(.genericAccess(deviceName: "Harald", appearance: 0x0341))
        var genericAttribute = ServiceDefinition.genericAttribute(features: serverFeatures)
        if !hasHash, serverFeatures.isEmpty {
            genericAttribute.characteristics.removeAll { $0.uuid == GATTUUID.databaseHash }
        }
        _ = try database.add(genericAttribute)
        let secondary = try database.add(
            ServiceDefinition(
                0x1111,
                isPrimary: false,
                characteristics: [
                    CharacteristicDefinition(
                        0x2A19,
                        properties: .read,
                        permissions: .readable,
                        source: .fixed([0x64])
                    )
                ]
            )
        )
        let long = try database.add(
            .long,
            CharacteristicDefinition(
                .longCharacteristic,
                properties: [.read, .write],
                permissions: Self.open,
                descriptors: [.userDescription("something long enough to need blobs on a small MTU")]
            )
        )
        _ = try database.add(
            Self.heartRate(including: [secondary.handles.lowerBound, long.handles.lowerBound])
        )
        server = GATTServer(database: database)
        server.delegate = app
    }

    static let open = AttributePermissions(read: SecurityLevel.none, write: SecurityLevel.none)

    private static func heartRate(including services: [UInt16]) -> ServiceDefinition {
        ServiceDefinition(
            0x180D,
            includedServices: services,
            characteristics: [
                CharacteristicDefinition(
                    0x2A37,
                    properties: [.notify, .indicate],
                    permissions: AttributePermissions()
                ),
                CharacteristicDefinition(
                    0x2A38,
                    properties: .read,
                    permissions: .readable,
                    source: .fixed(PacketBuffer((0..<512).map { UInt8(truncatingIfNeeded: $0) }))
                ),
                CharacteristicDefinition(
                    0x2A39,
                    properties: [.read, .write, .writeWithoutResponse],
                    permissions: open,
                    descriptors: [DescriptorDefinition(0xAAAA, permissions: open, source: .asked)]
                ),
                CharacteristicDefinition(
                    0x2A3A,
                    properties: [.read, .write],
                    permissions: AttributePermissions(read: .encrypted, write: .authenticated)
                ),
                CharacteristicDefinition(
                    0x2A3B,
                    properties: .write,
                    permissions: AttributePermissions(write: SecurityLevel.none)
                ),
            ]
        )
    }

    /// A bearer of the server, and the bare link at its other end.
    func bareClient(
        preferredMTU: Int = 517,
        record: ClientRecord? = nil
    ) -> BareClient {
        BareClient(self, preferredMTU: preferredMTU, record: record)
    }

    /// A client with an agreed MTU.
    func client(mtu: Int, peerMTU: Int = 517) -> ConnectedClient {
        ConnectedClient(self, mtu: mtu, peerMTU: peerMTU)
    }
}

/// A client that sends raw octets to the server and returns its octets.
final class BareClient {
    let fixture: ServerFixture
    let link: LoopbackLink
    let peer: LoopbackLink
    let connection: L2CAPConnection
    let session: GATTServerSession

    init(_ fixture: ServerFixture, preferredMTU: Int, record: ClientRecord?) {
        self.fixture = fixture
        (link, peer) = LoopbackLink.pair(loop: fixture.loop)
        connection = L2CAPConnection(link: link, role: .peripheral, loop: fixture.loop)
        let channel = connection.register(.attribute, maximumPayload: 517)
        let bearer = ATTBearer(channel: channel, loop: fixture.loop, preferredMTU: preferredMTU)
        session = fixture.server.attach(bearer)
        if let record { session.restore(record) }
        bearer.onClose = { [fixture, weak session] _ in session.map(fixture.server.detach) }
    }

    @discardableResult
    func exchange(_ octets: [UInt8], on channel: UInt16 = 4) -> [UInt8] {
        peer.inject(octets, on: channel)
        return sent(on: channel).first ?? []
    }

    func sent(on channel: UInt16 = 4) -> [[UInt8]] {
        fixture.loop.run(for: .zero)
        return link.takeSent(on: channel)
    }

    /// Adds another bearer of the same client, on a channel in place of a credit-based one.
    @discardableResult
    func addBearer(on channel: UInt16, mtu: Int = 64) -> ATTBearer {
        let channel = connection.register(ChannelIdentifier(rawValue: channel), maximumPayload: mtu)
        let bearer = ATTBearer(channel: channel, loop: fixture.loop, preferredMTU: mtu, isEnhanced: true)
        #expect(session.add(bearer))
        bearer.onClose = { [weak session, weak bearer] _ in
            if let bearer { session?.remove(bearer) }
        }
        return bearer
    }

    func agree(_ mtu: UInt16) {
        exchange([0x02, UInt8(truncatingIfNeeded: mtu), UInt8(mtu >> 8)])
    }

    func error(_ request: UInt8, _ handle: UInt16, _ code: ATTErrorCode) -> [UInt8] {
        [0x01, request, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8), code.rawValue]
    }
}

/// This package's client against its server.
final class ConnectedClient {
    let fixture: ServerFixture
    let link: LoopbackLink
    let serverLink: LoopbackLink
    let session: GATTServerSession
    let client: GATTClient
    let connections: [L2CAPConnection]
    var values: [String] = []

    init(_ fixture: ServerFixture, mtu: Int, peerMTU: Int) {
        self.fixture = fixture
        (link, serverLink) = LoopbackLink.pair(loop: fixture.loop)
        link.fragmentLength = 27
        serverLink.fragmentLength = 27
        let central = L2CAPConnection(link: link, role: .central, loop: fixture.loop)
        let peripheral = L2CAPConnection(link: serverLink, role: .peripheral, loop: fixture.loop)
        connections = [central, peripheral]
        let bearer = ATTBearer(
            channel: central.register(.attribute, maximumPayload: mtu),
            loop: fixture.loop,
            preferredMTU: mtu
        )
        let serverBearer = ATTBearer(
            channel: peripheral.register(.attribute, maximumPayload: peerMTU),
            loop: fixture.loop,
            preferredMTU: peerMTU
        )
        session = fixture.server.attach(serverBearer)
        client = GATTClient(bearer: bearer)
        client.onValue = { [weak self] in self?.values.append("\($0) \($2) \($1)") }
        if mtu > 23 { client.exchangeMTU { _ in } }
        fixture.loop.run(for: .zero)
    }

    /// Adds another bearer between the two, on a channel in place of a credit-based one.
    func addBearer(on channel: UInt16, mtu: Int) {
        let identifier = ChannelIdentifier(rawValue: channel)
        let ends = connections.map {
            ATTBearer(
                channel: $0.register(identifier, maximumPayload: mtu),
                loop: fixture.loop,
                preferredMTU: mtu,
                isEnhanced: true
            )
        }
        client.add(ends[0])
        session.add(ends[1])
    }

    /// Runs a procedure to its end.
    func wait<T>(_ procedure: (@escaping (Result<T, GATTError>) -> Void) -> Void) throws -> T {
        var result: Result<T, GATTError>?
        procedure {
            #expect(result == nil)
            result = $0
        }
        fixture.loop.run(for: .seconds(1))
        return try #require(result).get()
    }

    func disconnect() {
        for connection in connections { connection.close() }
    }
}

extension ServerFixture {
    /// Adds a service with one characteristic, and returns the handle of its value.
    func publish(_ characteristic: CharacteristicDefinition) throws -> UInt16 {
        try database.add(0x1812, characteristic).characteristics[0].value
    }
}

extension GATTDatabase {
    func add(_ service: BluetoothUUID, _ characteristic: CharacteristicDefinition) throws -> PublishedService {
        try add(ServiceDefinition(service, characteristics: [characteristic]))
    }
}

extension CharacteristicDefinition {
    /// A keyboard's report, which can only be notified or indicated.
    static func report(
        _ properties: CharacteristicProperties,
        notifiedAt level: SecurityLevel
    ) -> CharacteristicDefinition {
        CharacteristicDefinition(
            0x2A4D,
            properties: properties,
            permissions: AttributePermissions(),
            notification: level
        )
    }
}

extension ServiceDefinition {
    /// A keyboard's report, of which only encrypted clients are notified.
    static let keyboard = ServiceDefinition(0x1812, characteristics: [.report(.notify, notifiedAt: .encrypted)])
}
