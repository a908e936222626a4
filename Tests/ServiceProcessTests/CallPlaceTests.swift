import AppAdvice
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import Logging
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// The places of calls in an app's process, and what the app's side notes for advice, over in-memory connections.
@Suite struct CallPlaceTests {
    private let world: ClientWorld

    init() {
        world = ClientWorld()
        world.with { system in
            system.adviceSource = { [places = system.places] in AdviceStream(findPlace: places.find) }
        }
    }

    /// A process of an app whose places are lines of a file that the search does not look at.
    private func process(_ search: @escaping PlaceFinder.Search) -> RemoteConnection {
        let dialer = TestDialer(loop: world.world.loop)
        dialer.clients.withLock { $0 = world.clients }
        return RemoteConnection(
            hello: Hello(AppIdentity(name: "heart")),
            loop: world.world.loop,
            logger: Logger(label: "app") { _ in SwiftLogNoOpLogHandler() },
            places: search
        ) { dialer }
    }

    private static let lines: PlaceFinder.Search = { sites, done in
        done(Dictionary(uniqueKeysWithValues: sites.map { ($0, "Heart.swift:42") }))
    }

    private func tool() -> RawTool {
        let tool = RawTool(world)
        _ = try? tool.greeting()
        tool.ask(7, .advice)
        return tool
    }

    private func advice(_ tool: RawTool) throws -> [AdviceStatus] {
        try tool.take().compactMap { reply in
            guard case .event(number: 7, let text) = reply else { return nil }
            return try JSONDecoder().decode(AdviceStatus.self, from: Data(text.utf8))
        }
    }

    private func manager(_ connection: RemoteConnection) -> CBCentralManager {
        let manager = ServiceLocator.$current.withValue(connection) {
            CBCentralManager(delegate: nil, queue: DispatchQueue(label: "app"))
        }
        world.world.run(for: .seconds(1))
        return manager
    }

    // MARK: The whole way

    @Test("advice about an app in another process has the place of the call, which that process looks up")
    func places() throws {
        let tool = tool()
        let central = manager(process(Self.lines))
        #expect(central.state == .poweredOn)
        central.scanForPeripherals(withServices: nil)
        world.world.run(for: .seconds(2))
        let advice = try advice(tool)
        #expect(advice.map(\.rule) == ["12.3"])
        #expect(advice.first?.place == "Heart.swift:42")
        #expect(advice.first?.line.contains("without naming a service (Heart.swift:42).") == true)
    }

    @Test("an app that was connected before the tool is told, and told when the tool has ended")
    func beginningAndEnd() {
        let client = world.connect().greeting()
        #expect(client.take().isEmpty)
        let (first, second) = (tool(), tool())
        #expect(client.take() == [.adviceWanted(true)])
        let other = world.connect(process: 3)
        other.send(Opening.app(Hello(AppIdentity(name: "other"))).encoded())
        world.world.run(for: .milliseconds(1))
        #expect(other.take() == [.welcome(Welcome()), .adviceWanted(true)])
        first.send(ToolMessage.stop(number: 7).encoded())
        #expect(client.take().isEmpty)
        second.die()
        #expect(client.take() == [.adviceWanted(false)])
    }

    @Test("AB-G05: an app that does not read is told once, when it reads again")
    func slowReader() {
        let client = world.connect().greeting()
        client.setRoom(false)
        for _ in 0..<5 { tool().die() }
        let last = tool()
        client.setRoom(true)
        #expect(client.take() == [.adviceWanted(true)])
        withExtendedLifetime(last) {}
    }

