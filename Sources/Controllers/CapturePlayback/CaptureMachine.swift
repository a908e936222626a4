import BluetoothTypes
import HCI

/// A controller that plays a capture: it answers commands by opcode and requests by content, and plays what followed
/// them in the capture after the same delays.
///
/// Times are nanoseconds since the playback began. The shell is ``CapturePlayer``.
struct CaptureMachine: Sendable {
    /// A connection in the playback.
    struct Link: Sendable {
        /// The handle that the host knows; nil before the connection.
        var handle: UInt16?
        var hasEnded = false
        /// The identifiers of the host's signalling commands, by those of the capture.
        var identifiers: [UInt8: UInt8] = [:]

        var isUp: Bool { handle != nil && !hasEnded }
    }

    /// How long a step may be late before the playback goes on without it.
    static let stepTimeout: Int64 = 5_000_000_000
    /// The delay of made-up answers to PDUs, and of packets that leave the controller.
    static let usualDelay: Int64 = 10_000_000
    /// The number of steps that are looked at for one that waits, and of PDUs for a counterpart.
    static let lookahead = 256

    /// The maximum number of connections at once, fewer than there are handles.
    private static let maximumLinks = 1_000

    let script: CaptureScript
    private(set) var progress: PlaybackProgress
    private(set) var links: [Link]
    private var numbers: [UInt16: Int] = [:]
    private var queue = PlaybackQueue()
    private var isScheduled: [Bool]
    private(set) var activities = PlaybackActivities()
    /// The lanes that have gone on without a step of the host, which has sent nothing there since.
    private var lanesAhead: Set<Lane> = []
    private var assembly = PDUAssembly()
    /// Whether the host has sent a command of an initialization that the capture does not have.
    private var isInitializing = false
    private(set) var report: DepartureReport
    private(set) var now: Int64 = 0
    /// When the host last sent a packet.
    private var lastSent: Int64 = 0
    private var released: [HCIPacket] = []

    /// - Parameter observe: Called with each departure.
    init(_ script: CaptureScript, observe: (@Sendable (CaptureDeparture) -> Void)? = nil) {
        self.script = script
        report = DepartureReport(observe: observe)
        progress = PlaybackProgress(script)
        links = Array(repeating: Link(), count: script.handles.count)
        isScheduled = Array(repeating: false, count: script.steps.count)
        for (index, step) in script.steps.enumerated() where step.lane == .device {
            guard let received = step.received, received.before.isEmpty else { continue }
            plan(index, at: step.time * 1_000)
        }
    }

    /// When the next packet for the host may be due.
    var nextTime: Int64? { queue.nextTime }

    /// When the capture is over, unless the host sends something by then: nothing is due, and every packet of the
    /// capture would have come. Nil while something is due.
    var endTime: Int64? {
        guard nextTime == nil else { return nil }
        var end: Int64 = 0
        if let step = progress.latest, let done = progress.done[step] {
            end = done + (script.duration - script.steps[step].time) * 1_000
        }
        return max(end, lastSent) + Self.stepTimeout
    }

    /// Lets time pass, and plays what is due.
    mutating func advance(to time: Int64) {
        now = max(now, time)
        while let action = queue.takeDue(at: now) { perform(action) }
    }

    /// Removes and returns the packets for the host.
    mutating func takeReleased() -> [HCIPacket] {
        defer { released = [] }
        return released
    }

    // MARK: What the host sends

    /// Receives a packet of the host.
    mutating func receive(_ packet: HCIPacket, at time: Int64) {
        now = max(now, time)
        lastSent = now
        switch packet.kind {
        case .command: receiveCommand(packet)
        case .acl: receiveData(packet)
        case .event, .synchronous, .isochronous: break
        }
    }

    /// Plays the answers to a command, and lets follow what followed it in the capture.
    mutating func matched(_ step: Int) {
        guard let sent = script.steps[step].sent else { return }
        answer(sent, on: script.steps[step].lane)
        happened(step)
        guard case .command(let opcode) = sent.content, let family = CommandFamily(opcode) else { return }
        note(family, starts: family.starts(sent.packet), by: step)
    }

    /// Records an activity that the host starts or stops, by the step of a command if the capture has it.
    mutating func note(_ family: CommandFamily, starts: Bool, by step: Int? = nil) {
        guard family != .cancelConnection else { return }
        guard starts else { return activities.stop(family, at: now) }
        let held = activities.start(family)
        for waiting in held {
            let delay = (script.steps[waiting].time - script.steps[held[0]].time) * 1_000
            queue.add(.play(waiting), at: now + Self.usualDelay + delay)
        }
        goOn(family, after: step.map { script.steps[$0].time }, delay: Self.stepTimeout)
    }

