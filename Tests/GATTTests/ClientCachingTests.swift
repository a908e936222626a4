import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

@Suite struct ClientFeaturesTests {
    private static func server(_ features: ServerFeatures = .enhancedBearers) throws -> ConnectedClient {
        let fixture = try ServerFixture(serverFeatures: features)
        return fixture.client(mtu: 23)
    }

    private func announce(_ features: ClientFeatures, to peer: ConnectedClient) throws -> [[UInt8]] {
        _ = peer.link.takeSent(on: 4)
        _ = try peer.wait { peer.client.announce(features, completion: $0) }
        return peer.link.takeSent(on: 4).filter { $0[0] == 0x12 }
    }

    @Test("GATT/CL/GAS/BV-02: the client reads the database hash")
    func theClientReadsTheHash() throws {
        let peer = try ServerFixture(hasHash: true).client(mtu: 23)
        _ = peer.link.takeSent(on: 4)
        let hash = try peer.wait { peer.client.readDatabaseHash(completion: $0) }
        #expect(hash == peer.fixture.database.hash)
        #expect(peer.link.takeSent(on: 4) == [[0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]])
        let without = try ServerFixture().client(mtu: 23)
        #expect(try without.wait { without.client.readDatabaseHash(completion: $0) } == nil)
    }

    @Test(
        "GATT/CL/GAS/BV-03, GATT/CL/GAS/BV-04, GATT/CL/GAS/BV-05: the client announces its features once",
        arguments: [(ClientFeatures.robustCaching, UInt8(1)), (.enhancedBearers, 2), (.multipleNotifications, 4)]
    )
    func theClientAnnouncesItsFeatures(feature: ClientFeatures, bit: UInt8) throws {
        let peer = try Self.server()
        #expect(try announce(feature, to: peer) == [[0x12, 11, 0, bit]])
        #expect(peer.session.features == feature)
        // Once suffices, and announced features stay announced.
        #expect(try announce(feature, to: peer).isEmpty)
        #expect(try announce(.known, to: peer) == [[0x12, 11, 0, 7]])
    }

    @Test func bitsWithoutAMeaningAreNotSet() throws {
        #expect(try announce(ClientFeatures(rawValue: 0xFF), to: Self.server()) == [[0x12, 11, 0, 7]])
    }

    @Test func onlyWhatTheServerHas() throws {
        let old = try ServerFixture().client(mtu: 23)
        #expect(try announce(.known, to: old) == [[0x12, 11, 0, 4]])
        let unenhanced = try ServerFixture(hasHash: true).client(mtu: 23)
        #expect(try announce(.known, to: unenhanced) == [[0x12, 11, 0, 5]])
        let server = ScriptedServer { [0x01, $0[0], 1, 0, 0x0A] }
        var known: ClientFeatures?
        server.client.announce(.known) { known = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(known == [])
    }

    @Test("GATT/CL/GAN/BV-02: a client that announced support accepts several values in one notification")
    func severalValuesInOneNotification() throws {
        let peer = try Self.server()
        #expect(try announce(.multipleNotifications, to: peer) == [[0x12, 11, 0, 4]])
        peer.serverLink.inject([0x23, 25, 0, 1, 0, 7, 30, 0, 2, 0, 8, 9, 31, 0, 0, 0], on: 4)
        peer.fixture.loop.run(for: .zero)
        #expect(peer.values == ["25 notification 07", "30 notification 0809", "31 notification "])
    }
}

/// A client that caches its discoveries.
@Suite struct ClientCachingTests {
    let fixture: ServerFixture

    init() throws {
        fixture = try ServerFixture(hasHash: true)
    }

    /// Discovers the whole database.
    private func discover(_ peer: ConnectedClient) throws -> AttributeCache? {
        let client = peer.client
        for service in try peer.wait({ client.discoverServices(completion: $0) }) {
            _ = try peer.wait { client.discoverIncludedServices(of: service, completion: $0) }
            for found in try peer.wait({ client.discoverCharacteristics(of: service, completion: $0) }) {
                _ = try peer.wait { client.discoverDescriptors(of: found, completion: $0) }
            }
        }
        return client.cache
    }

    private func filledCache() throws -> AttributeCache {
        let peer = fixture.client(mtu: 23)
        peer.client.cache = AttributeCache()
        _ = try peer.wait { peer.client.readDatabaseHash(completion: $0) }
        let cache = try #require(try discover(peer))
        peer.disconnect()
        return cache
    }