    @Test("behaviours 12.20, 12.24, 12.27, 12.29: what the app's side notes is advice over a socket too")
    func notes() throws {
        let tool = tool()
        let connection = process(Self.lines)
        let central = manager(connection)
        // The app never reads the state (12.24).
        central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        world.world.run(for: .milliseconds(1))
        let (id, site) = (ManagerID(1), try #require(CallSites.present()))
        connection.note(.writeWithoutRoom(UUID()), of: id, at: site)
        connection.note(.updateWithoutRoom, of: id, at: site)
        connection.note(.restorationIgnored, of: id, at: nil)
        connection.note(.slowCallback(milliseconds: 150), of: id, at: nil)
        world.world.run(for: .seconds(2))
        let advice = try advice(tool)
        #expect(advice.map(\.rule) == ["12.24", "12.20", "12.20", "12.27", "12.29"])
        #expect(advice.map(\.place) == ["Heart.swift:42", "Heart.swift:42", "Heart.swift:42", nil, nil])
    }

    // MARK: The app's side

    /// A service that is the test, and what the app has sent to it.
    private final class Scripted: Dialer, Sendable {
        let sent = Notes<AppMessage>()
        private let far: LoopBound<(near: MemoryLine, far: MemoryLine)>

        init(_ loop: any EventLoop) {
            far = loop.make {
                let (near, far) = MemoryLine.pair(loop: loop)
                return (near: near, far: far)
            }
            far.with { [sent] ends in
                ends.far.onReceive = { octets in
                    if let message = try? AppMessage(reading: octets) { sent.add(message) }
                }
            }
        }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            let near = far.value.near
            far.loop.execute { completion(.success(near)) }
        }

        func say(_ message: ServiceMessage) { far.with { $0.far.send(message.encoded()) } }
    }