    /// Plans to go on with an activity without the starts that the host may never send: its next step comes after the
    /// time that has passed in the capture, and a delay.
    private mutating func goOn(_ family: CommandFamily, after time: Int64?, delay: Int64) {
        let steps = script.activities[family] ?? []
        guard let next = activities.next(family, in: steps, where: { progress.done[$0] == nil && !isScheduled[$0] })
        else { return }
        let passed = time.map { max(0, script.steps[next].time - $0) * 1_000 } ?? 0
        queue.add(.goOn(family, next), at: now + passed + delay)
    }

    private mutating func playOn(_ family: CommandFamily, _ step: Int) {
        guard progress.done[step] == nil, !isScheduled[step], activities.isActive(family) else { return }
        isScheduled[step] = true
        play(step)
        goOn(family, after: script.steps[step].time, delay: 0)
    }

    mutating func answer(_ sent: CaptureScript.Sent, on lane: Lane) {
        for answer in sent.answers {
            send(script.prepared(mapped(answer.packet, lane)), after: answer.delay * 1_000)
        }
    }

    mutating func send(_ packet: HCIPacket, after delay: Int64) {
        later(.send(packet), after: delay)
    }

    mutating func later(_ action: PlaybackQueue.Action, after delay: Int64) {
        queue.add(action, at: now + delay)
    }

    // MARK: What the capture's controller sends

    private mutating func perform(_ action: PlaybackQueue.Action) {
        switch action {
        case .send(let packet): released.append(packet)
        case .play(let step): play(step)
        case .repeated(let step):
            if let received = script.steps[step].received { emit(received, script.steps[step].lane) }
        case .stopWaiting(let step, let since): stopWaiting(step, since)
        case .goOn(let family, let step): playOn(family, step)
        case .endLink(let link): endLink(link)
        }
    }

    private mutating func stopWaiting(_ step: Int, _ since: Int) {
        let lane = script.steps[step].lane
        guard progress.last[lane] == since, progress.done[step] == nil, !isScheduled[step] else { return }
        let cause = script.steps[step].received?.cause
        if cause.map({ progress.done[$0] == nil }) ?? false { return wait(after: step, since: since) }
        isScheduled[step] = true
        lanesAhead.insert(lane)
        play(step)
    }

    /// Plans to go on without the steps that the host may never send: late for the first one of a lane, and then at the
    /// pace of the capture.
    private mutating func wait(after place: Int, since step: Int) {
        let lane = script.lanes[script.steps[step].lane] ?? []
        let stepTimeout = lanesAhead.contains(script.steps[step].lane) ? 0 : Self.stepTimeout
        let start = progress.places[place] + 1
        for next in lane[min(start, lane.count)...].prefix(Self.lookahead) {
            guard let received = script.steps[next].received, !received.predecessors.isEmpty else { continue }
            guard progress.done[next] == nil, !isScheduled[next] else { continue }
            let delay = (script.steps[next].time - script.steps[step].time) * 1_000
            let due = (progress.done[step] ?? now) + delay + stepTimeout
            return queue.add(.stopWaiting(next, since: step), at: max(now, due))
        }
    }

    private mutating func happened(_ step: Int) {
        if script.steps[step].sent != nil { lanesAhead.remove(script.steps[step].lane) }
        progress.happened(step, script.steps[step].lane, at: now)
        for follower in script.followers[step] { planIfReady(follower) }
        wait(after: step, since: step)
    }

    private mutating func planIfReady(_ step: Int) {
        guard !isScheduled[step], let received = script.steps[step].received else { return }
        var due: Int64 = 0
        for before in received.before {
            guard let time = progress.done[before] else { return }
            due = max(due, time + (script.steps[step].time - script.steps[before].time) * 1_000)
        }
        plan(step, at: due)
    }

    private mutating func plan(_ step: Int, at time: Int64) {
        isScheduled[step] = true
        queue.add(.play(step), at: max(now, time))
    }

    private mutating func play(_ step: Int) {
        let (lane, received) = (script.steps[step].lane, script.steps[step].received)
        guard let received, progress.done[step] == nil else { return }
        if let family = received.content.family {
            guard activities.isActive(family) else { return activities.hold(step, of: family, at: now) }
        }
        if case .link(let link) = lane {
            if case .connected = received.content { connect(link) }
            guard links[link].isUp else { return }
        }
        emit(received, lane)
        switch received.content {
        case .connected(let isCentral): activities.stop(isCentral ? .connect : .advertise, at: now)
        case .cancelled: activities.stop(.connect, at: now)
        case .disconnected: if case .link(let link) = lane { ended(link) }
        case .event, .report, .pdu: break
        }
        happened(step)
    }

