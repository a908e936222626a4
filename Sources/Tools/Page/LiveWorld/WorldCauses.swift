import AppAdvice
import BluetoothService
import BluetoothTypes
import CaptureStory
import DequeModule
import Dispatch
import Foundation
import HCI
import ServiceEvents
import ServiceMessages
import Synchronization

/// Why things happen in a world: what apps call, what their phone sends for it, and what came of that on the air.
///
/// It follows the events and the packets of the phone from the first instant on, and keeps the last ones. Events come
/// in on the loop; questions may come from any thread. The causes of packets are found on another thread, since the
/// loop of a world on its way to another instant has no time for them.
final class WorldCauses: Sendable {
    /// The numbers of packets and events that are kept, the last ones.
    static let maximumPackets = 50_000
    static let maximumEvents = 20_000
    /// The number of packets whose causes are found together.
    private static let batch = 2_048
    /// The maximum number of steps in an answer.
    static let maximumSteps = 60
    /// The maximum number of packets that something caused in an answer.
    static let maximumEffects = 10

    /// A thing that a question is about.
    enum Subject: Hashable, Sendable {
        case packet(UInt64)
        case event(UInt64)
    }

    fileprivate struct State {
        var events = Deque<CausedEvent>()
        /// The requests without an answer, by what their answer has in common with them.
        var open: [CausedEvent.Answer: (number: UInt64, since: Duration)] = [:]
        /// The events with which the app began to use objects.
        var uses: [CausedEvent.Use: UInt64] = [:]
        var hints = WorldHints()
    }

    fileprivate struct Traffic {
        var machine = PacketCauses()
        var packets = Deque<CausedPacket>()
    }

    private let state = Mutex(State())
    private let traffic = Mutex(Traffic())
    /// The packets that are not in ``traffic`` yet.
    private let waiting = Mutex<[MonitoredPacket]>([])
    private let queue = DispatchQueue(label: "harald.page.causes")
    /// The places of calls are recorded while this exists.
    private let listening = CallSites.Listening()

    // MARK: What happens

    /// Adds an event of a device.
    ///
    /// - Parameter told: The event in the words of the story; nil if the story does not tell it.
    func add(_ event: WorldEvent, of device: String, at time: Duration, _ told: StoryEvent?) {
        state.withLock { state in
            state.hints.add(event, of: device, at: time)
            if case .observed(let observation) = event {
                state.noteMistake(observation, of: device, at: time)
                if device == LiveWorld.phoneName { state.noteCreation(observation) }
            }
            guard let told, device == LiveWorld.phoneName, case .observed(let observation) = event else { return }
            var caused = CausedEvent(observation, told)
            if let answer = CausedEvent.Answer(answering: observation) {
                caused.answer(state.open.removeValue(forKey: answer))
            }
            if let answer = CausedEvent.Answer(wantedBy: observation) {
                if state.open.count >= Self.maximumEvents { state.open = [:] }
                state.open[answer] = (observation.number, time)
                caused.wantsAnswer = true
            }
            if let use = CausedEvent.Use(beginning: observation) {
                if state.uses.count >= Self.maximumEvents { state.uses = [:] }
                state.uses[use] = observation.number
            }
            caused.use = CausedEvent.Use(ending: observation).flatMap { state.uses.removeValue(forKey: $0) }
            state.events.append(caused)
            if state.events.count > Self.maximumEvents { state.events.removeFirst() }
        }
    }

    /// Notes a queue whose last callback does not return, and returns that in words.
    func noteBlocked(_ queue: String, at time: Duration) -> String {
        state.withLock { $0.hints.noteBlocked(queue, at: time) }
    }

    /// Adds a packet of the phone's controller, or a frame on the air.
    func add(_ packet: MonitoredPacket) {
        let count = waiting.withLock { waiting in
            waiting.append(packet)
            return waiting.count
        }
        if count >= Self.maximumPackets { return findCauses() }
        if count == Self.batch { queue.async { [weak self] in self?.findCauses() } }
    }

    /// Finds the causes of the packets that wait.
    private func findCauses() {
        traffic.withLock { traffic in
            let packets = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for packet in packets { traffic.add(packet) }
        }
    }

