import BluetoothTypes
import HCI

/// Builds a script from the packets of a capture, one after the other.
struct ScriptBuilder {
    private var script = CaptureScript()
    private var assemblies: [HCIDirection: PDUAssembly] = [.hostToController: .init(), .controllerToHost: .init()]
    /// The open connections by handle.
    private var links: [UInt16: Int] = [:]
    /// The commands without an answer, by opcode.
    private var unanswered: [Opcode: [Int]] = [:]
    /// The last command of each family that started its activity.
    private var started: [CommandFamily: Int] = [:]
    /// The last commands of each connection, and of the device, that may cause an event.
    private var causes: [Lane: [UInt16: Int]] = [:]
    /// The packets of the host that have not left the controller, by connection: their PDUs.
    private var outstanding: [Int: [(step: Int, isLast: Bool)]] = [:]
    /// The last PDUs of each channel that get an answer.
    private var requests: [ChannelKey: Int] = [:]
    /// The subscriptions to values, by connection.
    private var subscriptions: [Int: [(pdu: ChannelPDU, step: Int)]] = [:]
    private var usedCommands: Set<UInt16> = []
    /// The last successful connection.
    private var lastConnection: Int?
    /// The credit-based channels of each connection, and the last PDU of the host on each of them.
    private var channels: [Int: ChannelPairs] = [:]
    private var sentOnChannel: [Int: [UInt16: Int]] = [:]
    /// The last PDU of the peer on each channel that is no answer.
    private var receivedOnChannel: [Int: [UInt16: Int]] = [:]
    /// The last credits that the host granted, by the channel that they are for.
    private var granted: [Int: [UInt16: Int]] = [:]
    /// The last step of each lane.
    private var last: [Lane: Int] = [:]

    private struct ChannelKey: Hashable {
        let link: Int
        let channel: UInt16
        let detail: UInt8
    }

    /// The commands that cause an event, by the event; the key of an LE event is its subevent and 0x3E00.
    private static let commands: [UInt16: [UInt16]] = [
        0x05: [0x0406], 0x08: [0x2019, 0x201A], 0x59: [0x2019, 0x201A], 0x30: [0x2019, 0x201A], 0x0C: [0x041D],
        0x3E03: [0x2013, 0x2020], 0x3E04: [0x2016], 0x3E07: [0x2022], 0x3E08: [0x2025], 0x3E09: [0x2026, 0x205E],
        0x3E0C: [0x2032], 0x3E0E: [0x2044], 0x3E24: [0x2044], 0x3E11: [0x2042], 0x3E12: [0x2039], 0x3E13: [0x2039],
        0x3E1F: [0x206D], 0x3E23: [0x207E],
    ]
    /// The events of scanning: advertising reports.
    private static let reports: Set<UInt16> = [0x3E02, 0x3E0B, 0x3E0D]
    private static let connections: Set<UInt16> = [0x3E01, 0x3E0A, 0x3E29]

    mutating func add(_ packet: HCIPacket, _ direction: HCIDirection, at time: Int64) {
        switch (packet.kind, direction) {
        case (.command, .hostToController): addCommand(packet, at: time)
        case (.event, .controllerToHost): addEvent(packet, at: time)
        case (.acl, _): addData(packet, direction, at: time)
        default: break
        }
    }

    func finished() -> CaptureScript {
        var script = script
        script.isLegacy =
            usedCommands.isDisjoint(with: CommandFamily.extended)
            && !usedCommands.isDisjoint(with: CommandFamily.legacy)
        for index in script.tables.indices { script.tables[index].finish() }
        script.assumed = AssumedController(usedCommands)
        script.followers = Array(repeating: [], count: script.steps.count)
        for (index, step) in script.steps.enumerated() {
            script.lanes[step.lane, default: []].append(index)
            guard let received = step.received else { continue }
            for before in Set(received.before) {
                script.followers[before].append(index)
            }
        }
        return script
    }

    // MARK: Commands and events

    private func lane(of packet: HCIPacket) -> Lane {
        HandlePlaces.handle(in: packet).flatMap { links[$0] }.map { .link($0) } ?? .device
    }

    private mutating func addCommand(_ packet: HCIPacket, at time: Int64) {
        guard let number = HandlePlaces.word(packet.bytes, 0) else { return }
        let opcode = Opcode(rawValue: number)
        guard opcode != HostNumberOfCompletedPackets.opcode else { return }
        usedCommands.insert(number)
        let lane = lane(of: packet)
        let index = append(time, lane, .sent(.init(content: .command(opcode), packet: packet)))
        unanswered[opcode, default: []].append(index)
        causes[lane, default: [:]][number] = index
        if let family = CommandFamily(opcode), family.starts(packet) { started[family] = index }
    }

