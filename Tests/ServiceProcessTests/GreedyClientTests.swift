import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// Limits of `Documentation/Limits.md`: a greedy user takes all that it can get without any effect on a modest one
/// (AB-G05).
@Suite struct GreedyClientTests {
    static let greedy: UInt32 = 7
    static let modest: UInt32 = 8

    /// A shared resource, and how to count what a process holds of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let quota: Quota
        let role: ManagerRole
        let held: @Sendable (Holdings) -> Int
        /// The amount of the resource that one request takes.
        var share = 1
        /// The number of requests per manager.
        var perManager = 1
        let request: @Sendable (ClientWorld, UInt32) -> Request
        /// Whether an event reports that the request exceeded the quota; nil if only the service's log does.
        let isRefused: (@Sendable (Event) -> Bool)?

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "scans",
            quota: ServiceLimits.scans,
            role: .central,
            held: { $0.scans },
            request: { _, _ in .central(.startScan(ScanRequest(services: [0x180D]))) },
            isRefused: nil
        ),
        Row(
            name: "connections",
            quota: ServiceLimits.peers,
            role: .central,
            held: { $0.peers },
            perManager: 100,
            request: { world, number in
                let peer = world.with { system in
                    system.peers.peer(at: BluetoothAddress(UInt64(number) + 1, kind: .publicDevice)).identifier
                }
                return .central(.peer(peer, .connect(ConnectOptions())))
            },
            isRefused: { event in
                guard case .central(.peer(_, .connectionFailed(let error))) = event else { return false }
                return error.code == .core(.connectionLimitReached)
            }
        ),
        Row(
            name: "attributes",
            quota: ServiceLimits.attributes,
            role: .peripheral,
            held: { $0.attributes },
            share: 33,
            perManager: 20,
            request: { _, number in .peripheral(.addService(service(number))) },
            isRefused: { event in
                guard case .peripheral(.serviceAdded(_, let error?)) = event else { return false }
                return error.code == .core(.outOfSpace)
            }
        ),
        Row(
            name: "PSMs",
            quota: ServiceLimits.publishedChannels,
            role: .peripheral,
            held: { $0.publishedChannels },
            perManager: 17,
            request: { _, _ in .peripheral(.publishChannel(needsEncryption: false)) },
            isRefused: { event in
                guard case .peripheral(.channelPublished(_, let error?, _)) = event else { return false }
                return error.code == .core(.outOfSpace)
            }
        ),
        Row(
            name: "advertisements",
            quota: ServiceLimits.advertisers,
            role: .peripheral,
            held: { $0.advertisers },
            request: { _, _ in .peripheral(.startAdvertising(AdvertisingRequest(services: [0x180D]))) },
            isRefused: { event in
                guard case .peripheral(.advertisingStarted(let error?, _)) = event else { return false }
                return error.code == .core(.outOfSpace)
            }
        ),
    ]

    /// A service of 16 characteristics, with 33 attributes.
    private static func service(_ number: UInt32) -> LocalService {
        LocalService(
            id: LocalAttributeID(100 * number),
            uuid: 0x1234,
            isPrimary: true,
            characteristics: (1...16).map {
                LocalCharacteristic(
                    id: LocalAttributeID(100 * number + $0),
                    uuid: 0x2A37,
                    properties: 2,
                    permissions: 1
                )
            }
        )
    }

    private func opening(_ number: UInt32, _ role: ManagerRole) -> AppMessage {
        .openManager(ManagerID(number), role, ManagerOptions(showsPowerAlert: false))
    }

    /// Takes as much as one process of an app can get.
    private func take(_ row: Row, _ client: RawClient, in world: ClientWorld) -> [Event] {
        for manager in 1...UInt32(ServiceLimits.managers) {
            client.send(opening(manager, row.role))
            let before = world.held(row)
            for index in 0..<UInt32(row.perManager) {
                client.send(.request(ManagerID(manager), row.request(world, 1_000 * manager + index)))
            }
            if world.held(row) == before { break }
        }
        return client.events()
    }

    @Test(
        "AB-G05: an app takes its share, its user has more, and an app of another user gets its requests",
        arguments: rows
    )
    func aGreedyUser(row: Row) {
        let world = ClientWorld(admitsOtherUsers: true)
        let complaints = Complaints(of: world)
        var users: [UInt32: Int] = [:]
        // Users are added until one gets less than an app's whole share. All earlier users got theirs, and each leaves
        // some for others.
        for user in Self.greedy..<Self.greedy + 3 {
            let before = world.held(row)
            for app in 0..<5 {
                let client = world.connect(user: user)
                client.greet("com.example.greedy\(app)")
                let start = world.held(row)
                let events = take(row, client, in: world)
                #expect(world.held(row) - start <= row.quota.app)
                if app == 0, user == Self.greedy { #expect(world.held(row) > row.quota.app - row.share) }
                if let isRefused = row.isRefused { #expect(events.contains(where: isRefused)) }
                #expect(!client.isClosed)
            }
            users[user] = world.held(row) - before
        }
        #expect(users.values.allSatisfy { $0 <= row.quota.user && $0 > row.share })
        #expect(users[Self.greedy].map { $0 > row.quota.user - row.share } == true)
        if row.isRefused == nil { #expect(complaints.all.contains { $0.contains("may have") }) }
        let client = world.connect(user: 99)
        client.greet("com.example.modest")
        client.send(opening(1, row.role))
        let before = world.held(row)
        client.send(.request(ManagerID(1), row.request(world, 5)))
        #expect(world.held(row) - before == row.share)
        #expect(row.isRefused.map { client.events().contains(where: $0) } != true)
    }

    @Test("AB-G05: managers have limits per app, per user and in total, and another user's app has its own")
    func managers() {
        let world = ClientWorld(admitsOtherUsers: true)
        let complaints = Complaints(of: world)
        func open(_ name: String, processes: Int) -> Int {
            (0..<processes).reduce(0) { sum, _ in
                let client = world.connect(user: Self.greedy)
                client.greet(name)
                for number in 1...UInt32(ServiceLimits.managers) { client.send(opening(number, .central)) }
                return sum + client.events().count { $0 == .stateChanged(.poweredOn) }
            }
        }
        let quota = ServiceLimits.sharedManagers
        #expect(open("com.example.one", processes: 3) == quota.app)
        #expect(open("com.example.two", processes: 3) == quota.user - quota.app)
        #expect(open("com.example.three", processes: 1) == 0)
        let client = world.connect(user: Self.modest).greeting()
        client.send(opening(1, .central))
        #expect(client.events() == [.stateChanged(.poweredOn)])
        #expect(complaints.all.contains { $0.contains("this manager stays unsupported") })
    }

    @Test(
        "AB-G05: the service's user may have more processes than others, and leaves some for them"
    )
    func clients() {
        let world = ClientWorld(admitsOtherUsers: true)
        let own = (0..<300).map { _ in world.connect() }
        world.world.run(for: .milliseconds(1))
        #expect(own.count { !$0.isClosed } == ServiceLimits.clients.total / 2)
        let told = own.last?.goodbye()
        #expect(told?.contains("128 of the 256 clients of the Bluetooth service of all users are in use") == true)
        #expect(told?.contains("64") == false)
        let others = (0..<100).map { _ in world.connect(user: Self.greedy) }
        world.world.run(for: .milliseconds(1))
        #expect(others.count { !$0.isClosed } == ServiceLimits.clients.user)
        let modest = world.connect(user: Self.modest).greeting()
        #expect(!modest.isClosed)
    }

    @Test("AB-G05: event streams are limited per user, and other tools get theirs")
    func monitors() throws {
        let world = ClientWorld(admitsOtherUsers: true)
        func open(_ user: UInt32, _ count: UInt32) throws -> (tool: RawTool, refusals: [ServiceError]) {
            let tool = RawTool(world, user: user)
            _ = try tool.greeting()
            for number in 1...count { tool.ask(number, .monitor(kinds: Observation.Kinds.state.rawValue)) }
            let refusals = try tool.take().compactMap { reply -> ServiceError? in
                if case .answer(_, .failure(let error)) = reply { error } else { nil }
            }
            return (tool, refusals)
        }
        let tools = try (0..<3).map { _ in try open(Self.greedy, 8) }
        #expect(tools.map(\.refusals.count) == [0, 0, 8])
        #expect(tools[2].refusals.first?.reason?.contains("user \(Self.greedy) may have 16 event streams") == true)
        let modest = try open(Self.modest, 1)
        #expect(modest.refusals.isEmpty)
        world.phone.setPower(false)
        world.world.run(for: .seconds(1))
        #expect(try !modest.tool.take().isEmpty)
        // A place that one tool frees is available to another of the same user.
        tools[0].tool.die()
        #expect(try open(Self.greedy, 8).refusals.isEmpty)
    }

    private static let managed = AppDeclaration(usageDescription: "To measure", backgroundModes: .central)

    @Test("AB-G05: the preserved managers of an app that keeps ending with new identifiers are bounded")
    func keptManagers() {
        let world = ClientWorld(admitsOtherUsers: true)
        func live(_ user: UInt32, _ name: String, _ identifiers: [String]) {
            let client = world.connect(user: user)
            client.greet(name, declaring: Self.managed)
            for (index, identifier) in identifiers.enumerated() {
                let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: identifier)
                client.send(.openManager(ManagerID(UInt32(index + 1)), .central, options))
            }
            client.die()
        }
        live(Self.modest, "com.example.modest", ["mine"])
        for round in 0..<10 { live(Self.greedy, "com.example.greedy", (0..<64).map { "\(round).\($0)" }) }
        let kept = world.with { system in
            system.apps.preservation.apps.map { "\($0.key.owner): \($0.value.managers.count)" }.sorted()
        }
        #expect(kept == ["7: 64", "8: 1"])
        #expect(world.with { $0.centrals.count } == 65)
        // The latest are kept.
        let identifiers = world.with { system in
            system.apps.preservation.identifiersToRestore(
                of: AppIdentity(name: "com.example.greedy", owner: Self.greedy)
            ).centrals
        }
        #expect(identifiers == (0..<64).map { "9.\($0)" })
    }

    @Test("AB-G05: a user with many app names evicts only preserved state of its own apps")
    func keptApps() {
        let world = ClientWorld(admitsOtherUsers: true)
        let complaints = Complaints(of: world)
        func live(_ user: UInt32, _ name: String) {
            let client = world.connect(user: user)
            client.greet(name, declaring: Self.managed)
            let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "mine")
            client.send(.openManager(ManagerID(1), .central, options))
            client.die()
        }
        func kept(_ user: UInt32) -> Int {
            world.with { system in system.apps.preservation.apps.keys.count { $0.owner == user } }
        }
        live(Self.modest, "com.example.modest")
        for number in 0..<100 { live(Self.greedy, "com.example.greedy\(number)") }
        #expect(kept(Self.modest) == 1)
        #expect(kept(Self.greedy) == 63)
        // A user that arrives later gets a place too.
        live(9, "com.example.late")
        #expect(kept(Self.modest) == 1)
        #expect(kept(Self.greedy) == 62)
        #expect(kept(9) == 1)
        #expect(complaints.all.contains { $0.contains("of user 7 is discarded") })
    }

    @Test("AB-G05: preserved managers of ended apps give way to those of running apps, of the same user only")
    func keptManagersGiveWay() {
        let world = ClientWorld(admitsOtherUsers: true)
        for number in 0..<5 {
            let client = world.connect(user: number == 0 ? Self.modest : Self.greedy)
            client.greet("com.example.\(number)", declaring: Self.managed)
            for index in 1...UInt32(number == 0 ? 1 : ServiceLimits.managers) {
                let options = ManagerOptions(showsPowerAlert: false, restoreIdentifier: "\(index)")
                client.send(.openManager(ManagerID(index), .central, options))
            }
            client.die()
        }
        #expect(world.with { $0.centrals.count } == ServiceLimits.sharedManagers.user + 1)
        let client = world.connect(user: Self.greedy)
        client.greet("com.example.new")
        client.send(opening(1, .central))
        #expect(client.events() == [.stateChanged(.poweredOn)])
        let names = world.with { $0.apps.preservation.apps.keys.map(\.name).sorted() }
        #expect(names == ["com.example.0", "com.example.2", "com.example.3", "com.example.4"])
    }

    @Test(
        "AB-G05: a suspended app whose requests exceed the limits, in octets or number, is disconnected, and others continue",
        arguments: [true, false]
    )
    func requestsOfASuspendedApp(isLong: Bool) {
        let world = ClientWorld(admitsOtherUsers: true)
        let client = world.connect(user: Self.greedy)
        client.greet("com.example.greedy", declaring: Self.managed)
        client.send(opening(1, .peripheral))
        let modest = world.connect(user: Self.modest)
        modest.greet("com.example.modest", declaring: Self.managed)
        modest.send(opening(1, .central))
        _ = (client.take(), modest.take())
        world.with { system in for app in system.apps.running { app.happened(.left) } }
        world.world.run(for: .seconds(60))
        #expect(world.with { system in system.apps.running.allSatisfy { $0.phase == .suspended } })
        let value = PacketBuffer([UInt8](repeating: 1, count: isLong ? 60_000 : 1))
        let request = Request.peripheral(.updateValue(LocalAttributeID(1), value: value, centrals: nil))
        modest.send(.request(ManagerID(1), .central(.startScan(ScanRequest(services: [0x180D])))))
        var sent = 0
        while !client.isClosed, sent < 5_000 {
            client.send(.request(ManagerID(1), request))
            sent += 1
        }
        #expect(sent == (isLong ? ServiceLimits.heldOctets / 60_000 + 1 : ServiceLimits.heldRequests + 1))
        #expect(client.goodbye()?.contains("exceeds the limits of pending requests") == true)
        world.with { system in for app in system.apps.running { _ = app.enter() } }
        #expect(!modest.isClosed)
        #expect(world.with { $0.centrals.map(\.scans) } == [true])
    }

    @Test("AB-G05: a scan for 61,000 services ends the connection of its app only")
    func aHugeScan() {
        let world = ClientWorld(admitsOtherUsers: true)
        let modest = world.connect(user: Self.modest).greeting()
        modest.send(opening(1, .central))
        _ = modest.take()
        let client = world.connect(user: Self.greedy).greeting()
        client.send(opening(1, .central))
        let services = (0..<61_000).map { BluetoothUUID(UInt16($0)) }
        client.send(.request(ManagerID(1), .central(.startScan(ScanRequest(services: services)))))
        #expect(client.goodbye()?.contains("61000 elements exceed the limit of 256") == true)
        #expect(client.isClosed)
        modest.send(.query(ManagerID(1), number: 1, .scanCounts))
        #expect(modest.take() == [.reply(number: 1, .success(.scanCounts(nil)))])
    }
}

/// The complaints that the service reports: misuse and trouble.
private final class Complaints: Sendable {
    private let lines = Mutex<[String]>([])

    init(of world: ClientWorld) {
        world.with { [self] system in
            _ = system.observers.add([.misuse, .trouble]) { observation in
                switch observation.content {
                case .misused(let text, _), .trouble(let text, _): self.lines.withLock { $0.append(text) }
                default: break
                }
            }
        }
    }

    var all: [String] { lines.withLock { $0 } }
}

extension ClientWorld {
    /// The amount of a resource that all managers hold.
    fileprivate func held(_ row: GreedyClientTests.Row) -> Int {
        with { system in
            system.peripherals.reduce(0) { $0 + row.held($1.holdings) }
                + system.centrals.reduce(0) { $0 + row.held($1.holdings) }
        }
    }
}
