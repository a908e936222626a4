import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

@Suite(.serialized) struct ClientServerTests {
    static let sizes = [23, 185, 517]

    private func connect(_ mtu: Int) throws -> ConnectedClient {
        let connected = try ServerFixture().client(mtu: mtu)
        #expect(connected.client.bearer.mtu == mtu)
        #expect(connected.session.bearer.mtu == mtu)
        return connected
    }

    private static let longService = DiscoveredService(handles: 15...18, uuid: .long)
    private static let heartRate = DiscoveredService(handles: 19...33, uuid: 0x180D)

    @Test("GATT/CL/GAD/BV-01, GATT/CL/GAD/BV-02: the client discovers primary services", arguments: sizes)
    func primaryServices(mtu: Int) throws {
        let peer = try connect(mtu)
        let services = try peer.wait { peer.client.discoverServices(completion: $0) }
        #expect(services.map(\.uuid) == [0x1800, 0x1801, .long, 0x180D])
        #expect(services.map(\.handles) == [1...5, 6...11, 15...18, 19...33])
        #expect(try peer.wait { peer.client.discoverServices(.long, completion: $0) } == [Self.longService])
        #expect(try peer.wait { peer.client.discoverServices(0x180D, completion: $0) } == [Self.heartRate])
        #expect(try peer.wait { peer.client.discoverServices(0x1234, completion: $0) }.isEmpty)
    }

    @Test("GATT/CL/GAD/BV-03: the client discovers included services", arguments: sizes)
    func includedServices(mtu: Int) throws {
        let peer = try connect(mtu)
        let included = try peer.wait { peer.client.discoverIncludedServices(of: Self.heartRate, completion: $0) }
        #expect(included == [DiscoveredService(handles: 12...14, uuid: 0x1111), Self.longService])
        #expect(try peer.wait { peer.client.discoverIncludedServices(of: Self.longService, completion: $0) }.isEmpty)
    }