    private mutating func emit(_ received: CaptureScript.Received, _ lane: Lane) {
        if case .pdu(let pdu) = received.content, case .link(let link) = lane, pdu.isSignallingAnswer,
            let identifier = pdu.identifier.flatMap({ links[link].identifiers[$0] }), let handle = links[link].handle
        {
            released += pdu.with(identifier: identifier).packets(on: handle)
            return
        }
        released += received.packets.map { mapped($0, lane) }
    }

    // MARK: Connections

    /// The packet with the connection handle of the playback.
    private func mapped(_ packet: HCIPacket, _ lane: Lane) -> HCIPacket {
        guard case .link(let link) = lane, let handle = links[link].handle else { return packet }
        return HandlePlaces.replace(handle, in: packet)
    }

    private mutating func connect(_ link: Int) {
        guard numbers.count < Self.maximumLinks else { return }
        var handle = script.handles[link]
        // A connection that the capture had ended by now may still be there.
        while numbers[handle] != nil { handle = handle == ConnectionHandle.maximum.rawValue ? 0 : handle + 1 }
        links[link].handle = handle
        numbers[handle] = link
    }

    private mutating func ended(_ link: Int) {
        links[link].hasEnded = true
        guard let handle = links[link].handle else { return }
        numbers[handle] = nil
        assembly.forget(handle)
    }

    private mutating func endLink(_ link: Int) {
        guard links[link].isUp, let handle = links[link].handle else { return }
        // Connection Terminated By Local Host.
        released.append(
            HCIPacket(
                .event,
                [0x05, 4, 0, UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8), 0x16]
            )
        )
        ended(link)
    }
}

/// The search for the counterparts of what the host sends.
extension CaptureMachine {
    // MARK: Commands

    mutating func receiveCommand(_ packet: HCIPacket) {
        guard let number = HandlePlaces.word(packet.bytes, 0) else { return }
        let opcode = Opcode(rawValue: number)
        // This command has no answer, and follows what the host received.
        guard opcode != HostNumberOfCompletedPackets.opcode else { return }
        let lane = lane(of: packet)
        let words = PacketPrinter.describe(packet)
        defer { report.lastSent[lane] = words }
        let group = PlaybackProgress.Group.commands(opcode)
        // In the capture the connection may have another handle.
        let compared = script.captured(packet, lane)
        let open = (progress.expected[group] ?? []).filter { script.steps[$0].lane == lane }
        if let step = open.first(where: { script.steps[$0].sent?.packet.bytes == compared.bytes }) ?? open.first {
            let counterpart = script.steps[step].sent?.packet
            if counterpart?.bytes != compared.bytes {
                depart(.different, step, words, Self.reason(opcode), isRandom: Self.random.contains(number))
            }
            _ = progress.match(step, in: group)
            return matched(step)
        }
        let used = (progress.matched[group] ?? []).filter { script.steps[$0].lane == lane }
        let same = used.last { script.steps[$0].sent?.packet.bytes == compared.bytes }
        if let step = same ?? used.last { return repeatCommand(step, packet, words, isSame: same != nil) }
        if initialize(opcode, lane, words) { return }
        invent(opcode, packet, lane, words)
    }

