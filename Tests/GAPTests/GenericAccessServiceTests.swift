import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// A device that serves its Generic Access service.
private final class Served: GATTServerDelegate {
    let service: GenericAccessService
    let server: GATTServer

    init(_ configuration: GenericAccessService.Configuration) throws {
        let database = GATTDatabase()
        service = try GenericAccessService(configuration, in: database)
        server = GATTServer(database: database)
        server.delegate = self
    }

    func attach(_ link: AccessLink) {
        link.openAttributes(mtu: 247, server: server)
    }

    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
        if !service.answer(request) { request.respond(.failure(.unlikelyError)) }
    }

    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
        if !service.answer(request) { request.respond(.unlikelyError) }
    }
}

/// The Generic Access service and name discovery (Core Vol 3 Part C 9.2.7, 12), between two complete stacks.
@Suite struct GenericAccessServiceTests {
    /// A client on a link to a device with the service.
    private struct Session {
        let pair: LinkedPair
        let served: Served
        let client: GATTClient
        let bearer: ATTBearer

        init(
            _ mode: ControllerMode = .extended,
            _ configure: (inout GenericAccessService.Configuration) -> Void = { _ in }
        ) throws {
            var configuration = GenericAccessService.Configuration(deviceName: "Harald")
            configure(&configuration)
            let served = try Served(configuration)
            var attributes: LinkAttributes?
            pair = try LinkedPair(
                mode,
                prepare: { central, peripheral in
                    peripheral.onLink = { served.attach($0) }
                    central.onLink = { attributes = $0.openAttributes(mtu: 247) }
                }
            )
            self.served = served
            let opened = try #require(attributes)
            (bearer, client) = (opened.bearer, opened.client)
        }

        func values(of uuid: BluetoothUUID) throws -> [RemoteValue] {
            var result: Result<[RemoteValue], GATTError>?
            client.readValues(of: uuid) { result = $0 }
            pair.world.run { result != nil }
            return try #require(result).get()
        }

        func write(_ value: PacketBuffer, to uuid: BluetoothUUID) throws -> GATTError? {
            let handle = try #require(try values(of: uuid).first).handle
            var result: Result<Void, GATTError>?
            client.write(value, to: handle) { result = $0 }
            pair.world.run { result != nil }
            if case .failure(let error) = try #require(result) { return error }
            return nil
        }
    }

    @Test("GAP/IDLE/NAMP/BV-01: the device name of a peer is discovered", arguments: ControllerMode.allCases)
    func theNameIsDiscovered(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (device, finder) = (world.device(), world.device())
        let served = try Served(.init(deviceName: "A name of more than twenty-two octets"))
        device.onLink = { served.attach($0) }
        let role = Peripheral(device.access)
        role.enter(.init(.general, .undirected))
        let central = Central(finder.access)
        var name: Result<String, GAPError>?
        central.discoverName(of: device.address, within: .seconds(10)) { name = $0 }
        world.run { name != nil }
        #expect(try name?.get() == "A name of more than twenty-two octets")
        world.run(.seconds(1))
        #expect(finder.access.links.isEmpty)
        #expect(device.access.links.isEmpty)
    }

    /// Queued parts are executed in order, each on the value that its predecessors left (Core Vol 3 Part F 3.4.6.1,
    /// 3.4.6.3).
    @Test func preparedPartsOfTheNameAndTheAppearance() throws {
        let session = try Session { ($0.isNameWritable, $0.isAppearanceWritable) = (true, true) }
        let name = try #require(try session.values(of: 0x2A00).first).handle
        let appearance = try #require(try session.values(of: 0x2A01).first).handle
        func execute(_ parts: [(UInt16, UInt16, [UInt8])]) throws -> ATTErrorCode? {
            var code: ATTErrorCode?
            let requests =
                parts.map { ATTPDU.prepareWriteRequest(.init(handle: $0, offset: $1, value: PacketBuffer($2))) }
                + [.executeWriteRequest(ATTExecuteWriteRequest(.write))]
            var answers = 0
            for request in requests {
                session.bearer.request(request) { result, _ in
                    answers += 1
                    if case .failure(.response(let error)) = result { code = error.code }
                }
            }
            session.pair.world.run { answers == requests.count }
            return code
        }
        #expect(try execute([(name, 6, Array("!".utf8)), (name, 1, Array("orst".utf8))]) == nil)
        #expect(session.served.service.deviceName == "Horst")
        #expect(try execute([(name, 6, Array("!".utf8))]) == .invalidOffset)
        #expect(try execute([(appearance, 1, [3]), (appearance, 0, [0x41, 4])]) == nil)
        #expect(session.served.service.appearance == 0x0441)
        #expect(try execute([(appearance, 2, [3])]) == .invalidAttributeValueLength)
        #expect(session.served.service.deviceName == "Horst")
        #expect(session.served.service.appearance == 0x0441)
    }

    @Test("GAP/IDLE/NAMP/BV-02: the device name is served", arguments: ControllerMode.allCases)
    func theNameIsServed(mode: ControllerMode) throws {
        let session = try Session(mode)
        #expect(try session.values(of: 0x2A00).map(\.value) == [PacketBuffer(Array("Harald".utf8))])
    }

