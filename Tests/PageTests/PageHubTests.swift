import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import ServiceProcess
import Synchronization
import Testing

@testable import Administration
@testable import BluetoothService
@testable import Page

/// The conversation between pages and the service.
@Suite struct PageHubTests {
    /// A service that answers what the test says, and notes what it is asked.
    private final class Service: MessageLine, Dialer {
        var onReceive: ((PacketBuffer) -> Void)?
        var onClose: ((MessageLineError) -> Void)?
        var onRoom: ((Bool) -> Void)?
        var hasRoom: Bool { true }
        var answers: [ToolQuestion: String] = [:]
        private(set) var asked: [UInt32: ToolQuestion] = [:]
        private(set) var stopped: [UInt32] = []
        private var isOpen = false
        private let loop: any EventLoop

        init(_ loop: any EventLoop) { self.loop = loop }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            loop.execute { completion(.success(self)) }
        }

        func send(_ message: PacketBuffer) {
            guard isOpen, let message = try? ToolMessage(reading: message) else {
                isOpen = true
                return say(ServiceMessage.welcome(Welcome()).encoded())
            }
            switch message {
            case .ask(let number, let question):
                asked[number] = question
                guard let text = answers[question] else { return }
                say(ToolReply.answer(number: number, .success(text)).encoded())
            case .answer: break
            case .stop(let number): stopped.append(number)
            }
        }

        /// The stream of this question.
        func stream(_ question: ToolQuestion) -> UInt32? { asked.filter { $0.value == question }.keys.max() }