    @Test func aCacheIsUsedOnceTheHashMatches() throws {
        let cache = try filledCache()
        #expect(cache.hash == fixture.database.hash)
        #expect(cache.services?.map(\.uuid) == [0x1800, 0x1801, .long, 0x180D])
        #expect(cache.characteristics[21]?.count == 5)
        let peer = fixture.client(mtu: 23)
        #expect(try peer.wait { peer.client.adopt(cache, completion: $0) })
        _ = peer.link.takeSent(on: 4)
        #expect(try discover(peer) == cache)
        #expect(try peer.wait { peer.client.discoverServices(0x180D, completion: $0) }.map(\.uuid) == [0x180D])
        let heartRate = try #require(cache.services?.last)
        #expect(
            try peer.wait { peer.client.discoverCharacteristics(0x2A38, of: heartRate, completion: $0) }.count == 1
        )
        #expect(peer.link.takeSent(on: 4).isEmpty)
    }

    @Test func aCacheOfAnotherDatabaseIsNotUsed() throws {
        let cache = try filledCache()
        _ = try fixture.database.add(ServiceDefinition(0x1805))
        let peer = fixture.client(mtu: 23)
        #expect(try !peer.wait { peer.client.adopt(cache, completion: $0) })
        #expect(try discover(peer)?.services?.last?.uuid == 0x1805)
        #expect(peer.client.cache?.hash == fixture.database.hash)
        let old = try ServerFixture().client(mtu: 23)
        #expect(try !old.wait { old.client.adopt(AttributeCache(), completion: $0) })
    }

    @Test("GATT/CL/GAS/BV-01: Service Changed makes the client discard exactly the range")
    func serviceChangedForgetsExactlyTheRange() throws {
        let peer = fixture.client(mtu: 23)
        peer.client.cache = AttributeCache()
        _ = try peer.wait { peer.client.readDatabaseHash(completion: $0) }
        let before = try #require(try discover(peer))
        var changes: [ClosedRange<UInt16>] = []
        peer.client.onServiceChanged = { changes.append($0) }
        _ = try peer.wait { peer.client.watchServices(completion: $0) }
        peer.serverLink.inject([0x1D, 8, 0, 17, 0, 20, 0], on: 4)
        peer.fixture.loop.run(for: .zero)
        #expect(changes == [17...20])
        let after = try #require(peer.client.cache)
        #expect(after.hash == nil)
        #expect(after.services == nil)
        #expect(after.characteristics[17] == nil)
        #expect(after.descriptors[19] == nil)
        // The service that includes it has to be queried for its includes again; everything else stays.
        #expect(after.includes[21] == nil)
        #expect(after.characteristics[21] == before.characteristics[21])
        #expect(after.characteristics[1] == before.characteristics[1])
        #expect(after.descriptors[25] == before.descriptors[25])
        #expect(try discover(peer)?.characteristics == before.characteristics)
    }