    @Test("GAP/GAT/BV-04: the preferred connection parameters are served")
    func preferredConnectionParameters() throws {
        let session = try Session {
            $0.preferredParameters = .init(
                .init(intervalMinimum: 24, intervalMaximum: 40, latency: 4, timeout: 600)
            )
        }
        #expect(try session.values(of: 0x2A04).map(\.value) == [[24, 0, 40, 0, 4, 0, 0x58, 0x02]])
    }

    @Test("GAP/GAT/BV-05: a client changes a writable device name")
    func aWritableName() throws {
        let session = try Session { $0.isNameWritable = true }
        var told: [String] = []
        session.served.service.onNameChange = { told.append($0) }
        #expect(try session.write(PacketBuffer(Array("Gorm".utf8)), to: 0x2A00) == nil)
        #expect(try session.values(of: 0x2A00).map(\.value) == [PacketBuffer(Array("Gorm".utf8))])
        #expect(told == ["Gorm"])
        #expect(session.served.service.deviceName == "Gorm")
        // A value that is not valid text or too long for a name is refused.
        #expect(try session.write([0xFF, 0xFE], to: 0x2A00) != nil)
        let long = PacketBuffer([UInt8](repeating: 0x41, count: 240))
        #expect(try session.write(long, to: 0x2A00) == nil)
        #expect(told.count == 2)
    }

    @Test("GAP/GAT/BV-06: a client changes a writable appearance")
    func aWritableAppearance() throws {
        let session = try Session { $0.isAppearanceWritable = true }
        #expect(try session.write([0x41, 0x03], to: 0x2A01) == nil)
        #expect(try session.values(of: 0x2A01).map(\.value) == [[0x41, 0x03]])
        #expect(session.served.service.appearance == 0x0341)
        #expect(try session.write([1], to: 0x2A01) != nil)
        #expect(try session.write([1, 2, 3], to: 0x2A01) != nil)
    }

    @Test("GAP/GAT/BV-12: the security levels are served and cannot be written")
    func securityLevels() throws {
        let session = try Session { $0.securityLevels = [.authenticated, .mode2(level: 2)] }
        let values = try session.values(of: 0x2BF5)
        #expect(values.map(\.value) == [[1, 3, 2, 2]])
        // Static, and readable by every client.
        #expect(try session.write([1, 1], to: 0x2BF5) != nil)
        #expect(try session.values(of: 0x2BF5) == values)
        // Levels that the specification does not define are left out; so is the characteristic if none remains.
        let empty = try Session { $0.securityLevels = [.mode1(level: 5), .mode2(level: 0)] }
        #expect(throws: GATTError.self) { try empty.values(of: 0x2BF5) }
    }

    @Test func whatIsNotWritableIsNotWritten() throws {
        let session = try Session()
        #expect(try session.write([0x41], to: 0x2A00) != nil)
        #expect(try session.write([0x41, 0x03], to: 0x2A01) != nil)
        #expect(session.served.service.deviceName == "Harald")
    }

    @Test("GAP/GAT/BV-16: a client reads a long device name")
    func aClientReadsTheName() throws {
        // Longer than a client's first response holds.
        let name = String(repeating: "n", count: 248)
        let session = try Session { $0.deviceName = name }
        let handle = try #require(try session.values(of: 0x2A00).first).handle
        var result: Result<PacketBuffer, GATTError>?
        session.client.read(handle) { result = $0 }
        session.pair.world.run { result != nil }
        #expect(try result?.get() == PacketBuffer(Array(name.utf8)))
        #expect(throws: GATTDatabaseError.self) {
            _ = try GenericAccessService(.init(deviceName: name + "n"), in: GATTDatabase())
        }
    }

    @Test("GAP/GAT/BV-17: a client reads the appearance")
    func aClientReadsTheAppearance() throws {
        let session = try Session { $0.appearance = 0x0341 }
        #expect(try session.values(of: 0x2A01).map(\.value) == [[0x41, 0x03]])
    }

    @Test(
        "GAP/GAT/BV-18: a client reads whether the central resolves addresses",
        arguments: [(true, 1), (false, 0)] as [(Bool, UInt8)]
    )
    func aClientReadsCentralAddressResolution(isSupported: Bool, value: UInt8) throws {
        let session = try Session { $0.resolvesAddresses = isSupported }
        #expect(try session.values(of: 0x2AA6).map(\.value) == [[value]])
    }

    @Test(arguments: [true, false, nil])
    func aPeripheralReadsWhetherItsCentralResolvesAddresses(resolves: Bool?) throws {
        let session = try Session { $0.resolvesAddresses = resolves }
        var result: Result<Bool, GAPError>?
        session.client.readCentralAddressResolution { result = $0 }
        session.pair.world.run { result != nil }
        #expect(try result?.get() == resolves ?? false)
    }

    @Test("GAP/GAT/BV-19: a client reads that only resolvable private addresses are used")
    func aClientReadsResolvablePrivateAddressOnly() throws {
        let session = try Session { $0.usesOnlyResolvableAddresses = true }
        #expect(try session.values(of: 0x2AC9).map(\.value) == [[0]])
    }

    @Test func whatDoesNotApplyIsLeftOut() throws {
        let session = try Session()
        for uuid: BluetoothUUID in [0x2A04, 0x2AA6, 0x2AC9] {
            #expect((try? session.values(of: uuid))?.isEmpty ?? true)
        }
    }
}