    /// Answers a command of the initialization, if the capture begins after it. Only the first one departs: all the
    /// others would tell the same.
    private mutating func initialize(_ opcode: Opcode, _ lane: Lane, _ words: String) -> Bool {
        guard lane == .device, let answer = script.assumed?.answer(to: opcode) else { return false }
        if !isInitializing {
            let text = "the capture begins after the controller's initialization; its answers are made up"
            depart(.additional, next(on: lane), words, text)
        }
        isInitializing = true
        send(HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: answer)), after: 0)
        return true
    }

    /// The commands whose parameters are random numbers of the host, or follow from them.
    private static let random: Set<UInt16> = [
        0x2005, 0x2017, 0x2019, 0x201A, 0x2026, 0x2027, 0x2029, 0x2035, 0x204E, 0x205E,
    ]

    private static func reason(_ opcode: Opcode) -> String {
        random.contains(opcode.rawValue)
            ? "the parameters follow from random numbers of the stack" : "answered as the command of the capture was"
    }

    /// Answers a command that the host sends more often than in the capture as before.
    private mutating func repeatCommand(_ step: Int, _ packet: HCIPacket, _ words: String, isSame: Bool) {
        let (sent, lane) = (script.steps[step].sent, script.steps[step].lane)
        guard let sent, case .command(let opcode) = sent.content else { return }
        let text = "sent more often than in the capture; answered as before"
        let isRandom = !isSame && Self.random.contains(opcode.rawValue)
        depart(isSame ? .repeated : .additional, next(on: lane), words, text, isRandom: isRandom)
        answer(sent, on: lane)
        if let family = CommandFamily(opcode) { return activity(family, packet) }
        if opcode == Disconnect.opcode, case .link(let link) = lane {
            return later(.endLink(link), after: Self.usualDelay)
        }
        for follower in script.followers[step] {
            guard let received = script.steps[follower].received, received.cause == step else { continue }
            guard received.content == .event else { continue }
            later(.repeated(follower), after: (script.steps[follower].time - script.steps[step].time) * 1_000)
        }
    }

    /// Starts or stops an activity by a command that has no counterpart.
    private mutating func activity(_ family: CommandFamily, _ packet: HCIPacket) {
        if family == .cancelConnection { return cancelConnection() }
        note(family, starts: family.starts(packet))
    }

    private mutating func cancelConnection() {
        guard activities.isActive(.connect) else { return }
        note(.connect, starts: false)
        // The outcome of a cancelled attempt: Unknown Connection Identifier (Core Vol 4 Part E 7.8.13).
        var failure = LEConnectionComplete()
        failure.status = HCIStatus(rawValue: 0x02)
        send(HCIPacket(failure), after: 0)
    }

    /// Answers a command that is not in the capture.
    private mutating func invent(_ opcode: Opcode, _ packet: HCIPacket, _ lane: Lane, _ words: String) {
        if let family = CommandFamily(opcode), family.starts(packet), let step = progress.starts[family]?.first {
            depart(.different, step, words, "taken for another command with the same effect; the answer is made up")
            complete(opcode)
            if let sent = script.steps[step].sent {
                _ = progress.match(step, in: PlaybackProgress.group(of: sent, script.steps[step].lane))
            }
            happened(step)
            return note(family, starts: true, by: step)
        }
        let isKnown = complete(opcode)
        let text =
            isKnown ? "not in the capture; success is made up" : "not in the capture; answered with Unknown HCI Command"
        depart(.additional, next(on: lane), words, text)
        if let family = CommandFamily(opcode) { activity(family, packet) }
        guard opcode == Disconnect.opcode, case .link(let link) = lane else { return }
        later(.endLink(link), after: Self.usualDelay)
    }

    /// Makes up an answer to a command. Returns whether it is a success.
    @discardableResult
    private mutating func complete(_ opcode: Opcode) -> Bool {
        guard let type = HCICommandRegistry.type(for: opcode) else { return refuse(opcode) }
        if type.isUnanswered { return true }
        if type.isAnsweredByStatus {
            let isPossible = CommandFamily(opcode) == .connect || opcode == Disconnect.opcode
            let status = isPossible ? HCIStatus.success : .unknownCommand
            send(HCIPacket(CommandStatus(status: status, credits: 1, opcode: opcode)), after: 0)
            return isPossible
        }
        guard HCICommandRegistry.hasStatusOnly(type) else { return refuse(opcode) }
        send(HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: [0])), after: 0)
        return true
    }

    private mutating func refuse(_ opcode: Opcode) -> Bool {
        let status = HCIStatus.unknownCommand.rawValue
        send(HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: [status])), after: 0)
        return false
    }

    private func lane(of packet: HCIPacket) -> Lane {
        HandlePlaces.handle(in: packet).flatMap { numbers[$0] }.map { .link($0) } ?? .device
    }

    // MARK: Data

    mutating func receiveData(_ packet: HCIPacket) {
        guard let handle = HandlePlaces.handle(in: packet), let link = numbers[handle] else { return }
        guard let whole = assembly.add(packet) else { return completed(1, on: handle, after: Self.usualDelay) }
        let completion = receivePDU(whole.pdu, link)
        completed(1, on: handle, after: completion.map { $0 * 1_000 } ?? Self.usualDelay)
    }

    /// Reports that packets of the host have left the controller.
    private mutating func completed(_ count: UInt16, on handle: UInt16, after delay: Int64) {
        let entry = CompletedPackets(handle: ConnectionHandle(rawValue: handle), count: count)
        send(HCIPacket(NumberOfCompletedPackets(entries: [entry])), after: delay)
    }

    /// Handles a PDU of the host. Returns the time that its counterpart took to leave the controller.
    private mutating func receivePDU(_ pdu: ChannelPDU, _ link: Int) -> Int64? {
        let words = pdu.words
        defer { report.lastSent[.link(link)] = words }
        let group = PlaybackProgress.Group.channel(link: link, pdu.channel)
        guard let (step, counterpart) = counterpart(of: pdu, group) else {
            invent(pdu, link, words)
            return nil
        }
        if pdu.likeness(to: counterpart) != .same {
            let text =
                pdu.isRandom
                ? "pairing has fresh random numbers, which the peer of the capture cannot answer"
                : "answered as the packet of the capture was"
            depart(.different, step, words, text, isRandom: pdu.isRandom)
        }
        if progress.match(step, in: group) {
            depart(.order, step, words, "sent after packets that the capture's host sent later")
        }
        if let captured = counterpart.identifier, let identifier = pdu.identifier {
            links[link].identifiers[captured] = identifier
        }
        matched(step)
        return script.steps[step].sent?.completion
    }

    private func counterpart(of pdu: ChannelPDU, _ group: PlaybackProgress.Group) -> (Int, ChannelPDU)? {
        var similar: (Int, ChannelPDU)?
        for step in (progress.expected[group] ?? []).prefix(Self.lookahead) {
            guard case .pdu(let other)? = script.steps[step].sent?.content else { continue }
            switch pdu.likeness(to: other) {
            case .same: return (step, other)
            case .kind: similar = similar ?? (step, other)
            case .none: break
            }
        }
        return similar
    }

    /// Answers a PDU that has no counterpart.
    private mutating func invent(_ pdu: ChannelPDU, _ link: Int, _ words: String) {
        let next = next(on: .link(link))
        if pdu.isAttributeRequest, let answer = earlierAnswer(to: pdu, link) {
            depart(.repeated, next, words, "sent more often than in the capture; answered as before")
            return later(.repeated(answer.step), after: answer.delay)
        }
        guard let answer = madeUpAnswer(to: pdu, link), let handle = links[link].handle else {
            return depart(.additional, next, words, "not in the capture")
        }
        let text =
            answer.code == 0x01
            ? "not in the capture; answered with an error" : "not in the capture; the answer is made up"
        depart(.additional, next, words, pdu.isAttributeRequest && answer.code != 0x01 ? Self.fromTable : text)
        for packet in answer.packets(on: handle) { send(packet, after: Self.usualDelay) }
    }

    private static let fromTable = "not in the capture; answered from what the capture tells of the peer's attributes"

    private func earlierAnswer(to pdu: ChannelPDU, _ link: Int) -> (step: Int, delay: Int64)? {
        let used = progress.matched[.channel(link: link, pdu.channel)] ?? []
        let step = used.last { step in
            guard case .pdu(let other)? = script.steps[step].sent?.content else { return false }
            return other == pdu
        }
        guard let step else { return nil }
        let answer = script.followers[step].first { script.steps[$0].received?.cause == step }
        return answer.map { ($0, (script.steps[$0].time - script.steps[step].time) * 1_000) }
    }

    private func madeUpAnswer(to pdu: ChannelPDU, _ link: Int) -> ChannelPDU? {
        if pdu.isAttributeRequest { return script.tables[link].answers(pdu) }
        // An indication needs its confirmation.
        if pdu.channel == ChannelPDU.attributes, pdu.code == 0x1D { return ChannelPDU(channel: pdu.channel, [0x1E]) }
        guard pdu.isSignallingRequest, let identifier = pdu.identifier else { return nil }
        // Command Reject, as by a peer that does not know the command (Core Vol 3 Part A 4.1).
        return ChannelPDU(channel: pdu.channel, [0x01, identifier, 2, 0, 0, 0])
    }

    // MARK: Departures

    mutating func depart(
        _ kind: CaptureDeparture.Kind,
        _ step: Int?,
        _ words: String,
        _ explanation: String,
        isRandom: Bool = false
    ) {
        report.add(
            CaptureDeparture(
                kind: kind,
                time: Double(now) / 1e9,
                captured: step.map { script.words(of: $0) },
                capturedTime: step.map { Double(script.steps[$0].time) / 1e6 },
                sent: words,
                explanation: explanation,
                isRandom: isRandom
            )
        )
    }

    /// The packet that the host of the capture sent next on a lane.
    private func next(on lane: Lane) -> Int? {
        let steps = script.lanes[lane] ?? []
        let start = progress.last[lane].map { progress.places[$0] + 1 } ?? 0
        return steps[min(start, steps.count)...].prefix(Self.lookahead).first {
            script.steps[$0].sent != nil && progress.done[$0] == nil
        }
    }
}