    /// Notes which events a packet caused, after it was delivered.
    func amend(_ number: UInt64, _ body: (inout MonitoredPacket) -> Void) {
        var noted = MonitoredPacket()
        body(&noted)
        guard noted.firstEvent > 0 else { return }
        let range = noted.firstEvent..<(noted.firstEvent + UInt64(noted.events))
        state.withLock { state in
            for index in state.events.indices.reversed() {
                guard state.events[index].number >= range.lowerBound else { break }
                if range.contains(state.events[index].number) { state.events[index].packet = number }
            }
        }
    }

    // MARK: Questions

    /// Returns the chain of causes, from the subject back to what began it.
    ///
    /// - Parameters:
    ///   - deeds: What the person has done to the world so far.
    ///   - words: The words at the end of the story.
    func chain(of subject: Subject, _ deeds: [LiveWorld.Deed], at now: Duration, _ words: WorldWords) -> [CauseStep] {
        findCauses()
        let packets = traffic.withLock { $0.packets }
        let (events, hints) = state.withLock { ($0.events, $0.hints.hints(at: now, words)) }
        var walk = CauseWalk(packets: packets, events: events, deeds: deeds, hints: hints, at: now)
        return walk.steps(from: subject)
    }

    /// Returns the packets that a packet caused, or that were sent for a call: the first ones.
    func effects(of subject: Subject) -> [UInt64] {
        findCauses()
        return traffic.withLock { traffic in
            let effects = traffic.packets.lazy.filter { packet in
                switch subject {
                case .packet(let number): packet.cause.cause?.packet == number
                case .event(let number): packet.isSent && packet.event == number
                }
            }
            return effects.prefix(Self.maximumEffects).map(\.cause.packet)
        }
    }
}

extension WorldCauses.Traffic {
    fileprivate mutating func add(_ packet: MonitoredPacket) {
        let cause =
            if let content = packet.packet {
                machine.receive(content, packet.direction, number: packet.number, at: packet.time)
            } else {
                machine.receive(frame: packet.octets, number: packet.number, at: packet.time)
            }
        packets.append(CausedPacket(packet, cause))
        if packets.count > WorldCauses.maximumPackets { packets.removeFirst() }
    }
}

extension WorldCauses.State {
    /// Notes a misuse of the API, and a problem that the app does not notice, which name their causes themselves.
    fileprivate mutating func noteMistake(_ observation: Observation, of device: String, at time: Duration) {
        switch observation.content {
        case .misused(let text, isToldToApp: _):
            let app = observation.subject.app?.name ?? "an app"
            hints.note(.misuse, "API MISUSE: \(device): \(app): \(text)", at: time, from: observation.site)
        case .trouble(let text, _): hints.note(.problem, "\(device): \(text)", at: time)
        default: break
        }
    }

    /// Notes the place where the app created a manager, which is known after the manager was opened.
    fileprivate mutating func noteCreation(_ observation: Observation) {
        guard case .practiced(.noted(.managerCreated)) = observation.content,
            let number = CausedEvent.Use(observation, peer: nil).flatMap({ uses[$0] }),
            let index = events.lastIndex(where: { $0.number == number })
        else { return }
        events[index].site = observation.site
    }
}

/// A packet, as far as chains of causes need it.
struct CausedPacket: Sendable {
    let cause: PacketCause
    let isSent: Bool
    let isAir: Bool
    /// The event in whose task the packet was sent; 0 for none.
    let event: UInt64
    let symptom: CauseSymptom?

    init(_ packet: MonitoredPacket, _ cause: PacketCause) {
        self.cause = cause
        (isAir, event) = (packet.kind == MonitoredPacket.air, packet.cause)
        isSent = !packet.isReceived && !isAir
        symptom = CauseSymptom(packet, cause)
    }
}

/// An event of the phone, as far as chains of causes need it.
struct CausedEvent: Sendable {
    /// What a request and its answer have in common.
    struct Answer: Hashable, Sendable {
        private enum Kind: Hashable, Sendable {
            case scan, connection, disconnection
            case link(AnswerKey)
        }

