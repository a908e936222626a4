import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import Logging
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// Each event is reported once, with its subject, to all observers.
@Suite struct ObservationTests {
    /// A short text for an observation.
    private static func text(_ observation: Observation) -> String? {
        switch observation.content {
        case .managerOpened(.central): "opened a central"
        case .managerOpened(.peripheral): "opened a peripheral"
        case .managerClosed: "closed"
        case .requested(.central(.peer(_, .connect))): "asked to connect"
        case .requested(.central(.peer(_, .cancelConnection))): "asked to cancel"
        case .requested: "asked"
        case .delivered(.stateChanged(.poweredOn)): "told of power"
        case .delivered(.central(.peer(_, .connected))): "told of a connection"
        case .delivered(.central(.peer(_, .disconnected))): "told of its end"
        case .delivered: "told"
        case .linkMade: "link"
        case .linkEnded: "no link"
        case .misused(let text, isToldToApp: let isTold): "\(isTold ? "app" : "service"): \(text.prefix(23))"
        default: nil
        }
    }

    @Test("a value is counted by listeners that count, and observed by the others, as other events by all")
    func counting() {
        let observers = Observers(loop: VirtualEventLoop())
        let (app, manager, peer) = (AppIdentity(name: "app"), ManagerID(1), UUID())
        let subject = Observation.Subject(app: app, manager: manager)
        let value = Event.central(.peer(peer, .valueNotified(18, PacketBuffer([1, 2, 3]))))
        let end = Event.central(.peer(peer, .disconnected(nil, isReconnecting: false, timestamp: nil)))
        var story: [String] = []
        let advisor = observers.add([.messages], counting: { story.append("counted \($0.handle) \($0.octets)") }) {
            story.append(Self.text($0) ?? "")
        }
        observers.report(value, of: subject)
        observers.report(end, of: subject)
        #expect(story == ["counted 18 3", "told of its end"])
        story = []
        let monitor = observers.add([.messages]) { story.append("monitor: \(Self.text($0) ?? "")") }
        observers.report(value, of: subject)
        #expect(story == ["counted 18 3", "monitor: told"])
        story = []
        if let advisor { observers.remove(advisor) }
        observers.report(value, of: subject)
        #expect(story == ["monitor: told"])
        if let monitor { observers.remove(monitor) }
        observers.report(value, of: subject)
        #expect(story == ["monitor: told"])
    }