        func say(_ message: PacketBuffer) { loop.execute { [weak self] in self?.onReceive?(message) } }
        func read(_ isReading: Bool) {}
        func close() {}
        func lost(_ error: MessageLineError) {}
    }

    private final class Outlet: PageOutlet {
        private(set) var frames: [PageFrame] = []
        func show(_ frame: PageFrame) { frames.append(frame) }

        /// The values of a type since the last call.
        func take(_ type: String) -> [String] {
            let start = "{\"type\":\"\(type)\",\"value\":"
            defer { frames.removeAll { $0.text.hasPrefix(start) } }
            return frames.filter { $0.text.hasPrefix(start) }.map { String($0.text.dropFirst(start.count).dropLast()) }
        }
    }

    private let loop = VirtualEventLoop()
    private let service: Service
    private let client: ToolClient
    private let hub: PageHub

    init() {
        service = Service(loop)
        client = ToolClient([service], loop: loop)
        let loop = loop
        hub = PageHub(
            client,
            loop: loop,
            app: PageApp(["/nowhere"], loop: loop),
            date: { Double(loop.now.nanoseconds) / 1e9 }
        )
        client.open {}
        loop.run(for: .milliseconds(1))
    }

    private func page() -> Outlet {
        let outlet = Outlet()
        #expect(hub.add(outlet))
        loop.run(for: .milliseconds(1))
        return outlet
    }

    private func devices(_ numbers: ClosedRange<Int>, rssi: Int = -50) throws -> String {
        let all = numbers.map { number in
            var device = DeviceStatus(
                identifier: UUID([UInt8](repeating: UInt8(number), count: 16)),
                name: nil,
                isConnected: false,
                isBonded: false
            )
            device.rssi = rssi
            return device
        }
        return String(decoding: try JSONEncoder().encode(all), as: UTF8.self)
    }

    @Test("a page gets all devices once, then what changed, and a later page all of them")
    func deviceChanges() throws {
        service.answers[.devices] = try devices(1...100)
        let first = page()
        #expect(first.take("devicesChanged").count == 1)
        loop.run(for: .seconds(5))
        #expect(first.take("devicesChanged").isEmpty)
        service.answers[.devices] = try devices(1...99)
        loop.run(for: .seconds(2))
        let changes = first.take("devicesChanged")
        #expect(changes.count == 1)
        #expect((changes.first?.utf8.count ?? .max) < 200, "\(changes)")
        let second = page()
        let snapshot = try #require(second.take("devices").first)
        #expect(snapshot.contains(#""version":2"#))
        #expect(snapshot.components(separatedBy: "identifier").count == 100)
        #expect(first.take("devices").isEmpty)
    }

    @Test("changing values may be left out, and the page gets the last one when it asks; answers may not")
    func needs() throws {
        service.answers[.devices] = try devices(1...3)
        service.answers[.status] = #"{"state":"poweredOn"}"#
        let outlet = page()
        let needs = Set(outlet.frames.map(\.need))
        #expect(needs == [.latest("devices"), .latest("status")])
        hub.handle(Array(#"{"verb":"forget"}"#.utf8), from: outlet)
        #expect(outlet.frames.last?.need == .always)
        _ = outlet.take("devices")
        hub.refresh(["devices", "status", "unknown"], of: outlet)
        #expect(outlet.take("devices").count == 1)
        hub.refresh(["devices"], of: Outlet())
    }

    private func say(_ text: String, _ outlet: Outlet) {
        hub.handle(Array(text.utf8), from: outlet)
        loop.run(for: .milliseconds(1))
    }

    private func packetLine() throws -> String {
        var packet = MonitoredPacket()
        (packet.number, packet.kind, packet.octets) = (1, 1, [3, 0x0C, 0])
        return String(decoding: try JSONEncoder().encode(PacketBatch([packet, packet], lost: 0)), as: UTF8.self)
    }

    private func sendPackets() {
        guard let stream = service.stream(.packets), let line = try? packetLine() else { return }
        service.say(ToolReply.event(number: stream, line).encoded())
        loop.run(for: .milliseconds(1))
    }

    @Test("packets are followed only while a page asks for them, and only such pages get them")
    func packets() throws {
        let (first, second) = (page(), page())
        #expect(service.stream(.packets) == nil)
        say(#"{"verb":"packets","on":true}"#, first)
        let stream = try #require(service.stream(.packets))
        sendPackets()
        #expect(first.frames.last?.need == .item(2))
        #expect(first.take("packets").count == 1)
        #expect(second.take("packets").isEmpty)
        say(#"{"verb":"packets","on":true}"#, second)
        #expect(service.stream(.packets) == stream)
        say(#"{"verb":"packets","on":false}"#, first)
        #expect(service.stopped.isEmpty)
        hub.remove(second)
        #expect(service.stopped == [stream])
        say(#"{"verb":"packet","packet":1}"#, first)
        #expect(first.take("packet").count == 1)
        #expect(try saved(first).count > 16)
        // A selection is used once, and too many packets are refused.
        #expect(try saved(first, runs: "[]").count == 16)
        #expect(try saved(first, runs: "[0,99999999999]").count == 16)
        #expect(first.take("outcome").last?.contains("too many packets") == true)
        say(#"{"verb":"packet","packet":99}"#, first)
        #expect(first.take("outcome").last?.contains("forgotten") == true)
    }

    @Test("packets of another system are followed without being asked for again, and those of the last are forgotten")
    func packetsOfTheNextSystem() throws {
        let outlet = page()
        say(#"{"verb":"packets","on":true}"#, outlet)
        sendPackets()
        let next = Service(loop)
        let client = ToolClient([next], loop: loop)
        client.open {}
        loop.run(for: .milliseconds(1))
        hub.use(client)
        loop.run(for: .milliseconds(1))
        #expect(next.stream(.packets) != nil)
        #expect(try saved(outlet).count == 16)
    }

    /// The packets that a page saves.
    private func saved(_ outlet: Outlet, runs: String = "[0,100]") throws -> [UInt8] {
        say(#"{"verb":"select","packets":\#(runs)}"#, outlet)
        say(#"{"verb":"save","format":"btsnoop"}"#, outlet)
        let path = try JSONDecoder().decode(String.self, from: Data(try #require(outlet.take("ticket").last).utf8))
        return try #require(hub.download(String(path.dropFirst(PageAccess.downloadPath.count)))).octets
    }

    private func status(_ charges: [String: Double]?) throws -> String {
        var status = SystemStatus(
            state: "poweredOn",
            apps: [],
            links: [],
            scans: [],
            advertising: [],
            preserved: [],
            troubles: []
        )
        status.energy = charges.map { charges in
            EnergyStatus(
                profile: "chip",
                isEstimate: true,
                elapsedSeconds: 9.9,
                microampereHours: charges.values.reduce(0, +),
                averageMicroamperes: 1,
                sleepMicroampereHours: 0,
                systemMicroampereHours: 0,
                otherAppsMicroampereHours: 0,
                apps: charges.sorted { $0.key < $1.key }.map { app, charge in
                    AppEnergyStatus(
                        app: app,
                        microampereHours: charge,
                        sendingSeconds: 1,
                        listeningSeconds: 2,
                        uses: []
                    )
                }
            )
        }
        return String(decoding: try JSONEncoder().encode(status), as: UTF8.self)
    }

    @Test("a page gets all charges once, then those that changed as far as it shows them, and a later page all")
    func energy() throws {
        let all = Dictionary(uniqueKeysWithValues: (1...30).map { ("app\($0)", Double($0)) })
        service.answers[.status] = try status(all)
        let first = page()
        #expect(first.take("status").first?.contains("microampereHours") == false)
        #expect(first.take("energy").count == 1)
        loop.run(for: .seconds(3))
        #expect(first.take("energyChanged").isEmpty)
        service.answers[.status] = try status(all.merging(["app7": 8, "app8": 8.00001]) { $1 })
        loop.run(for: .seconds(2))
        #expect(first.frames.last?.need == .latest("energy"))
        let changes = first.take("energyChanged")
        #expect(changes.count == 1)
        #expect(changes.first?.contains(#""app":"app7""#) == true)
        #expect(changes.first?.contains("app8") == false)
        service.answers[.status] = try status(all.filter { $0.key != "app9" })
        loop.run(for: .seconds(2))
        #expect(first.take("energyChanged").first?.contains(#""gone":["app9"]"#) == true)
        #expect(first.take("status").isEmpty)
        let second = page()
        #expect(second.take("energy").first?.components(separatedBy: #""app":"#).count == 30)
    }

    @Test("without charges no page hears of them, and their end is told")
    func noEnergy() throws {
        service.answers[.status] = try status(nil)
        let outlet = page()
        #expect(outlet.take("energy").isEmpty)
        service.answers[.status] = try status(["a": 1])
        loop.run(for: .seconds(1))
        #expect(outlet.take("energy").count == 1)
        service.answers[.status] = try status(nil)
        loop.run(for: .seconds(1))
        #expect(outlet.take("energy") == ["null"])
        loop.run(for: .seconds(2))
        #expect(outlet.take("energy").isEmpty)
    }

    @Test(
        "each command on an app becomes a question for the service",
        arguments: [
            ("launch", AppVerb.launch), ("foreground", .foreground), ("background", .background),
            ("suspend", .suspend), ("terminate", .terminate), ("forceQuit", .forceQuit),
            ("resetPermission", .resetPermission), ("revokePermission", .revokePermission),
            ("startLiveActivity", .startLiveActivity), ("endLiveActivity", .endLiveActivity),
        ]
    )
    func commands(_ name: String, _ verb: AppVerb) {
        let outlet = page()
        let question = ToolQuestion.app(verb, name: "watch", owner: 0)
        service.answers[question] = "{}"
        say(#"{"verb":"app","id":1,"name":"watch","owner":0,"command":"\#(name)"}"#, outlet)
        #expect(service.asked.values.contains(question))
        #expect(outlet.take("outcome") == [#"{"id":1}"#])
        say(#"{"verb":"app","id":2,"name":"watch","command":"fly"}"#, outlet)
        #expect(outlet.take("outcome").last?.contains("missing") == true)
    }

    @Test("behaviours 16.7, 16.8: the page renames and removes an accessory of an app, by a question for the service")
    func accessories() {
        let (outlet, belt) = (page(), UUID([UInt8](repeating: 7, count: 16)))
        let place = #""name":"belts","owner":1000,"peer":"\#(belt)""#
        for (number, (command, verb)) in [
            (#""command":"rename","value":"Left belt""#, AccessoryVerb.rename("Left belt")),
            (#""command":"remove""#, .remove),
        ].enumerated() {
            let question = ToolQuestion.accessory(belt, verb, name: "belts", owner: 1_000)
            service.answers[question] = "{}"
            say(#"{"verb":"accessory","id":\#(number),\#(place),\#(command)}"#, outlet)
            #expect(service.asked.values.contains(question))
            #expect(outlet.take("outcome") == [#"{"id":\#(number)}"#])
        }
        let asked = service.asked.count
        for wrong in [
            #"\#(place),"command":"rename""#, #"\#(place),"command":"steal""#, #""name":"belts","command":"remove""#,
            #""peer":"\#(belt)","command":"remove""#,
        ] {
            say(#"{"verb":"accessory","id":9,\#(wrong)}"#, outlet)
            #expect(outlet.take("outcome").last?.contains("missing") == true, "\(wrong)")
        }
        #expect(service.asked.count == asked)
    }

    @Test("a page that has no right to change accessories is told why")
    func accessoriesOfOthers() throws {
        let (outlet, belt) = (page(), UUID())
        say(#"{"verb":"accessory","id":1,"name":"belts","peer":"\#(belt)","command":"remove"}"#, outlet)
        let asked = try #require(service.stream(.accessory(belt, .remove, name: "belts")))
        let refusal = ServiceError(.operationNotSupported, reason: "user 1001 may not")
        service.say(ToolReply.answer(number: asked, .failure(refusal)).encoded())
        loop.run(for: .milliseconds(1))
        #expect(outlet.take("outcome") == [#"{"error":"user 1001 may not","id":1}"#])
    }

    @Test("the distance is measured by the process that uses devices, and by no app of a world")
    func measuring() throws {
        let text = #"{"verb":"measure","id":1,"peer":"\#(UUID())","on":true}"#
        let message = try JSONDecoder().decode(PageMessage.self, from: Data(text.utf8))
        #expect(message.action != nil)
        #expect(message.question == nil)
        let (outlet, worldly) = (page(), Outlet())
        say(#"{"verb":"measure","id":2,"on":true}"#, outlet)
        #expect(outlet.take("outcome").last?.contains("missing") == true)
        let hub = PageHub(open(Service(loop)), loop: loop, app: nil, world: World())
        hub.handle(Array(text.utf8), from: worldly)
        #expect(worldly.take("outcome").last?.contains("in a world") == true)
    }

    // MARK: A world

    /// A world that notes whether its time has begun.
    private final class World: PageWorld {
        let begins = Atomic(0)
        func handle(_ message: [UInt8], answer: @escaping @Sendable (_ error: String, PageValue?) -> Void) {}
        func welcome(_ show: @escaping @Sendable (PageValue) -> Void) {}
        func begin() { begins.add(1, ordering: .relaxed) }
        func refresh() {}
    }

    private func open(_ service: Service) -> ToolClient {
        let client = ToolClient([service], loop: loop)
        client.open {}
        loop.run(for: .milliseconds(1))
        return client
    }

    private func sendEvent(_ number: Int, from service: Service) {
        guard let stream = service.stream(.monitor(kinds: .max)) else { return }
        let line = #"{"number":\#(number),"time":1,"kind":"state","text":"event \#(number)"}"#
        service.say(ToolReply.event(number: stream, line).encoded())
        loop.run(for: .milliseconds(1))
    }

    @Test("a page is told how many discoveries the service left out")
    func leftOut() throws {
        let page = page()
        let stream = try #require(service.stream(.monitor(kinds: .max)))
        let line = #"{"number":7,"time":1,"kind":"messages","text":"x","details":{"leftOut":"4"}}"#
        service.say(ToolReply.event(number: stream, line).encoded())
        loop.run(for: .milliseconds(1))
        sendEvent(8, from: service)
        let events = page.take("event")
        #expect(events.count == 2)
        #expect(events.first?.contains(#""leftOut":4"#) == true)
        #expect(events.last?.contains("leftOut") == false)
    }

    @Test("a page that opens later gets the events, packets and advice of the world since its time began")
    func worldHistory() throws {
        let world = World()
        let hub = PageHub(client, loop: loop, app: nil, world: world)
        loop.run(for: .milliseconds(1))
        #expect(world.begins.load(ordering: .relaxed) == 1)
        for number in 1...3 { sendEvent(number, from: service) }
        let advice = try #require(service.stream(.advice))
        service.say(ToolReply.event(number: advice, #"{"rule":1}"#).encoded())
        sendPackets()
        let later = Outlet()
        #expect(hub.add(later))
        let events = later.take("events")
        #expect(events.count == 1)
        #expect(events.first?.contains("event 1") == true)
        #expect(events.first?.contains("event 3") == true)
        #expect(later.take("advice") == [#"{"rule":1}"#])
        #expect(later.take("packets").isEmpty)
        for _ in 1...2 { hub.handle(Array(#"{"verb":"packets","on":true}"#.utf8), from: later) }
        #expect(later.take("packets").count == 1)
        hub.handle(Array(#"{"verb":"earlier","packet":2}"#.utf8), from: later)
        hub.handle(Array(#"{"verb":"earlier","packet":1}"#.utf8), from: later)
        let earlier = later.take("earlier")
        #expect(earlier.count == 2)
        #expect(earlier.first?.contains("[1,") == true)
        #expect(earlier.last?.hasSuffix(#""rows":[]}"#) == true)
        hub.remove(later)
        #expect(service.stopped.isEmpty)
        sendEvent(4, from: service)
        let last = Outlet()
        #expect(hub.add(last))
        #expect(last.take("events").first?.contains("event 4") == true)
    }

    @Test("a page that follows packets gets those of the next world, which waits until it is followed")
    func nextWorld() throws {
        let world = World()
        let hub = PageHub(client, loop: loop, app: nil, world: world)
        let outlet = Outlet()
        #expect(hub.add(outlet))
        hub.handle(Array(#"{"verb":"packets","on":true}"#.utf8), from: outlet)
        sendEvent(1, from: service)
        let next = Service(loop)
        client.close()
        hub.use(open(next))
        loop.run(for: .milliseconds(1))
        #expect(world.begins.load(ordering: .relaxed) == 2)
        let stream = try #require(next.stream(.packets))
        _ = outlet.take("packets")
        next.say(ToolReply.event(number: stream, try packetLine()).encoded())
        loop.run(for: .milliseconds(1))
        #expect(outlet.take("packets").count == 1)
        // Nothing of the world before.
        let later = Outlet()
        #expect(hub.add(later))
        #expect(later.take("events").isEmpty)
    }

    @Test("the events that are kept are bounded by their octets, and the last ones")
    func historyBounds() {
        var history = PageHistory(maximumOctets: 10_000)
        for number in 1...5_000 { history.addEvent("\(100_000 + number)") }
        let kept = history.batches.joined()
        #expect(kept.hasSuffix("105000]"))
        #expect((9_000...12_000).contains(kept.utf8.count))
        for number in 1...500 { history.addAdvice("\(number)") }
        #expect(history.advice.count == PageHistory.maximumAdvice)
        #expect(history.advice.last == "500")
    }

    @Test("a service that does not show packets says why, and may be asked again")
    func refusedPackets() throws {
        let outlet = page()
        say(#"{"verb":"packets","on":true}"#, outlet)
        let stream = try #require(service.stream(.packets))
        let error = ServiceError(.operationNotSupported, reason: "not permitted")
        service.say(ToolReply.answer(number: stream, .failure(error)).encoded())
        loop.run(for: .milliseconds(1))
        #expect(outlet.take("refused-packets") == [#"["not permitted"]"#])
        say(#"{"verb":"packets","on":true}"#, outlet)
        #expect(service.stream(.packets) != stream)
    }
}