        private let app: AppIdentity
        private let manager: ManagerID?
        private let peer: UUID?
        private let kind: Kind

        private init?(_ observation: Observation, _ kind: Kind?) {
            guard let app = observation.subject.app, let kind else { return nil }
            (self.app, manager, self.kind) = (app, observation.subject.manager, kind)
            peer = kind == .scan ? nil : observation.subject.peer
        }

        init?(wantedBy observation: Observation) {
            guard case .requested(.central(let request)) = observation.content else { return nil }
            let kind: Kind? =
                switch request {
                case .startScan: .scan
                case .peer(_, .connect): .connection
                case .peer(_, .cancelConnection): .disconnection
                case .peer(_, .link(let request)), .peer(_, .ask(_, let request)): AnswerKey(request).map { .link($0) }
                default: nil
                }
            self.init(observation, kind)
        }

        init?(answering observation: Observation) {
            guard case .delivered(.central(let event)) = observation.content else { return nil }
            let kind: Kind? =
                switch event {
                case .discovered: .scan
                case .peer(_, .connected), .peer(_, .connectionFailed): .connection
                case .peer(_, .disconnected): .disconnection
                case .peer(_, let event), .answered(_, _, let event): AnswerKey(event).map { .link($0) }
                default: nil
                }
            self.init(observation, kind)
        }
    }

    /// An object of an app from its first use until the app releases it: a manager, or a peripheral that the app connects.
    struct Use: Hashable, Sendable {
        private let app: AppIdentity
        private let manager: ManagerID
        private let peer: UUID?

        init?(_ observation: Observation, peer: UUID?) {
            guard let app = observation.subject.app, let manager = observation.subject.manager else { return nil }
            (self.app, self.manager, self.peer) = (app, manager, peer)
        }

        init?(beginning observation: Observation) {
            switch observation.content {
            case .managerOpened: self.init(observation, peer: nil)
            case .requested(.central(.peer(let peer, .connect))): self.init(observation, peer: peer)
            default: return nil
            }
        }

        init?(ending observation: Observation) {
            switch observation.content {
            case .managerClosed: self.init(observation, peer: nil)
            case .requested(.central(.peer(let peer, .forget))): self.init(observation, peer: peer)
            default: return nil
            }
        }
    }

    /// An answer that takes longer than this is late.
    static let lateAfter = Duration.seconds(2)

    let number: UInt64
    let time: Duration
    let app: String?
    let text: String
    /// Whether the process of the app ended.
    let endsProcess: Bool
    /// Whether it is a message between the app and the system, and not only bookkeeping.
    let isMessage: Bool
    let isRequest: Bool
    let isDelivered: Bool
    /// The event in whose task this one was made.
    let cause: UInt64?
    /// The place of the call in the app.
    fileprivate(set) var site: CallSite?
    /// The event with which the app began to use the object that it releases with this one.
    fileprivate(set) var use: UInt64?
    private(set) var symptom: CauseSymptom?
    /// Whether it is a request that is answered at some time.
    var wantsAnswer = false
    /// The request that this event answers, and the packet that the event was made of.
    private(set) var request: UInt64?
    var packet: UInt64 = 0

    init(_ observation: Observation, _ told: StoryEvent) {
        (number, time, text) = (observation.number, told.time, told.text)
        (app, cause, site) = (observation.subject.app?.name, observation.cause, observation.site)
        switch observation.content {
        case .requested: (isRequest, isDelivered) = (true, false)
        case .delivered: (isRequest, isDelivered) = (false, true)
        default: (isRequest, isDelivered) = (false, false)
        }
        endsProcess = if case .appMoved(.notRunning) = observation.content { true } else { false }
        isMessage = (isRequest || isDelivered) && told.weight > .inner
        symptom = CauseSymptom(observation)
    }

    /// Notes the request that this event answers, perhaps late.
    mutating func answer(_ asked: (number: UInt64, since: Duration)?) {
        guard let asked else { return }
        request = asked.number
        if symptom == nil, time - asked.since > Self.lateAfter { symptom = .late }
    }
}
