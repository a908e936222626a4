import BluetoothTypes
import HCI

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
        invent(opcode, packet, lane, words)
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
        if family.starts(packet) { resume(family) } else { note(family, starts: false) }
    }

    private mutating func cancelConnection() {
        guard isActive(.connect) else { return }
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
            return startedOtherwise(step, family)
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
        guard let whole = assembly.add(packet)?.whole else { return completed(1, on: handle, after: Self.usualDelay) }
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
        if pdu.likeness(to: counterpart) != .same { different(pdu, counterpart, step, words) }
        if progress.match(step, in: group) {
            depart(.order, step, words, "sent after packets that the capture's host sent later")
        }
        if let captured = counterpart.identifier, let identifier = pdu.identifier {
            links[link].identifiers[captured] = identifier
        }
        matched(step)
        return script.steps[step].sent?.completion
    }

    private mutating func different(_ pdu: ChannelPDU, _ counterpart: ChannelPDU, _ step: Int, _ words: String) {
        let text =
            switch pdu.channel {
            case ChannelPDU.security where pdu.isRandom:
                "pairing has fresh random numbers, which the peer of the capture cannot answer"
            default: "answered as the packet of the capture was"
            }
        depart(.different, step, words, text, isRandom: pdu.isRandom)
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

extension HCICommandRegistry {
    /// Whether the answer to a command has nothing but a status.
    static func hasStatusOnly(_ command: any HCICommand.Type) -> Bool {
        func isStatus<C: HCICommand>(_ command: C.Type) -> Bool { C.Response.self == StatusOnly.self }
        return isStatus(command)
    }
}

extension CaptureScript {
    /// A step of the host in words.
    func words(of step: Int) -> String {
        guard let sent = steps[step].sent else { return "" }
        return switch sent.content {
        case .command: PacketPrinter.describe(sent.packet)
        case .pdu(let pdu): pdu.words
        }
    }

    /// A packet of the playback with the connection handle of the capture.
    func captured(_ packet: HCIPacket, _ lane: Lane) -> HCIPacket {
        guard case .link(let link) = lane else { return packet }
        return HandlePlaces.replace(handles[link], in: packet)
    }
}