    @Test(
        "GATT/CL/GAD/BV-04, GATT/CL/GAD/BV-05, GATT/CL/GAD/BV-06: the client discovers characteristics",
        arguments: sizes
    )
    func characteristics(mtu: Int) throws {
        let peer = try connect(mtu)
        let client = peer.client
        let found = try peer.wait { client.discoverCharacteristics(of: Self.heartRate, completion: $0) }
        #expect(found.map(\.uuid) == [0x2A37, 0x2A38, 0x2A39, 0x2A3A, 0x2A3B])
        #expect(found.map(\.value) == [23, 26, 28, 31, 33])
        #expect(found.map(\.end) == [24, 26, 29, 31, 33])
        #expect(found[2].properties == [.read, .write, .writeWithoutResponse])
        let long = try peer.wait { client.discoverCharacteristics(of: Self.longService, completion: $0) }
        #expect(long.map(\.uuid) == [.longCharacteristic])
        let one = try peer.wait { client.discoverCharacteristics(0x2A39, of: Self.heartRate, completion: $0) }
        #expect(one == [found[2]])
        #expect(
            try peer.wait { client.discoverDescriptors(of: found[2], completion: $0) }
                == [DiscoveredDescriptor(handle: 29, uuid: 0xAAAA)]
        )
        #expect(try peer.wait { client.discoverDescriptors(of: found[1], completion: $0) }.isEmpty)
    }

    @Test(
        "GATT/CL/GAR/BV-01, GATT/CL/GAR/BV-04, GATT/CL/GAR/BV-06, GATT/CL/GAR/BV-07: the client reads values of every length",
        arguments: sizes
    )
    func reading(mtu: Int) throws {
        let peer = try connect(mtu)
        let client = peer.client
        let long = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try peer.wait { client.read(14, completion: $0) } == [0x64])
        #expect(try peer.wait { client.read(26, completion: $0) }.bytes == long)
        // Around the length of a full response.
        for length in [0, mtu - 2, mtu - 1, mtu, 2 * mtu - 2, 2 * mtu - 1, 512] where length <= 512 {
            peer.fixture.app.values[28] = Array(long.prefix(length))
            #expect(try peer.wait { client.read(28, completion: $0) }.bytes == Array(long.prefix(length)))
        }
        let description = try peer.wait { client.read(18, completion: $0) }
        #expect(String(decoding: description, as: UTF8.self) == "something long enough to need blobs on a small MTU")
    }

    @Test("GATT/CL/GAR/BV-03: the client reads values by their type", arguments: sizes)
    func readingByType(mtu: Int) throws {
        let peer = try connect(mtu)
        let client = peer.client
        #expect(
            try peer.wait { client.readValues(of: 0x2A19, completion: $0) } == [RemoteValue(handle: 14, value: [0x64])]
        )
        let declarations = try peer.wait { client.readValues(of: 0x2803, completion: $0) }
        #expect(declarations.map(\.handle) == [2, 4, 7, 10, 13, 16, 22, 25, 27, 30, 32])
    }

    @Test("GATT/CL/GAR/BV-05, GATT/CL/GAR/BV-08: the client reads several values at once", arguments: sizes)
    func readingSeveral(mtu: Int) throws {
        let peer = try connect(mtu)
        peer.fixture.app.values[28] = [7, 8]
        #expect(try peer.wait { peer.client.readMultiple([14, 28], completion: $0) } == [0x64, 7, 8])
        let values = try peer.wait { peer.client.readMultipleVariable([28, 14, 26], completion: $0) }
        #expect(values.prefix(2) == [[7, 8], [0x64]])
        #expect(values[2].count == min(512, mtu - 1 - 4 - 3 - 2))
    }

    @Test func errorsComeWithCodeAndHandle() throws {
        let peer = try connect(23)
        func error<T>(_ code: ATTErrorCode, _ request: ATTOpcode, _ handle: UInt16, _ body: () throws -> T) {
            #expect(throws: GATTError.att(ATTErrorResponse(code, to: request, at: handle))) { try body() }
        }
        let client = peer.client
        error(.readNotPermitted, .readRequest, 33) { try peer.wait { client.read(33, completion: $0) } }
        error(.invalidHandle, .readRequest, 99) { try peer.wait { client.read(99, completion: $0) } }
        error(.insufficientAuthentication, .readRequest, 31) { try peer.wait { client.read(31, completion: $0) } }
        error(.attributeNotFound, .readByTypeRequest, 1) {
            try peer.wait { client.readValues(of: 0x9999, completion: $0) }
        }
        error(.readNotPermitted, .readMultipleRequest, 33) {
            try peer.wait { client.readMultiple([14, 33], completion: $0) }
        }
        error(.writeNotPermitted, .writeRequest, 14) { try peer.wait { client.write([1], to: 14, completion: $0) } }
        peer.fixture.app.refusals[28] = .insufficientAuthorization
        error(.insufficientAuthorization, .writeRequest, 28) {
            try peer.wait { client.write([1], to: 28, completion: $0) }
        }
    }

    @Test(
        "GATT/CL/GAW/BV-03, GATT/CL/GAW/BV-05, GATT/CL/GAW/BV-08, GATT/CL/GAW/BV-09: the client writes values of every length",
        arguments: sizes
    )
    func writing(mtu: Int) throws {
        let peer = try connect(mtu)
        let long = (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for length in [0, 1, mtu - 3, mtu - 2, 512] where length <= 512 {
            let value = Array(long.prefix(length))
            for handle: UInt16 in [28, 29] {
                try peer.wait { peer.client.write(PacketBuffer(copying: value), to: handle, completion: $0) }
                #expect(peer.fixture.app.writes.last?.writes.flatMap { Array($0.value) } == value)
                #expect(peer.fixture.app.writes.last?.writes.allSatisfy { $0.handle == handle } == true)
            }
        }
        #expect(throws: GATTError.valueTooLong(513)) {
            try peer.wait {
                peer.client.write(PacketBuffer([UInt8](repeating: 0, count: 513)), to: 28, completion: $0)
            }
        }
    }

    @Test("GATT/CL/GAW/BV-06: the client writes several values reliably", arguments: sizes)
    func reliableWrites(mtu: Int) throws {
        let peer = try connect(mtu)
        let long = PacketBuffer([UInt8](repeating: 5, count: 60))
        try peer.wait { peer.client.writeReliably([(28, long), (29, [1])], completion: $0) }
        #expect(peer.fixture.app.writes.count == 1)
        #expect(peer.fixture.app.values[29] == [1])
        try peer.wait { peer.client.writeReliably([], completion: $0) }
    }

    @Test func aLongWriteThatIsRefusedLeavesNothingPrepared() throws {
        let peer = try connect(23)
        let long = PacketBuffer([UInt8](repeating: 5, count: 60))
        #expect(throws: GATTError.self) {
            try peer.wait { peer.client.writeReliably([(28, long), (14, [1])], completion: $0) }
        }
        try peer.wait { peer.client.writeReliably([(29, [2])], completion: $0) }
        #expect(peer.fixture.app.writes.map(\.writes) == [[GATTWrite(handle: 29, value: [2])]])
    }

    @Test("GATT/CL/GAW/BV-01: the client writes without response, truncated to the MTU", arguments: sizes)
    func commands(mtu: Int) throws {
        let peer = try connect(mtu)
        let value = PacketBuffer(copying: [UInt8](repeating: 3, count: mtu))
        #expect(peer.client.write(value, withoutResponseTo: 28))
        peer.fixture.loop.run(for: .zero)
        #expect(peer.fixture.app.values[28]?.count == min(mtu - 3, 512))
    }

    @Test(
        "GATT/CL/GAN/BV-01, GATT/CL/GAI/BV-01, behaviour 5.16: the client subscribes and gets notifications or indications",
        arguments: sizes
    )
    func subscribing(mtu: Int) throws {
        let peer = try connect(mtu)
        let service = try #require(try peer.wait { peer.client.discoverServices(0x180D, completion: $0) }.first)
        let found = try peer.wait { peer.client.discoverCharacteristics(of: service, completion: $0) }
        try peer.wait { peer.client.setNotifying(true, found[0], completion: $0) }
        #expect(peer.session.configurations == [23: .notify])
        let value = [UInt8](repeating: 1, count: peer.session.bearer.maximumValueLength)
        #expect(peer.fixture.server.update(PacketBuffer(copying: value + [9]), of: 23))
        #expect(peer.fixture.server.update([2], of: 23))
        peer.fixture.loop.run(for: .zero)
        #expect(peer.values == ["23 notification \(hexadecimal(value))", "23 notification 02"])
        // The descriptor is known by now: one request.
        _ = peer.link.takeSent(on: 4)
        try peer.wait { peer.client.setNotifying(false, found[0], completion: $0) }
        #expect(peer.link.takeSent(on: 4) == [[0x12, 24, 0, 0, 0]])
        #expect(peer.session.configurations.isEmpty)
        #expect(throws: GATTError.noClientConfiguration) {
            try peer.wait { peer.client.setNotifying(true, found[1], completion: $0) }
        }
        var onlyIndicate = found[0]
        onlyIndicate.properties = .indicate
        try peer.wait { peer.client.setNotifying(true, onlyIndicate, completion: $0) }
        #expect(peer.fixture.server.update([3], of: 23))
        #expect(peer.fixture.server.update([4], of: 23))
        peer.fixture.loop.run(for: .zero)
        #expect(peer.values.suffix(2) == ["23 indication 03", "23 indication 04"])
    }

    @Test("behaviour 4.21: subscribing without a client configuration fails")
    func withoutAConfigurationDescriptor() throws {
        let peer = try connect(23)
        let wrong = DiscoveredCharacteristic(
            declaration: 27,
            value: 28,
            end: 29,
            properties: .notify,
            uuid: 0x2A39
        )
        #expect(throws: GATTError.noClientConfiguration) {
            try peer.wait { peer.client.setNotifying(true, wrong, completion: $0) }
        }
    }

    @Test("GATT/CL/GAS/BV-01, behaviour 4.13: the client is notified of the services that changed")
    func serviceChanged() throws {
        let peer = try connect(23)
        var changes: [ClosedRange<UInt16>] = []
        peer.client.onServiceChanged = { changes.append($0) }
        #expect(try peer.wait { peer.client.watchServices(completion: $0) })
        #expect(peer.client.serviceChanged == 8)
        try peer.fixture.database.remove(19)
        peer.fixture.loop.run(for: .seconds(1))
        _ = try peer.fixture.database.add(ServiceDefinition(0x180D))
        peer.fixture.loop.run(for: .seconds(1))
        #expect(changes == [19...33, 34...34])
        #expect(peer.values.isEmpty)
    }

    @Test func proceduresRunInOrder() throws {
        let peer = try connect(23)
        var order: [String] = []
        peer.client.read(26) { _ in order.append("long read") }
        peer.client.discoverServices { _ in
            order.append("services")
            peer.client.read(14) { _ in order.append("second read") }
        }
        peer.client.write([1], to: 28) { _ in order.append("write") }
        peer.fixture.loop.run(for: .seconds(1))
        #expect(order == ["long read", "services", "write", "second read"])
    }

    @Test func everyProcedureEndsWithTheLink() throws {
        let peer = try connect(23)
        var failures = 0
        for _ in 0..<100 {
            peer.client.read(26) { if case .failure(.bearer(.closed(.linkLost))) = $0 { failures += 1 } }
        }
        peer.disconnect()
        #expect(failures == 100)
        peer.client.discoverServices { if case .failure(.bearer(.closed)) = $0 { failures += 1 } }
        #expect(failures == 101)
    }

    @Test func theQueueOfProceduresHasABound() throws {
        let peer = try connect(23)
        var full = 0
        for _ in 0..<300 { peer.client.read(14) { if case .failure(.queueFull) = $0 { full += 1 } } }
        #expect(full == 300 - 1 - GATTClient.maximumWaitingProcedures)
        peer.fixture.loop.run(for: .seconds(1))
        #expect(full == 43)
    }

    @Test("GATT/CL/GAT/BV-01, behaviour 5.23: a server that does not answer ends every request and the bearer")
    func aServerThatDoesNotAnswer() throws {
        let peer = try connect(23)
        peer.fixture.app.isSlow = true
        var results: [GATTError] = []
        for handle: UInt16 in [28, 14] {
            peer.client.read(handle) { if case .failure(let error) = $0 { results.append(error) } }
        }
        peer.fixture.loop.run(for: .milliseconds(29_900))
        #expect(results.isEmpty)
        peer.fixture.loop.run(for: .milliseconds(200))
        #expect(results == Array(repeating: .bearer(.closed(.requestTimeout)), count: 2))
    }
}
