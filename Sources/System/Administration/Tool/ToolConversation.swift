import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import Security
import ServiceEvents
import ServiceMessages

/// The service's end of a conversation with one tool. Created by the owner of the connection to the tool. Used on the
/// loop only.
package final class ToolConversation {
    /// The maximum number of concurrent streams of a tool (AB-G05).
    package static let maximumStreams = 8
    /// The maximum number of questions that wait for an answer, besides streams (AB-G05).
    package static let maximumPending = 16

    /// Whether the tool accepts messages now. While it does not, events are counted and dropped.
    package var canSend = true {
        didSet { if canSend, !oldValue { sendLosses() } }
    }

    fileprivate enum Stream {
        case monitor(Observers.Registration, lost: Int)
        case prompts(PromptDesk.Registration)
        case advice(AdviceFollowing)
        case packets(PacketStream)
    }

    /// A stream of advice, and its next look.
    fileprivate struct AdviceFollowing {
        let registration: Observers.Registration
        let source: any AdviceSource
        var timer: ScheduledTask
        /// When the stream ends at the latest, once the tool has stopped it.
        var end: Instant?
    }

    /// The maximum number of apps in the process of a tool that get advice (AB-G05).
    package static let maximumOwnApps = 8
    /// The time between two looks at the advice of a stream. It bounds the lines that an app can cause (AB-G05).
    package static let adviceInterval = Duration.seconds(1)
    /// The same once the tool has stopped the stream, while places are looked up.
    package static let lastAdviceInterval = Duration.milliseconds(50)
    /// How long a stopped stream waits for places.
    package static let finalAdviceTimeout = Duration.seconds(5)

    private let system: BluetoothSystem
    private var rights: ToolRights
    private let user: UInt32?
    private let knowsProcess: Bool
    private let hasRoom: () -> Bool
    private let send: (ToolReply) -> Void
    private var streams: [UInt32: Stream] = [:]
    /// The budgets of the streams that asked for one.
    private var budgets: [UInt32: DiscoveryBudget] = [:]
    private var pending: Set<UInt32> = []
    private var isClosed = false
    private var ownApps: Set<AppIdentity> = []
    /// Whether the tool has asked for more than advice about its own process.
    private var isTool = false
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - user: The user that the tool runs as. Nil for a tool within the service's process.
    ///   - knowsProcess: Whether the process of the tool is known, so that ``isProcess(of:)`` is called if it has apps.
    ///   - hasRoom: Whether the tool accepts a reply now. ``canSend`` follows in a separate task.
    package init(
        system: BluetoothSystem,
        rights: ToolRights,
        user: UInt32? = nil,
        knowsProcess: Bool = true,
        hasRoom: @escaping () -> Bool = { true },
        send: @escaping (ToolReply) -> Void
    ) {
        self.system = system
        self.rights = rights
        self.user = user
        self.knowsProcess = knowsProcess
        self.hasRoom = hasRoom
        self.send = send
    }

    package func handle(_ message: ToolMessage) {
        guard !isClosed else { return }
        switch message {
        case .ask(let number, let question): ask(question, number)
        case .answer(let number, let answer):
            for case .prompts(let registration) in streams.values {
                system.promptDesk?.answer(number, answer, by: registration)
            }
        case .stop(let number):
            if case .advice(let advice) = streams[number] { return stop(advice, number) }
            finish(number)
        }
    }

    /// Whether packets are sent in full messages only, until ``flush()``.
    package var fillsMessages = false {
        didSet { for case .packets(let stream) in streams.values { stream.fillsMessages = fillsMessages } }
    }

    /// Whether the frames of a simulated radio are sent, beside the packets of the controller.
    package var showsAir = true {
        didSet { for case .packets(let stream) in streams.values { stream.showsAir = showsAir } }
    }

    /// Sends the packets that were collected at once, because the time of the system stands still.
    package func flush() {
        for case .packets(let stream) in streams.values { stream.flush() }
    }

    private func finish(_ number: UInt32) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        budgets[number] = nil
        if case .packets(let stream) = stream { stream.flush() }
        end(stream)
        reply(number, .success(StreamStatus(lost: stream.lost)))
    }

    /// Notes that the tool's process is that of an app as well, which may not answer prompts (AB-G07).
    ///
    /// - Returns: False if it may be answering prompts already, so that it cannot be an app.
    package func isProcess(of app: AppIdentity) -> Bool {
        guard !isTool || !rights.isSuperset(of: .answer) else { return false }
        rights.formIntersection(.inspect)
        if ownApps.count < Self.maximumOwnApps { ownApps.insert(app) }
        return true
    }

    /// Ends all streams and stops replying. The owner of the connection has to call this when the connection ends.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        let ended = streams.values
        streams = [:]
        for stream in ended { end(stream) }
    }

    private func end(_ stream: Stream) {
        switch stream {
        case .monitor(let registration, _): system.observers.remove(registration)
        case .prompts(let registration): system.promptDesk?.remove(registration)
        case .advice(let advice):
            system.observers.remove(advice.registration)
            system.loop.cancel(advice.timer)
        case .packets(let stream): stream.stop()
        }
    }

    // MARK: Questions

    private func ask(_ question: ToolQuestion, _ number: UInt32) {
        guard streams[number] == nil, !pending.contains(number) else {
            return fail(
                number,
                .invalidParameters,
                "question \(number) is still pending; use another number"
            )
        }
        guard rights.isSuperset(of: question.needs) else {
            let reason =
                """
                this user is not permitted to do that; run the tool as the user of the service, or permit it in the service's \
                policy file: with a rule app name=\(ToolRights.toolName) to look, with prompters to answer prompts
                """
            return fail(number, .operationNotSupported, reason)
        }
        if question != .ownAdvice { isTool = true }
        switch question {
        case .status: reply(number, .success(system.status))
        case .devices: whenBondsAreKnown(number) { [self] in reply(number, .success(system.deviceStatus)) }
        case .bonds: withBonds(number) { [self] in reply(number, .success(system.bondStatus)) }
        case .apps: listApps(number)
        case .forgetBond(let peer): withBonds(number) { [self] in forget(peer, number) }
        case .monitor(let kinds): monitor(Observation.Kinds(rawValue: kinds), number)
        case .prompts: receivePrompts(number)
        case .app(let verb, let name, let owner): perform(verb, name, owner, number)
        case .accessory(let accessory, let verb, let name, let owner):
            reply(number, system.perform(verb, on: accessory, ofApp: name, of: owner).map { system.appsStatus })
        case .advice: advise(number) { _ in true }
        case .ownAdvice: startProcessAdvice(number)
        case .packets: followPackets(number)
        }
    }

    /// Answers a question about the bonds, or fails it if they cannot be used: a list without bonds would advise to pair
    /// again.
    private func withBonds(_ number: UInt32, _ answer: @escaping () -> Void) {
        whenBondsAreKnown(number) { [self] in
            if let failure = system.peers.bondFailure {
                return fail(number, .unknown, "paired devices cannot be used: \(failure)")
            }
            guard system.peers.hasOpenBonds else {
                let reason = "bonds belong to a controller, and none has started yet; `harald status` shows why"
                return fail(number, .unknown, reason)
            }
            answer()
        }
    }

    /// Calls `body` once the bonds of the controller are open, or it is certain that there is no controller.
    private func whenBondsAreKnown(_ number: UInt32, _ body: @escaping () -> Void) {
        if system.peers.hasOpenBonds || system.peers.bondFailure != nil { return body() }
        guard beginWaiting(number) else { return }
        system.controllers.whenStateIsKnown { [weak self] in
            guard let self, !isClosed, pending.remove(number) != nil else { return }
            body()
        }
    }

    private func forget(_ peer: UUID, _ number: UInt32) {
        do throws(BondError) {
            try system.peers.forget(peer)
            reply(number, .success(system.bondStatus))
        } catch {
            let isUnknown = if case .unknown = error { true } else { false }
            fail(number, isUnknown ? .unknownDevice : .unknown, "\(error)")
        }
    }

    private func listApps(_ number: UInt32) {
        guard beginWaiting(number) else { return }
        system.findApps { [weak self] status in
            guard let self, pending.remove(number) != nil else { return }
            reply(number, .success(status))
        }
    }

    /// Reserves a place for a question that waits for its answer. Fails the question and returns false if there are too
    /// many.
    private func beginWaiting(_ number: UInt32) -> Bool {
        guard pending.count < Self.maximumPending else {
            fail(number, .outOfSpace, "\(Self.maximumPending) questions are pending already; wait for their answers")
            return false
        }
        pending.insert(number)
        return true
    }

    private func perform(_ verb: AppVerb, _ name: String, _ owner: UInt32?, _ number: UInt32) {
        guard beginWaiting(number) else { return }
        system.perform(verb, on: name, of: owner) { [weak self] result in
            guard let self, pending.remove(number) != nil else { return }
            reply(number, result.map { system.appsStatus })
        }
    }

    // MARK: Streams

    private func hasRoom(for number: UInt32) -> Bool {
        guard streams.count >= Self.maximumStreams else { return true }
        fail(number, .outOfSpace, "a tool may have up to \(Self.maximumStreams) streams; end one first")
        return false
    }

    private func monitor(_ kinds: Observation.Kinds, _ number: UInt32) {
        guard hasRoom(for: number) else { return }
        let known = kinds.intersection(Observation.Kinds(Observation.Kinds.named.map(\.kind)))
        guard !known.isEmpty else { return fail(number, .invalidParameters, "unknown kind of event") }
        let showsContents = rights.isSuperset(of: .control)
        let registration = system.observers.add(known, for: user) { [weak self] in
            self?.observed($0, number, showsContents: showsContents)
        }
        guard let registration else { return fail(number, system.observers.refusal(for: user)) }
        streams[number] = .monitor(registration, lost: 0)
        budgets[number] = kinds.contains(.thinned) ? DiscoveryBudget() : nil
    }

    private func startProcessAdvice(_ number: UInt32) {
        guard knowsProcess else {
            let reason = "the service cannot see this process, as is usual for containers, and gives it no advice"
            return fail(number, .operationNotSupported, reason)
        }
        advise(number) { [weak self] in self?.ownApps.contains($0) == true }
    }

    private func advise(_ number: UInt32, about isWanted: @escaping (AppIdentity) -> Bool) {
        guard hasRoom(for: number) else { return }
        guard let source = system.adviceSource?() else {
            return fail(number, .operationNotSupported, "this service gives no advice")
        }
        let registration = system.observers.add(
            source.kinds,
            for: user,
            counting: { if isWanted($0.app) { source.count($0) } }
        ) { if $0.subject.app.map(isWanted) != false { source.accept($0) } }
        guard let registration else { return fail(number, system.observers.refusal(for: user)) }
        let timer = scheduleAdvice(number, after: Self.adviceInterval)
        streams[number] = .advice(AdviceFollowing(registration: registration, source: source, timer: timer))
    }

    private func scheduleAdvice(_ number: UInt32, after pause: Duration) -> ScheduledTask {
        system.loop.schedule(after: pause) { [weak self] in self?.reviewAdvice(number) }
    }

    private func reviewAdvice(_ number: UInt32) {
        guard case .advice(var advice) = streams[number] else { return }
        if let end = advice.end, !advice.source.isWaiting || system.loop.now >= end {
            sendAdvice(number, advice.source, isLast: true)
            return finish(number)
        }
        sendAdvice(number, advice.source, isLast: false)
        let pause = advice.end == nil ? Self.adviceInterval : Self.lastAdviceInterval
        advice.timer = scheduleAdvice(number, after: pause)
        streams[number] = .advice(advice)
    }

    /// Ends a stream once the places of its advice are known.
    private func stop(_ advice: AdviceFollowing, _ number: UInt32) {
        guard advice.end == nil else { return }
        system.loop.cancel(advice.timer)
        var advice = advice
        advice.end = system.loop.now + Self.finalAdviceTimeout
        streams[number] = .advice(advice)
        reviewAdvice(number)
    }

    /// Sends the advice that is new. A tool without room receives it later: only the last count of each matters.
    private func sendAdvice(_ number: UInt32, _ source: any AdviceSource, isLast: Bool) {
        guard canSend, hasRoom() else { return }
        for advice in source.takeNews(at: system.loop.now, isLast: isLast) {
            if let text = JSONText.of(advice) { send(.event(number: number, text)) }
        }
    }

    private func followPackets(_ number: UInt32) {
        guard hasRoom(for: number) else { return }
        let now = system.loop.now
        let stream = PacketStream(
            system.tap,
            loop: system.loop,
            origin: date(of: now).map { Int64($0 * 1_000_000) - now.microseconds } ?? 0,
            hasRoom: { [weak self] in self.map { $0.canSend && $0.hasRoom() } ?? false },
            send: { [send] in if let text = JSONText.of($0) { send(.event(number: number, text)) } }
        )
        (stream.fillsMessages, stream.showsAir) = (fillsMessages, showsAir)
        if let refusal = stream.start(for: user) { return fail(number, refusal) }
        streams[number] = .packets(stream)
    }

    private func observed(_ observation: Observation, _ number: UInt32, showsContents: Bool) {
        guard case .monitor(let registration, let lost) = streams[number] else { return }
        let isDiscovery = DiscoveryBudget.counts(observation.content)
        if isDiscovery, budgets[number]?.admit(at: observation.time) == false { return }
        lastNumber = observation.number
        guard canSend, hasRoom() else {
            streams[number] = .monitor(registration, lost: lost + 1)
            return
        }
        var event = MonitoredEvent(observation, date: date(of: observation.time), showsContents: showsContents)
        if isDiscovery, let count = budgets[number]?.takeLeftOut(), count > 0 { event.note(leftOut: count) }
        sendEvent(number, event)
    }

    /// Reports the number of missed events once per stream.
    private func sendLosses() {
        for number in streams.keys.sorted() where canSend && hasRoom() {
            guard case .monitor(let registration, let lost) = streams[number], lost > 0 else { continue }
            streams[number] = .monitor(registration, lost: 0)
            let now = system.loop.now
            let seconds = Double(now.nanoseconds) / 1_000_000_000
            sendEvent(number, MonitoredEvent(lost: lost, after: lastNumber, at: seconds, date: date(of: now)))
        }
    }

    /// Returns the time of day of an instant, in seconds since 1970.
    private func date(of instant: Instant) -> Double? {
        system.configuration.calendarTime(at: instant).map { $0 + Date.timeIntervalBetween1970AndReferenceDate }
    }

    private func receivePrompts(_ number: UInt32) {
        guard hasRoom(for: number) else { return }
        guard let desk = system.promptDesk else {
            return fail(number, .operationNotSupported, "this service shows no prompts")
        }
        let isPrompter = streams.values.contains { if case .prompts = $0 { true } else { false } }
        guard !isPrompter else { return fail(number, .invalidParameters, "this tool receives prompts already") }
        guard let registration = desk.add(for: user, { [weak self] in self?.prompt($0) }) else {
            return fail(number, desk.refusal(for: user))
        }
        streams[number] = .prompts(registration)
        desk.open(registration)
    }

    private func prompt(_ reply: ToolReply) {
        // A notice needs no answer and is in the log, so it may be dropped.
        if case .prompt(_, .notice) = reply, !canSend || !hasRoom() { return }
        send(reply)
    }

    // MARK: Replies

    private func sendEvent(_ number: UInt32, _ event: MonitoredEvent) {
        if let text = JSONText.of(event) { send(.event(number: number, text)) }
    }

    private func reply(_ number: UInt32, _ result: Result<some Encodable, ServiceError>) {
        guard !isClosed else { return }
        let text = result.flatMap { value in
            let text = JSONText.of(value)
            return text.map { .success($0) }
                ?? .failure(ServiceError(.unknown, reason: "the answer cannot be encoded as JSON"))
        }
        send(.answer(number: number, text))
    }

    private func fail(_ number: UInt32, _ error: ServiceError?) {
        send(.answer(number: number, .failure(error ?? ServiceError(.unknown, reason: "there is no place"))))
    }

    private func fail(_ number: UInt32, _ code: ServiceError.CoreCode, _ reason: String) {
        send(.answer(number: number, .failure(ServiceError(code, reason: reason))))
    }
}