    private mutating func addEvent(_ packet: HCIPacket, at time: Int64) {
        guard packet.bytes.count >= 2 else { return }
        switch packet.bytes[0] {
        case 0x0E: answer(HandlePlaces.word(packet.bytes, 3), packet, at: time)
        case 0x0F: answer(HandlePlaces.word(packet.bytes, 4), packet, at: time)
        case 0x13: complete(packet, at: time)
        case 0x3E where packet.bytes.count > 2: addEvent(0x3E00 | UInt16(packet.bytes[2]), packet, at: time)
        default: addEvent(UInt16(packet.bytes[0]), packet, at: time)
        }
    }

    private mutating func answer(_ number: UInt16?, _ packet: HCIPacket, at time: Int64) {
        guard let number, let index = unanswered[Opcode(rawValue: number)]?.first else { return }
        unanswered[Opcode(rawValue: number)]?.removeFirst()
        changeSent(index) { [delay = time - script.steps[index].time] in $0.answers.append((packet, delay)) }
    }

    private mutating func complete(_ packet: HCIPacket, at time: Int64) {
        guard let event = try? EventPacket(reading: packet.bytes),
            let completed = try? NumberOfCompletedPackets.reading(event.parameters)
        else { return }
        for entry in completed.entries {
            guard let link = links[entry.handle.rawValue], var waiting = outstanding[link] else { continue }
            for _ in 0..<min(Int(entry.count), waiting.count) {
                let (step, isLast) = waiting.removeFirst()
                guard isLast, step < script.steps.count else { continue }
                changeSent(step) { [delay = time - script.steps[step].time] in $0.completion = delay }
            }
            outstanding[link] = waiting
        }
    }

    private mutating func addEvent(_ key: UInt16, _ packet: HCIPacket, at time: Int64) {
        if Self.connections.contains(key) { return connected(packet, at: time) }
        if Self.reports.contains(key) { return append(.report, packet, .device, at: time) }
        let lane = lane(of: packet)
        var cause = causeOf(key, in: lane)
        if key == 0x3E12, let connection = lastConnection, case .link = lane { cause = connection }
        let content: CaptureScript.ReceivedContent = key == 0x05 ? .disconnected : .event
        var step = received(content, packet, cause: cause, after: lane)
        // A peer that ends the connection does so after all that the host sent until then.
        if key == 0x05, cause == nil, case .link(let link) = lane, case .received(var end) = step {
            end.predecessors = Set(end.predecessors + (sentOnChannel[link] ?? [:]).values).sorted()
            step = .received(end)
        }
        append(time, lane, step)
        guard key == 0x05, let handle = HandlePlaces.handle(in: packet), packet.bytes.count > 2, packet.bytes[2] == 0
        else { return }
        forget(handle)
    }

    private mutating func causeOf(_ key: UInt16, in lane: Lane) -> Int? {
        let found = (Self.commands[key] ?? []).compactMap { causes[lane]?[$0] ?? causes[.device]?[$0] }.max()
        // The next event of this kind has another cause, unless it may come again and again.
        if found != nil, key != 0x3E13 {
            for number in Self.commands[key] ?? [] { causes[lane]?[number] = nil }
        }
        return found
    }

    private mutating func connected(_ packet: HCIPacket, at time: Int64) {
        guard packet.bytes.count > 6, let handle = HandlePlaces.handle(in: packet) else { return }
        guard packet.bytes[3] == 0 else {
            let cancel = causes[.device]?[0x200E]
            append(time, .device, received(.cancelled, packet, cause: cancel ?? started[.connect]))
            return
        }
        let isCentral = packet.bytes[6] == 0
        forget(handle)
        let link = script.handles.count
        script.handles.append(handle)
        script.tables.append(CapturedTable())
        links[handle] = link
        append(.connected(isCentral: isCentral), packet, .link(link), at: time)
        lastConnection = script.steps.count - 1
    }

    /// Adds what belongs to an activity of the host. It follows the last start of the activity, unless the host starts
    /// it less often than in the capture.
    private mutating func append(
        _ content: CaptureScript.ReceivedContent,
        _ packet: HCIPacket,
        _ lane: Lane,
        at time: Int64
    ) {
        guard let family = content.family else { return }
        let start = started[family]
        script.activities[family, default: []].append(script.steps.count)
        append(time, lane, received(content, packet, cause: start))
    }

    private mutating func forget(_ handle: UInt16) {
        links[handle] = nil
        for direction in [HCIDirection.hostToController, .controllerToHost] { assemblies[direction]?.forget(handle) }
    }

    // MARK: Data