    @Test("an observation contains its time, app, subject, link and cause")
    func observationsContainTheirContext() throws {
        let pair = try ConnectedPair()
        pair.world.run(.seconds(1))
        var seen: [Observation] = []
        let loop = pair.world.loop
        pair.phone.system.observers.add(.all) {
            #expect($0.time == loop.now)
            seen.append($0)
        }
        try pair.central.connect(pair.peer)
        pair.world.run(.seconds(5))
        let handle = pair.phone.system.links.all.first?.connection.handle
        pair.central.send(.cancelConnection(peer: pair.peer))
        pair.world.run(.seconds(5))
        let words = seen.compactMap(Self.text)
        #expect(
            words == [
                "asked to connect", "link", "told of a connection", "told", "asked to cancel", "told of its end",
                "no link",
            ],
            "\(words)"
        )
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.number < $1.number && $0.time <= $1.time })
        for observation in seen {
            switch observation.content {
            case .requested, .delivered:
                #expect(observation.subject.app == AppIdentity(name: "test"))
                #expect(observation.subject.manager == pair.central.id)
                #expect(observation.subject.peer == pair.peer)
            case .linkMade, .linkEnded, .secured, .parametersUpdated:
                #expect(observation.subject.link == handle)
                #expect(observation.subject.peer == pair.peer)
                #expect(observation.subject.app == nil)
            default: break
            }
        }
        let cancelled = try #require(seen.first { Self.text($0) == "asked to cancel" })
        let disconnected = try #require(seen.first { Self.text($0) == "told of its end" })
        let ended = try #require(seen.first { Self.text($0) == "no link" })
        #expect(disconnected.cause == cancelled.number)
        #expect(cancelled.cause == nil)
        #expect(ended.cause == nil)
    }

    @Test("misuse by an app is observed with its manager, and has the request as its cause")
    func misuseIsObserved() throws {
        let device = ServiceWorld().device("Phone")
        let manager = device.manager(.central)
        var seen: [Observation] = []
        device.system.observers.add([.misuse, .messages]) { seen.append($0) }
        manager.send(.peripheral(.removeAllServices))
        manager.connection.noteMisuse("what the app's log says")
        manager.close()
        let words = seen.compactMap(Self.text)
        #expect(
            words == ["asked", "service: a central manager does ", "app: what the app's log says"]
        )
        try #require(seen.count == 3)
        #expect(seen[1].cause == seen[0].number && seen[1].subject == seen[0].subject)
        #expect(seen[1].subject.manager == manager.id && seen[2].subject.app == AppIdentity(name: "test"))
    }

    @Test("opening and closing managers is observed by observers of that kind only")
    func managersAreObserved() {
        let device = ServiceWorld().device("Phone")
        var words: [[String]] = [[], []]
        device.system.observers.add(.managers) { words[0] += [Self.text($0) ?? "other"] }
        device.system.observers.add([.managers, .messages]) { words[1] += [Self.text($0) ?? "other"] }
        let manager = device.manager(.peripheral)
        manager.close()
        #expect(words[0] == ["opened a peripheral", "closed"])
        #expect(words[1] == ["opened a peripheral", "told of power", "closed"])
    }

    @Test("nothing is computed for events without an observer")
    func unobservedEventsAreNotComputed() {
        let observers = Observers(loop: VirtualEventLoop())
        var made = 0
        func content() -> Observation.Content {
            made += 1
            return .linkMade
        }
        func subject() -> Observation.Subject {
            made += 1
            return Observation.Subject()
        }
        observers.report(.links, content(), of: subject())
        #expect(observers.report(.links, content(), of: subject()) { 7 } == 7)
        let registration = observers.add(.notices) { _ in }
        observers.report(.links, content(), of: subject())
        #expect(made == 0)
        let other = observers.add([.links, .state]) { _ in }
        observers.report(.links, content(), of: subject())
        #expect(made == 2)
        for registration in [registration, other].compactMap(\.self) { observers.remove(registration) }
        observers.report([.links, .notices], content(), of: subject())
        #expect(made == 2)
    }

    @Test("nothing is computed in the host stack either, in any module, without an observer of that module")
    func unobservedStackEventsAreNotComputed() {
        let observers = Observers(loop: VirtualEventLoop())
        let sink = observers.sink
        var (made, named) = (0, 0)
        observers.nameOfPeer = { _ in
            named += 1
            return nil
        }
        func making<Content: StackEvent>(_ content: Content) -> Content {
            made += 1
            return content
        }
        func tellAll() {
            sink.report(making(HostEvent.bufferOverflow(linkKind: 1)))
            sink.report(making(PrivacyEvent.notQuiet))
            sink.report(making(SecurityEvent(.gaveWay, peer: .none, link: ConnectionHandle(rawValue: 1))))
            sink.report(making(AccessEvent.cannotScan(.queueFull)))
        }
        tellAll()
        observers.add([.state, .managers, .messages, .links, .notices, .misuse, .trouble]) { _ in }
        tellAll()
        #expect(made == 0)
        #expect(named == 0)
        var rooms: [Observation.Kinds] = []
        for kind in [Observation.Kinds.host, .privacy, .security, .access] {
            let registration = observers.add(kind) { rooms.append($0.content.kind) }
            tellAll()
            if let registration { observers.remove(registration) }
        }
        #expect(made == 4)
        #expect(named == 4)
        #expect(rooms == [.host, .privacy, .security, .access])
    }

    @Test("events of the host stack are observed, and logged with the same level and text")
    func stackEventsAreObservedAndLogged() throws {
        let log = LogLines()
        let world = ServiceWorld()
        let device = world.device("Phone", logger: Logger(label: "test") { _ in log })
        var seen: [any StackEvent] = []
        device.system.observers.add([.host, .privacy, .security, .access]) {
            if case .below(let event) = $0.content { seen.append(event) }
        }
        let link = ConnectionHandle(rawValue: 7)
        // Without a service, events still reach the log.
        let plain = LogLines()
        log.clear()
        for sink in [device.system.observers.sink, .log(Logger(label: "test") { _ in plain })] {
            sink.report(HostEvent.failed(.notRunning))
            sink.report(HostEvent.bufferOverflow(linkKind: 1))
            sink.report(PrivacyEvent.notQuiet)
            sink.report(SecurityEvent(.secondLinkRefused, peer: .none, link: link))
            sink.report(SecurityEvent(.securityLost, peer: .none, link: link))
            sink.report(AccessEvent.cannotDisconnect(link, .queueFull))
        }
        #expect(seen.count == 6)
        #expect(log.all == plain.all)
        #expect(
            log.all == [
                "error: \(HCIHostError.notRunning) [layer=\(HCIHostError.notRunning.layer.rawValue)]",
                "warning: the controller's data buffers have overflowed [link type=1]",
                "warning: the controller did not stop using the radio in time; continuing anyway",
                "notice: refused a second link to \(BluetoothAddress.none), which already has an encrypted one",
                "warning: ending the link to \(BluetoothAddress.none), which is no longer secure",
                "debug: cannot disconnect: \(HCICommandError.queueFull)",
            ]
        )
    }

    @Test("the log describes the phase of an app in words")
    func phasesAreLoggedInWords() {
        let log = LogLines()
        let device = ServiceWorld().device("Phone", logger: Logger(label: "test") { _ in log })
        log.clear()
        let subject = Observation.Subject(app: AppIdentity(name: "Timer"))
        for phase in [AppPhase.background, .notRunning(.crashed)] {
            device.system.observers.report(.managers, .appMoved(phase), of: subject)
        }
        #expect(log.all == ["info: Timer is in the background", "info: Timer is not running: it ended or crashed"])
    }

    @Test("the phase of an app that is launched in the background is reported", arguments: [true, false])
    func aLaunchInTheBackgroundIsReported(inBackground: Bool) {
        let device = ServiceWorld().device("Phone")
        var phases: [AppPhase] = []
        device.system.observers.add(.managers) { if case .appMoved(let phase) = $0.content { phases.append(phase) } }
        let declaration = AppDeclaration()
        let app = device.system.openApp(AppIdentity(name: "App"), declaring: declaration, inBackground: inBackground)
        #expect(phases == (inBackground ? [.background] : []))
        withExtendedLifetime(app) {}
    }

    @Test("many observers may exist, and may leave while they are notified")
    func listenersComeAndGo() throws {
        let observers = Observers(loop: VirtualEventLoop())
        var heard: [String] = []
        var second: Observers.Registration?
        observers.add(.links) { _ in
            heard.append("first")
            if let second { observers.remove(second) }
        }
        second = observers.add(.links) { _ in heard.append("second") }
        observers.add(.links) { _ in heard.append("third") }
        observers.report(.links, .linkMade)
        #expect(heard == ["first", "third"])
        for _ in 2..<Observers.maximumListeners { #expect(observers.add(.links) { _ in } != nil) }
        #expect(observers.add(.links) { _ in } == nil)
    }
}
