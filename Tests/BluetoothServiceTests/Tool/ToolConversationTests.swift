import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService

/// The service's side of a conversation with a tool.
@Suite struct ToolConversationTests {
    /// A tool that calls the service directly, without a socket.
    private final class Tool {
        private(set) var replies: [ToolReply] = []
        private(set) var conversation: ToolConversation?

        init(_ system: BluetoothSystem, _ rights: ToolRights = .control) {
            conversation = ToolConversation(system: system, rights: rights) { [unowned self] in replies.append($0) }
        }

        func ask(_ number: UInt32, _ question: ToolQuestion) { say(.ask(number: number, question)) }

        func say(_ message: ToolMessage) { conversation?.handle(message) }

        func take() -> [ToolReply] {
            defer { replies = [] }
            return replies
        }

        /// The answer to a question, decoded.
        func answer<T: Decodable>(_ number: UInt32, to question: ToolQuestion, as type: T.Type) throws -> T {
            ask(number, question)
            guard case .answer(number, let result)? = take().last else { throw ServiceError(.unknown) }
            return try JSONDecoder().decode(T.self, from: Data(try result.get().utf8))
        }

        /// The error with which a question fails.
        func refusal(_ number: UInt32, of question: ToolQuestion) -> ServiceError? {
            ask(number, question)
            guard case .answer(number, .failure(let error))? = take().last else { return nil }
            return error
        }
    }

    private func events(_ replies: [ToolReply], of stream: UInt32) throws -> [MonitoredEvent] {
        try replies.compactMap { reply -> MonitoredEvent? in
            guard case .event(stream, let text) = reply else { return nil }
            #expect(!text.contains("\n"))
            return try JSONDecoder().decode(MonitoredEvent.self, from: Data(text.utf8))
        }
    }

    private let world = ServiceWorld()

    @Test("the status of a system shows its apps, links, scans and advertising")
    func theStatus() throws {
        let pair = try ConnectedPair()
        pair.central.send(.startScan(ScanRequest(services: [Example.service], allowsDuplicates: true)))
        pair.world.run(.seconds(1))
        let handles = try pair.connected()
        #expect(!handles.isEmpty)
        let phone = try Tool(pair.phone.system).answer(1, to: .status, as: SystemStatus.self)
        #expect(phone.state == "poweredOn")
        #expect(phone.failure == nil)
        #expect(phone.controller != nil)
        #expect(phone.apps.map(\.name) == ["test"])
        #expect(phone.apps.first?.phase == "foreground")
        #expect(phone.apps.first?.managers.map(\.role) == ["central"])
        #expect(phone.apps.first?.permission == "allowedAlways")
        #expect(phone.apps.first?.managers.first?.state == "poweredOn")
        let link = try #require(phone.links.first)
        #expect(phone.links.count == 1)
        #expect(link.peer == pair.peer)
        #expect(link.role == "central")
        #expect(link.apps == ["test"])
        #expect(link.encryption == "none")
        #expect(!link.isBonded)
        #expect(link.mtu > 23)
        let scan = ScanStatus(app: "test", owner: 0, services: ["180D"], allowsDuplicates: true, isActive: true)
        #expect(phone.scans == [scan])
        #expect(link.owners == [0])
        let strap = try Tool(pair.strap.system).answer(1, to: .status, as: SystemStatus.self)
        #expect(strap.advertising.map(\.services) == [["180D"]])
        #expect(strap.advertising.first?.shown == "whole")
        #expect(strap.links.first?.role == "peripheral")
        let devices = try Tool(pair.phone.system).answer(2, to: .devices, as: [DeviceStatus].self)
        let device = try #require(devices.first)
        #expect(devices.count == 1)
        #expect(device.identifier == pair.peer)
        #expect(device.isConnected)
        #expect(!device.isBonded)
        #expect(device.rssi != nil)
        #expect((device.lastSeenSeconds ?? -1) >= 0)
        #expect(phone.lines.count < 24)
        #expect(phone.lines.first == "Bluetooth is on")
        #expect(try Tool(pair.phone.system).answer(3, to: .bonds, as: [BondStatus].self).isEmpty)
    }