    private mutating func addData(_ packet: HCIPacket, _ direction: HCIDirection, at time: Int64) {
        guard let handle = HandlePlaces.handle(in: packet) else { return }
        guard let link = links[handle] else {
            script.handlesWithoutBeginning[handle, default: 0] += 1
            return
        }
        let whole = assemblies[direction]?.add(packet)
        guard direction == .controllerToHost else {
            // The step that a part of a PDU belongs to is the one that its last part makes.
            outstanding[link, default: []].append((script.steps.count, whole != nil))
            if let whole { addSent(whole, link, at: time) }
            return
        }
        if let whole { addReceived(whole, link, at: time) }
    }

    private mutating func addSent(_ whole: PDUAssembly.Whole, _ link: Int, at time: Int64) {
        let pdu = whole.pdu
        guard let packet = whole.packets.first else { return }
        let index = append(time, .link(link), .sent(.init(content: .pdu(pdu), packet: packet)))
        script.tables[link].request(pdu)
        channels[link, default: .init()].receive(pdu, isSent: true)
        sentOnChannel[link, default: [:]][pdu.channel] = index
        // The data that the peer sends next may need the host's credits.
        if let channel = ChannelPairs.grantedChannel(pdu) { granted[link, default: [:]][channel] = index }
        requests[key(of: pdu, link)] = index
        if [0x12, 0x52].contains(pdu.code), pdu.channel == ChannelPDU.attributes, pdu.payload.count == 5 {
            subscriptions[link, default: []].append((pdu, index))
        }
    }

    private mutating func addReceived(_ whole: PDUAssembly.Whole, _ link: Int, at time: Int64) {
        let pdu = whole.pdu
        script.tables[link].answer(pdu)
        var cause: Int?
        if pdu.isAttributeResponse || pdu.isSignallingAnswer || pdu.code == 0x1E && pdu.channel == ChannelPDU.attributes
        {
            cause = requests[key(of: pdu, link)]
        } else if pdu.isValue, let value = pdu.attribute {
            cause = subscriptions[link]?.last { $0.pdu.subscribes(to: value) }?.step
        }
        var received = CaptureScript.Received(content: .pdu(pdu), packets: whole.packets, cause: cause)
        // Answers wait for their request alone; all else keeps its place on the connection too.
        if cause == nil || pdu.isValue { received.predecessors = predecessors(of: pdu, link) }
        channels[link, default: .init()].receive(pdu, isSent: false)
        let index = append(time, .link(link), .received(received))
        if received.cause == nil || pdu.isValue { receivedOnChannel[link, default: [:]][pdu.channel] = index }
    }

    /// The last step of the connection, and the last one of the host on the same credit-based channel: what arrives
    /// there answers it more often than not, and other packets that are independent of it may have come in between.
    private func predecessors(of pdu: ChannelPDU, _ link: Int) -> [Int] {
        let onChannel = channels[link]?.sendingEnd(for: pdu).flatMap { sentOnChannel[link]?[$0] }
        let credits = granted[link]?[pdu.channel]
        let received = receivedOnChannel[link]?[pdu.channel]
        return Set([last[.link(link)], onChannel, credits, received].compactMap { $0 }).sorted()
    }

    /// The exchange on a channel that a PDU belongs to: a request of the host and its answer have the same one.
    private func key(of pdu: ChannelPDU, _ link: Int) -> ChannelKey {
        let isConfirmation = pdu.channel == ChannelPDU.attributes && [0x1D, 0x1E].contains(pdu.code)
        let isOfClient = pdu.isAttributeRequest || pdu.isAttributeResponse
        let detail = pdu.identifier ?? (isConfirmation ? 1 : isOfClient ? 2 : 3)
        return ChannelKey(link: link, channel: pdu.channel, detail: detail)
    }

    // MARK: Steps

    private func received(
        _ content: CaptureScript.ReceivedContent,
        _ packet: HCIPacket,
        cause: Int?,
        after lane: Lane? = nil
    ) -> CaptureScript.Role {
        let predecessor = cause == nil ? lane.flatMap { last[$0] } : nil
        let predecessors = predecessor.map { [$0] } ?? []
        return .received(.init(content: content, packets: [packet], cause: cause, predecessors: predecessors))
    }

    @discardableResult
    private mutating func append(_ time: Int64, _ lane: Lane, _ role: CaptureScript.Role) -> Int {
        script.steps.append(.init(time: time, lane: lane, role: role))
        last[lane] = script.steps.count - 1
        return script.steps.count - 1
    }

    private mutating func changeSent(_ index: Int, _ change: (inout CaptureScript.Sent) -> Void) {
        guard case .sent(var sent) = script.steps[index].role else { return }
        change(&sent)
        script.steps[index].role = .sent(sent)
    }
}