/// The final reply to a stream that the tool has stopped.
package struct StreamStatus: Codable, Hashable, Sendable {
    /// The number of events lost and not yet reported at its end.
    package var lost: Int
}

extension ToolConversation.Stream {
    fileprivate var lost: Int {
        switch self {
        case .monitor(_, let lost): lost
        case .packets(let stream): stream.lost
        case .prompts, .advice: 0
        }
    }
}

/// Limits the discoveries in a stream of events. In a crowd, a scan that reports duplicates has thousands a second, and
/// each would cost the service more to describe than to report to the app.
struct DiscoveryBudget {
    /// The maximum number of discoveries in the stream during each second.
    static let maximum = 100

    private var begin: Instant?
    private var count = 0
    private var leftOut = 0

    /// Whether an event counts as a discovery, as the release of a peripheral does. An app that keeps no peripherals
    /// releases one for each discovery.
    static func counts(_ content: Observation.Content) -> Bool {
        if case .delivered(.central(.discovered)) = content { return true }
        guard case .requested(.central(.peer(_, let request))) = content, case .forget = request else { return false }
        return true
    }

    /// Returns whether the stream may have another discovery. Counts the ones it may not have.
    mutating func admit(at now: Instant) -> Bool {
        if begin.map({ now - $0 >= .seconds(1) }) ?? true { (begin, count) = (now, 0) }
        guard count < Self.maximum else {
            leftOut += 1
            return false
        }
        count += 1
        return true
    }

    /// Returns the number of discoveries that were left out since the last call.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

/// Encodes replies as JSON, in one line with sorted keys.
package enum JSONText {
    /// Returns the JSON, or nil for a value without one, such as a NaN.
    package static func of(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}
