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
    static let patience: Int64 = 5_000_000_000
    /// The delay of made-up answers to PDUs, and of packets that leave the controller.
    static let usualDelay: Int64 = 10_000_000
    /// The number of steps that are looked at for one that waits, and of PDUs for a counterpart.
    static let lookahead = 256

    /// The maximum number of connections at once, fewer than there are handles.
    private static let maximumLinks = 1_000

    let script: CaptureScript
    var progress: PlaybackProgress
    var links: [Link]
    var numbers: [UInt16: Int] = [:]
    private var queue = PlaybackQueue()
    private var isScheduled: [Bool]
    /// The activities that the host has started, by the command.
    private var active: Set<CommandFamily> = []
    /// The steps that came while the host had stopped their activity.
    private var held: [CommandFamily: [Int]] = [:]
    var assembly = PDUAssembly()
    var report = DepartureReport()
    private(set) var now: Int64 = 0
    private var released: [HCIPacket] = []

    init(_ script: CaptureScript) {
        self.script = script
        progress = PlaybackProgress(script)
        links = Array(repeating: Link(), count: script.handles.count)
        isScheduled = Array(repeating: false, count: script.steps.count)
        for (index, step) in script.steps.enumerated() where step.lane == .device {
            guard let received = step.received, received.cause == nil, received.predecessor == nil else { continue }
            plan(index, at: step.time * 1_000)
        }
    }

    /// When the next packet for the host may be due.
    var nextTime: Int64? { queue.nextTime }

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
        note(family, starts: family.starts(sent.packet))
    }

    /// Lets follow what followed a command in the capture, for another command with the same effect.
    mutating func startedOtherwise(_ step: Int, _ family: CommandFamily) {
        happened(step)
        note(family, starts: true)
    }

    /// Records an activity that the host starts or stops.
    mutating func note(_ family: CommandFamily, starts: Bool) {
        guard family != .cancelConnection else { return }
        if starts { active.insert(family) } else { active.remove(family) }
    }

    func isActive(_ family: CommandFamily) -> Bool { active.contains(family) }

    mutating func answer(_ sent: CaptureScript.Sent, on lane: Lane) {
        for answer in sent.answers {
            send(script.prepared(mapped(answer.packet, lane)), after: answer.delay * 1_000)
        }
    }

    /// Goes on with what waits for an activity that the host starts once more than in the capture.
    mutating func resume(_ family: CommandFamily) {
        active.insert(family)
        let steps = held[family] ?? []
        held[family] = nil
        guard let first = steps.first else { return }
        for step in steps {
            let delay = (script.steps[step].time - script.steps[first].time) * 1_000
            queue.add(.play(step), at: now + Self.usualDelay + delay)
        }
    }

    mutating func send(_ packet: HCIPacket, after delay: Int64) {
        queue.add(.send(packet), at: now + delay)
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
        case .endLink(let link): endLink(link)
        }
    }

    private mutating func stopWaiting(_ step: Int, _ since: Int) {
        let lane = script.steps[step].lane
        guard progress.last[lane] == since, progress.done[step] == nil, !isScheduled[step] else { return }
        let cause = script.steps[step].received?.cause
        if cause.map({ progress.done[$0] == nil }) ?? false { return wait(after: step, since: since) }
        isScheduled[step] = true
        play(step)
    }

    /// Plans to go on without the steps that the host may never send.
    private mutating func wait(after place: Int, since step: Int) {
        let lane = script.lanes[script.steps[step].lane] ?? []
        let start = progress.places[place] + 1
        for next in lane[min(start, lane.count)...].prefix(Self.lookahead) {
            guard let received = script.steps[next].received, received.predecessor != nil else { continue }
            guard progress.done[next] == nil, !isScheduled[next] else { continue }
            let delay = (script.steps[next].time - script.steps[step].time) * 1_000
            let due = (progress.done[step] ?? now) + delay + Self.patience
            return queue.add(.stopWaiting(next, since: step), at: max(now, due))
        }
    }

    private mutating func happened(_ step: Int) {
        progress.happened(step, script.steps[step].lane, at: now)
        for follower in script.followers[step] { planIfReady(follower) }
        wait(after: step, since: step)
    }

    private mutating func planIfReady(_ step: Int) {
        guard !isScheduled[step], let received = script.steps[step].received else { return }
        var due: Int64 = 0
        for before in [received.cause, received.predecessor].compactMap({ $0 }) {
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
            guard active.contains(family) else {
                held[family, default: []].append(step)
                return
            }
        }
        if case .link(let link) = lane {
            if case .connected = received.content { connect(link) }
            guard links[link].isUp else { return }
        }
        emit(received, lane)
        switch received.content {
        case .connected(let isCentral): active.remove(isCentral ? .connect : .advertise)
        case .cancelled: active.remove(.connect)
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

extension CaptureScript.ReceivedContent {
    /// The activity without which a controller does not send it.
    fileprivate var family: CommandFamily? {
        switch self {
        case .report: .scan
        case .connected(let isCentral): isCentral ? .connect : .advertise
        case .event, .pdu, .cancelled, .disconnected: nil
        }
    }
}

extension CaptureScript {
    /// An answer as the playback sends it: with room for another command, and without the support of extended
    /// advertising if the capture's host did not use it.
    fileprivate func prepared(_ answer: HCIPacket) -> HCIPacket {
        var octets = [UInt8](answer.bytes)
        let credits = octets.first == 0x0E ? 2 : 3
        guard octets.count > credits else { return answer }
        octets[credits] = max(octets[credits], 1)
        guard isLegacy, octets[0] == 0x0E, octets.count > 8 else { return HCIPacket(.event, PacketBuffer(octets)) }
        let opcode = UInt16(octets[3]) | UInt16(octets[4]) << 8
        switch opcode {
        case ReadLocalSupportedCommands.opcode.rawValue:
            for number in CommandFamily.extended {
                let bit = HCICommandRegistry.type(for: Opcode(rawValue: number))?.supportBit
                guard let bit, octets.count > 6 + bit.octet else { continue }
                octets[6 + bit.octet] &= ~(1 << UInt8(truncatingIfNeeded: bit.bit))
            }
        // Bits 12 and 13 of the features: extended and periodic advertising.
        case LEReadLocalSupportedFeatures.opcode.rawValue: octets[7] &= 0xCF
        case LEReadAllLocalSupportedFeatures.opcode.rawValue: octets[8] &= 0xCF
        default: break
        }
        return HCIPacket(.event, PacketBuffer(octets))
    }
}