    @Test("an app sends places only between the two messages, each before what it is about")
    func onlyWhileAsked() throws {
        let (loop, listening) = (VirtualEventLoop(), CallSites.Listening())
        let service = Scripted(loop)
        let connection = RemoteConnection(
            hello: Hello(AppIdentity(name: "heart")),
            loop: loop,
            logger: Logger(label: "app") { _ in SwiftLogNoOpLogHandler() },
            places: Self.lines
        ) { service }
        loop.run(for: .zero)
        service.say(.welcome(Welcome()))
        loop.run(for: .zero)
        let (id, site, request) = (ManagerID(1), try #require(CallSites.present()), Request.central(.stopScan))
        func use() -> [AppMessage] {
            let before = service.sent.all.count
            connection.send(request, from: id, at: site)
            connection.note(.stateUnread, of: id, at: site)
            connection.noteMisuse("early", at: site)
            loop.run(for: .zero)
            return Array(service.sent.all.dropFirst(before))
        }
        #expect(use() == [.request(id, request), .misuse("early")])
        service.say(.adviceWanted(true))
        loop.run(for: .zero)
        let mark = AppMessage.callSite(site.number)
        #expect(use() == [mark, .request(id, request), mark, .note(id, .stateUnread), mark, .misuse("early")])
        service.say(.placeWanted(site.number))
        loop.run(for: .zero)
        #expect(service.sent.all.last == .place(site.number, "Heart.swift:42"))
        service.say(.adviceWanted(false))
        loop.run(for: .zero)
        #expect(use() == [.request(id, request), .misuse("early")])
        withExtendedLifetime(listening) {}
    }

    @Test("AB-G05: a process searches one batch at a time, and refuses more than 256 that wait")
    func batches() {
        let (searches, answers) = (Notes<[UInt32]>(), Notes<UInt32>())
        let ends = Notes<@Sendable ([CallSite: String]) -> Void>()
        let finder = PlaceFinder { sites, done in
            searches.add(sites.map(\.number))
            ends.add(done)
        }
        for number in 1...(2 + UInt32(PlaceFinder.maximum)) { finder.find(number) { number, _ in answers.add(number) } }
        #expect(searches.all == [[1]])
        #expect(answers.all == [2 + UInt32(PlaceFinder.maximum)])
        ends.all[0]([:])
        #expect(searches.all.map(\.count) == [1, PlaceFinder.maximum])
        ends.all[1]([:])
        #expect(answers.all.count == 2 + PlaceFinder.maximum)
    }

    // MARK: The service does not trust the app

    /// A client that scans without services while a tool listens, and has been asked for the place.
    private func askedClient(_ number: UInt32 = 5) -> RawClient {
        let client = world.connect().greeting()
        client.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        client.send(.callSite(number))
        client.send(.request(ManagerID(1), .central(.startScan(ScanRequest()))))
        #expect(client.take().contains(.placeWanted(number)))
        return client
    }

    @Test("AB-G05: a place is one line of bounded length without control characters")
    func hostileText() throws {
        let tool = tool()
        let client = askedClient()
        client.send(.place(5, "\u{1B}[31mHeart\n\u{202E}" + String(repeating: "x", count: 4_000)))
        // A second answer, and one about a place that was not asked for.
        client.send(.place(5, "other"))
        client.send(.place(6, "other"))
        world.world.run(for: .seconds(2))
        let place = try #require(try advice(tool).first?.place)
        #expect(place.hasPrefix("\u{FFFD}[31mHeart \u{FFFD}xxx"))
        #expect(place.unicodeScalars.count == CallPlace.maximumLength + 1)
        #expect(!client.isClosed)
    }

    @Test("advice waits 15 s for its place, and no longer than the process lives")
    func silence() throws {
        let tool = tool()
        let client = askedClient()
        world.world.run(for: .seconds(14))
        #expect(try advice(tool).isEmpty)
        world.world.run(for: .seconds(2))
        #expect(try advice(tool).map(\.place) == [nil])
        let other = world.connect(process: 3)
        other.greet("other")
        other.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        other.send(.callSite(1))
        other.send(.request(ManagerID(1), .central(.startScan(ScanRequest()))))
        other.die()
        world.world.run(for: .seconds(1))
        #expect(try advice(tool).map(\.app) == ["other"])
        withExtendedLifetime(client) {}
    }

    @Test("the last advice of a tool that ends its stream waits 5 s for its place")
    func lastAdvice() throws {
        let (tool, late) = (tool(), tool())
        let client = askedClient()
        tool.send(ToolMessage.stop(number: 7).encoded())
        #expect(try tool.take().isEmpty)
        client.send(.place(5, "Heart.swift:1"))
        world.world.run(for: .milliseconds(50))
        let replies = try tool.take()
        #expect(replies.count == 2)
        guard case .event(_, let text)? = replies.first, case .answer(number: 7, .success)? = replies.last else {
            return #expect(Bool(false), "\(replies)")
        }
        #expect(text.contains("Heart.swift:1"))
        // A process that has taken too long.
        let other = world.connect(process: 3)
        other.greet("other")
        other.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        other.send(.callSite(1))
        other.send(.request(ManagerID(1), .central(.startScan(ScanRequest()))))
        late.send(ToolMessage.stop(number: 7).encoded())
        world.world.run(for: .milliseconds(4_900))
        #expect(try advice(late).map(\.app) == ["com.example.app"])
        world.world.run(for: .milliseconds(100))
        #expect(try advice(late).map(\.app) == ["other"])
    }

    @Test("a place is about the next message only")
    func oneMessage() {
        let tool = tool()
        let client = world.connect().greeting()
        client.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        client.send(.callSite(5))
        client.send(.request(ManagerID(1), .central(.stopScan)))
        client.send(.request(ManagerID(1), .central(.startScan(ScanRequest()))))
        #expect(!client.take().contains { if case .placeWanted = $0 { true } else { false } })
        client.send(.callSite(6))
        client.send(.note(ManagerID(1), .stateUnread))
        #expect(client.take().contains(.placeWanted(6)))
        withExtendedLifetime(tool) {}
    }

    @Test("AB-G05: a process is asked for 256 places at most")
    func manyPlaces() {
        let asked = Notes<UInt32>()
        world.with { system in
            final class Keeper: PlaceKeeper {
                let asked: Notes<UInt32>
                init(_ asked: Notes<UInt32>) { self.asked = asked }
                func adviceWanted(_ isWanted: Bool) {}
                func placeWanted(_ number: UInt32) { asked.add(number) }
            }
            let keeper = Keeper(asked)
            let process = system.places.add(keeper)
            for number in 0..<UInt32(AppPlaces.maximum) + 10 {
                _ = system.places.find(CallSite(number: number, process: process))
                _ = system.places.find(CallSite(number: number, process: process))
            }
            withExtendedLifetime(keeper) {}
        }
        #expect(asked.all.count == AppPlaces.maximum)
    }
}