    @Test("questions about bonds wait for the controller that they belong to, and none is answered with an empty list")
    func bondsBeforeTheController() throws {
        let directory = try TemporaryDirectory()
        let stored = FileManager.default.createFile(
            atPath: "\(directory.path)/bonds",
            contents: Data("not what was written".utf8),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(stored)
        let questions: [ToolQuestion] = [.bonds, .forgetBond(.blank), .devices]
        func answers(of device: TestDevice, after body: () -> Void) -> [Result<String, ServiceError>] {
            let tool = Tool(device.system)
            for (index, question) in questions.enumerated() { tool.ask(UInt32(index), question) }
            #expect(tool.take().isEmpty)
            body()
            world.run(.seconds(1))
            return tool.take().compactMap { if case .answer(_, let result) = $0 { result } else { nil } }
        }
        func reason(_ answer: Result<String, ServiceError>) -> String {
            if case .failure(let error) = answer { error.reason ?? "" } else { "" }
        }

        let damaged = world.device("Damaged", isUp: false) { $0.store = .directory(directory.path) }
        let ofDamaged = answers(of: damaged) {}
        #expect(ofDamaged.map { reason($0).contains("paired devices cannot be used") } == [true, true, false])

        let sound = world.device("Sound", isUp: false)
        let ofSound = answers(of: sound) {}
        #expect(ofSound.count == 3 && ofSound.first == .success("[]") && ofSound.last == .success("[]"))

        let off = world.device("Off", isStarted: false)
        let ofOff = answers(of: off) { off.system.controllers.setPower(false) }
        #expect(ofOff.map { reason($0).contains("none has started yet") } == [true, true, false])
    }

    @Test("a status with foreign names contains no terminal control characters")
    func namesFromOutsideAreShownAsTheyAre() throws {
        let name = "a\u{1B}[2J\"\n"
        let device = DeviceStatus(identifier: .blank, name: name, isConnected: false, isBonded: false)
        let bond = BondStatus(identifier: .blank, name: name, authenticated: true, hasForgottenUs: true)
        let app = AppStatus(
            name: name,
            displayName: name,
            owner: 0,
            phase: "foreground",
            isManaged: true,
            permission: "denied",
            executable: name,
            managers: [ManagerStatus(number: 1, role: "central", restoreIdentifier: name, state: "unknown")]
        )
        let advertised = AdvertisingStatus(app: name, owner: 0, localName: name, services: [], shown: "whole")
        let kept = PreservedStatus(app: name, owner: 1, centrals: [name], peripherals: [name])
        let decided = PermissionStatus(app: name, owner: 1, permission: "denied", executable: name)
        let texts = [device.line, bond.line, advertised.line, kept.line, decided.line] + app.lines
        for text in texts {
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 }, "\(text.debugDescription)")
        }
        // JSON contains the name unescaped.
        let json = try #require(JSONText.of(device))
        #expect(try JSONDecoder().decode(DeviceStatus.self, from: Data(json.utf8)) == device)
    }

    @Test("an ended app is not listed as running, and its preserved state is shown")
    func preservedStateIsShown() throws {
        let phone = world.device("Phone")
        let app = phone.app("Heart", [.central])
        let manager = phone.manager(.central, of: app, restoring: "heart")
        #expect(try Tool(phone.system).answer(1, to: .apps, as: AppsStatus.self).apps.map(\.phase) == ["foreground"])
        app.happened(.ended(.crashed))
        let after = try Tool(phone.system).answer(1, to: .apps, as: AppsStatus.self)
        #expect(after.apps.isEmpty)
        #expect(after.preserved.map(\.centrals) == [["heart"]])
        #expect(after.installed.isEmpty)
        _ = manager
    }

    @Test("a forbidden question is refused, with advice", arguments: [ToolRights.inspect, [], [.inspect, .answer]])
    func forbiddenQuestionsAreRefused(rights: ToolRights) {
        let phone = world.device("Phone")
        let desk = PromptDesk(phone.system)
        let tool = Tool(phone.system, rights)
        let all: [ToolQuestion] = [
            .status, .devices, .bonds, .forgetBond(.blank), .monitor(kinds: 1), .prompts, .apps,
            .app(.resetPermission, name: "a"), .app(.revokePermission, name: "a"), .advice,
            .packets, .accessory(.blank, .remove, name: "a"), .accessory(.blank, .rename("b"), name: "a"),
        ]
        for (number, question) in all.enumerated() {
            let isRefused = tool.refusal(UInt32(number), of: question)?.code == .core(.operationNotSupported)
            #expect(isRefused == !rights.isSuperset(of: question.needs), "\(question)")
        }
        #expect(tool.refusal(100, of: .app(.launch, name: "a"))?.reason?.contains("user") == true)
        withExtendedLifetime(desk) {}
    }

    @Test(
        "AB-G02: however many devices advertise, those shown fit in one message, including all connected ones"
    )
    func manyDevicesFit() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        let system = pair.phone.system
        let name = String(repeating: "\u{1}", count: 248)
        for number in 0..<5_000 as Range<UInt64> {
            let address = BluetoothAddress(0xC000_0000_0000 + number, kind: .randomDevice)
            let peer = system.peers.peer(at: address).identifier
            system.peers.noteAdvertisement(peer, name: name, rssi: -100, at: system.loop.now)
        }
        let devices = try Tool(system).answer(1, to: .devices, as: [DeviceStatus].self)
        #expect(devices.count == DeviceStatus.maximumShown)
        #expect(devices.first?.identifier == pair.peer)
        #expect((JSONText.of(devices)?.utf8.count ?? .max) <= ToolReply.maximumText)
    }

    @Test("a tool that removes an unknown bond gets an error with a reason")
    func aBondThatIsNotThere() {
        let error = Tool(world.device("Phone").system).refusal(1, of: .forgetBond(.blank))
        #expect(error?.code == .core(.unknownDevice))
        #expect(error?.reason?.isEmpty == false)
    }

    @Test("a tool receives events of the kinds it requests, until it stops the stream")
    func aToolMonitors() throws {
        let phone = world.device("Phone")
        let tool = Tool(phone.system)
        tool.ask(7, .monitor(kinds: Observation.Kinds([.managers, .messages]).rawValue))
        let manager = phone.manager(.central)
        manager.send(.startScan(ScanRequest(services: [Example.service])))
        world.run(.zero)
        let seen = try events(tool.take(), of: 7)
        #expect(seen.map(\.kind) == ["managers", "messages", "messages"], "\(seen)")
        #expect(seen.first?.app == "test")
        #expect(seen.first?.manager == manager.id.rawValue)
        #expect(seen.first?.message == nil)
        #expect(seen.last?.message?.services == [Example.service.description], "\(seen)")
        #expect(seen.last?.text.contains("180d") == true || seen.last?.text.contains("180D") == true, "\(seen)")
        #expect(seen.allSatisfy { $0.line.contains("test/1") })
        tool.say(.stop(number: 7))
        #expect(tool.take() == [.answer(number: 7, .success(#"{"lost":0}"#))])
        manager.close()
        tool.say(.stop(number: 7))
        #expect(tool.take().isEmpty)
    }

    @Test("AB-G05: a tool that may only look sees that requests are made, but not their contents")
    func inspectionHidesContents() throws {
        let phone = world.device("Phone")
        let (tool, owner) = (Tool(phone.system, .inspect), Tool(phone.system))
        tool.ask(1, .monitor(kinds: .max))
        owner.ask(1, .monitor(kinds: .max))
        let manager = phone.manager(.peripheral)
        manager.send(.startAdvertising(AdvertisingRequest(localName: "Mine")))
        manager.send(.startScan(ScanRequest(services: [0xABCD])))
        manager.connection.noteMisuse("Mine")
        world.run(.seconds(1))
        let (seen, all) = (try events(tool.take(), of: 1), try events(owner.take(), of: 1))
        // In octets too, because text is printed that way.
        func tells(_ events: [MonitoredEvent]) -> Bool {
            events.contains {
                $0.text.contains("Mine") || $0.text.contains("4d 69 6e 65") || $0.text.contains("4d696e65")
            }
        }
        #expect(seen.map(\.number) == all.map(\.number) && !tells(seen) && tells(all), "\(all)")
        #expect(!seen.contains { $0.text.lowercased().contains("abcd") || $0.message != nil })
    }

    @Test("AB-G05: events that a tool does not read are counted, and reported in one line when it reads again")
    func unreadEventsAreCounted() throws {
        let phone = world.device("Phone")
        let tool = Tool(phone.system)
        tool.ask(1, .monitor(kinds: Observation.Kinds.managers.rawValue))
        tool.ask(2, .monitor(kinds: Observation.Kinds.state.rawValue))
        tool.conversation?.canSend = false
        for _ in 0..<50 { phone.manager(.central).close() }
        #expect(tool.take().isEmpty)
        tool.conversation?.canSend = true
        let told = tool.take()
        let lost = try #require(try events(told, of: 1).first)
        #expect(told.count == 1 && lost.kind == "lost" && lost.details == ["lost": "100"], "\(told)")
        phone.manager(.central).close()
        let next = try events(tool.take(), of: 1)
        #expect(next.map(\.kind) == ["managers", "managers"])
        #expect(next.first?.number == lost.number + 1)
        // The final answer counts the events lost by then.
        tool.conversation?.canSend = false
        phone.manager(.central).close()
        tool.say(.stop(number: 1))
        #expect(tool.take() == [.answer(number: 1, .success(#"{"lost":2}"#))])
    }

    @Test("a stream that is to be thinned has a hundred discoveries a second, and the number of the others")
    func discoveriesAreThinned() throws {
        let phone = world.device("Phone")
        let (thinned, whole) = (Tool(phone.system), Tool(phone.system))
        let kinds = Observation.Kinds.messages
        thinned.ask(1, .monitor(kinds: kinds.union(.thinned).rawValue))
        whole.ask(1, .monitor(kinds: kinds.rawValue))
        func discover(_ count: Int) {
            let found = CentralEvent.discovered(PeerInfo(identifier: .blank), Advertisement(), rssi: -50)
            for _ in 0..<count { phone.system.observers.report(.central(found), of: Observation.Subject()) }
        }
        func release(_ count: Int) {
            let request = Request.central(.peer(.blank, .forget))
            for _ in 0..<count { phone.system.observers.report(.messages, .requested(request)) }
        }
        discover(75)
        release(75)
        phone.system.observers.report(.stateChanged(.poweredOn), of: Observation.Subject())
        let first = try events(thinned.take(), of: 1)
        #expect(first.filter { $0.text.contains("discovered") }.count == 75)
        #expect(first.filter { $0.text.contains("forget") }.count == 25)
        #expect(first.count == 101)
        #expect(first.allSatisfy { $0.leftOut == nil })
        #expect(try events(whole.take(), of: 1).count == 151)
        world.run(.seconds(1))
        discover(2)
        #expect(try events(thinned.take(), of: 1).map(\.leftOut) == [50, nil])
        #expect(try events(whole.take(), of: 1).map(\.leftOut) == [nil, nil])
        thinned.say(.stop(number: 1))
        #expect(thinned.take() == [.answer(number: 1, .success(#"{"lost":0}"#))])
    }

    @Test("AB-G05: the streams of a tool are bounded, and each has its own number")
    func streamsAreBounded() {
        let phone = world.device("Phone")
        let tool = Tool(phone.system)
        for number in 0..<UInt32(ToolConversation.maximumStreams) { tool.ask(number, .monitor(kinds: 1)) }
        #expect(tool.take().isEmpty)
        #expect(tool.refusal(0, of: .monitor(kinds: 1))?.code == .core(.invalidParameters))
        #expect(tool.refusal(99, of: .monitor(kinds: 1))?.code == .core(.outOfSpace))
        tool.say(.stop(number: 0))
        _ = tool.take()
        tool.ask(99, .monitor(kinds: 1))
        #expect(tool.take().isEmpty)
        #expect(Tool(phone.system).refusal(1, of: .monitor(kinds: 0))?.code == .core(.invalidParameters))
        // Streams count against a quota of the system. Stopping a stream or closing the tool frees its share.
        for _ in 0..<100 {
            tool.say(.stop(number: 99))
            tool.ask(99, .monitor(kinds: 1))
        }
        #expect(tool.take().allSatisfy { if case .answer(99, .success) = $0 { true } else { false } })
        var tools = (0..<20).map { _ in Tool(phone.system) }
        for other in tools { for number in 0..<8 as Range<UInt32> { other.ask(number, .monitor(kinds: 1)) } }
        #expect(tools.last?.take().count == 8)
        for other in tools { other.conversation?.close() }
        tools = [Tool(phone.system)]
        tools[0].ask(1, .monitor(kinds: 1))
        #expect(tools[0].take().isEmpty)
    }

    @Test("each kind of event has its own name, and each event is one line, truncated if long")
    func eventsHaveNamesAndLines() {
        let names = Observation.Kinds.named.map(\.name)
        #expect(Set(names).count == 11)
        #expect(!names.contains("other"))
        func event(_ content: Observation.Content) -> MonitoredEvent {
            let subject = Observation.Subject(app: AppIdentity(name: "a\u{7}", owner: 7), manager: ManagerID(3))
            let observation = Observation(number: 1, time: .zero, cause: nil, subject: subject, content: content)
            return MonitoredEvent(observation, showsContents: true)
        }
        let contents: [Observation.Content] = [
            .stateChanged(.poweredOn), .controllerFailed(.notRunning), .managerOpened(.central), .managerClosed,
            .appMoved(.notRunning(.crashed)), .appLaunched(RestoreIdentifiers(centrals: ["a"])), .eventsLost(1),
            .requested(Request()), .asked(Query()), .delivered(Event()), .linkMade, .linkEnded(.localHostTerminated),
            .secured(LinkSecurity(isEncrypted: true)), .parametersUpdated,
            .noticed(.poweredOff(app: "b")),
            .misused("e" + String(repeating: "\u{301}", count: 10_000), isToldToApp: true), .trouble("t", .error),
            .below(HostEvent.bufferOverflow(linkKind: 1)),
        ]
        for content in contents {
            let (event, kind) = (event(content), content.kind.name)
            #expect(event.kind == kind)
            #expect(!event.text.isEmpty)
            #expect(event.owner == 7)
            #expect(event.line.hasPrefix("0.000000 \(kind) a\\u{7}/3 "), "\(event.line)")
            #expect(!event.line.unicodeScalars.contains { $0.value < 0x20 })
            #expect(event.text.utf8.count < 2_010)
            #expect((JSONText.of(event)?.utf8.count ?? .max) < ToolReply.maximumText)
        }
        #expect(event(.delivered(.stateChanged(.poweredOn))).text.hasPrefix("event, kind: stateChanged, "))
        #expect(event(.requested(.central(.stopScan))).text.contains("kind: stopScan"))
        #expect(event(.stateChanged(.poweredOn)).text == "Bluetooth is on")
        #expect(event(.secured(LinkSecurity(isEncrypted: true))).details == ["encryption": "encrypted"])
    }

    @Test("a tool that is gone, and its pending questions, receive nothing more")
    func aToolThatIsGone() {
        let phone = world.device("Phone")
        let tool = Tool(phone.system)
        tool.ask(1, .monitor(kinds: .max))
        tool.conversation?.close()
        phone.manager(.central).close()
        tool.ask(2, .status)
        #expect(tool.take().isEmpty)
    }
}