    @Test("AB-A08: a discovery that fails leaves nothing in the cache")
    func aDiscoveryThatFailsLeavesNothingInTheCache() {
        var answers: [[UInt8]] = [
            [0x11, 6, 1, 0, 5, 0, 0, 0x18, 10, 0, 20, 0, 0x0D, 0x18], [0x11, 6, 3, 0, 40, 0, 1, 0x18],
        ]
        let server = ScriptedServer { _ in answers.isEmpty ? nil : answers.removeFirst() }
        var cache = AttributeCache()
        cache.characteristics[10] = []
        server.client.cache = cache
        #expect(
            server.failure { server.client.discoverServices(completion: $0) } == .server(.noProgress(at: 3))
        )
        // The earlier cache is still there.
        #expect(server.client.cache == cache)
    }

    /// The first half was found in the old database, and is known to be wrong by the time the second half arrives.
    @Test("AB-A11: discoveries made while the database changes are not cached")
    func discoveriesDuringChangesAreNotCached() {
        let first: [UInt8] = [0x11, 6, 1, 0, 5, 0, 0, 0x18]
        let server = ScriptedServer { $0 == [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28] ? first : nil }
        let client = server.client
        client.cache = AttributeCache()
        client.serviceChanged = 8
        var found: [Int] = []
        func discover() {
            client.discoverServices { found.append((try? $0.get().count) ?? 0) }
            server.loop.run(for: .seconds(1))
        }
        discover()
        server.indicate([0x1D, 8, 0, 1, 0, 5, 0])
        server.indicate([0x11, 6, 6, 0, 0xFF, 0xFF, 0x0D, 0x18])
        #expect(found == [2])
        #expect(client.cache == AttributeCache())
        discover()
        server.indicate([0x11, 6, 6, 0, 0xFF, 0xFF, 0x0D, 0x18])
        #expect(found == [2, 2] && server.requests.count { $0[0] == 0x10 } == 4)
        discover()
        #expect(found == [2, 2, 2] && server.requests.count { $0[0] == 0x10 } == 4)
    }

    // MARK: Database Out Of Sync

    /// A client with a full cache that has announced robust caching, and misses a change.
    private func outdated(_ policy: GATTClient.OutOfSyncPolicy, changing: Bool = true) throws -> ConnectedClient {
        let peer = fixture.client(mtu: 23)
        peer.client.cache = AttributeCache()
        peer.client.outOfSyncPolicy = policy
        _ = try peer.wait { peer.client.announce(.robustCaching, completion: $0) }
        _ = try discover(peer)
        let added = try fixture.database.add(ServiceDefinition(0x1805))
        if !changing { try fixture.database.remove(added.handles.lowerBound) }
        _ = peer.link.takeSent(on: 4)
        return peer
    }

    @Test func aRefusedRequestForgetsWhatWasKnown() throws {
        let peer = try outdated(.fail)
        var changes: [ClosedRange<UInt16>] = []
        peer.client.onServiceChanged = { changes.append($0) }
        #expect(throws: GATTError.databaseOutOfSync) { try peer.wait { peer.client.read(16, completion: $0) } }
        #expect(changes == [1...0xFFFF])
        #expect(peer.link.takeSent(on: 4).map(\.first) == [0x0A, 0x08])
        #expect(peer.client.cache == AttributeCache(hash: fixture.database.hash))
        // The server considers this client change-aware.
        #expect(try peer.wait { peer.client.read(16, completion: $0) } == [0x64])
        #expect(try discover(peer)?.services?.last?.uuid == 0x1805)
    }

    @Test func aRefusedRequestIsRepeatedIfNothingHasChanged() throws {
        let peer = try outdated(.repeatIfUnchanged, changing: false)
        let before = peer.client.cache
        var changes: [ClosedRange<UInt16>] = []
        peer.client.onServiceChanged = { changes.append($0) }
        #expect(try peer.wait { peer.client.read(16, completion: $0) } == [0x64])
        #expect(peer.link.takeSent(on: 4).map(\.first) == [0x0A, 0x08, 0x0A])
        #expect(changes.isEmpty)
        #expect(peer.client.cache == before)
    }

    @Test func aRefusedRequestIsNotRepeatedOnAnotherDatabase() throws {
        let peer = try outdated(.repeatIfUnchanged)
        #expect(throws: GATTError.databaseOutOfSync) { try peer.wait { peer.client.read(16, completion: $0) } }
        #expect(peer.link.takeSent(on: 4).map(\.first) == [0x0A, 0x08])
        #expect(peer.client.cache == AttributeCache(hash: fixture.database.hash))
    }

    @Test func aServerThatRefusesForEverIsNotAskedForEver() {
        let hash = [UInt8](1...16)
        let server = ScriptedServer {
            $0[0] == 0x08 ? [0x09, 18, 13, 0] + hash : [0x01, $0[0], 0, 0, 0x12]
        }
        server.client.cache = AttributeCache(hash: DatabaseHash(hash))
        server.client.outOfSyncPolicy = .repeatIfUnchanged
        let error = server.failure { server.client.read(11, completion: $0) }
        #expect(error == .att(ATTErrorResponse(.databaseOutOfSync, to: .readRequest, at: 0)))
        #expect(server.requests.map { $0[0] } == [0x0A, 0x08, 0x0A])
    }

    @Test("GATT/CL/GPM/BV-11: the hash is read when nothing else is pending")
    func theHashWaitsForWhatIsPending() throws {
        let peer = fixture.client(mtu: 23)
        peer.addBearer(on: 0x40, mtu: 64)
        _ = try peer.wait { peer.client.announce(.robustCaching, completion: $0) }
        _ = try fixture.database.add(ServiceDefinition(0x1805))
        peer.serverLink.isHeld = true
        var results: [String] = []
        let note = { (result: Result<PacketBuffer, GATTError>) in
            switch result {
            case .success(let value): results.append("\(value)")
            case .failure(let error): results.append("\(error)")
            }
        }
        peer.client.read(16, completion: note)
        peer.client.read(16, completion: note)
        peer.fixture.loop.run(for: .zero)
        func sent() -> [[UInt8]] {
            peer.fixture.loop.run(for: .zero)
            defer { _ = peer.link.takeSent(on: 4) }
            return peer.link.sent.map { [$0[2], $0[4]] }
        }
        #expect(sent().suffix(2) == [[4, 0x0A], [0x40, 0x0A]])
        // The first is refused; the hash is not read before the second is answered.
        peer.serverLink.release(1)
        #expect(sent().isEmpty)
        #expect(results == ["databaseOutOfSync"])
        peer.client.read(16, completion: note)
        #expect(sent().isEmpty)
        peer.serverLink.release(1)
        #expect(sent() == [[4, 0x08]])
        #expect(results == ["databaseOutOfSync", "databaseOutOfSync"])
        peer.serverLink.isHeld = false
        #expect(sent() == [[4, 0x0A]])
        #expect(results.last == "64")
    }
}
