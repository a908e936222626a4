import BluetoothTypes
import DequeModule
import HCI

/// A machine that finds what caused each packet of a capture: a command, a request, a report, or a frame on the air.
///
/// Packets go in, in the order of the capture, and each comes out with its cause. Memory is bounded: only causes that a
/// later packet may have are kept, up to ``StoryLimits`` and ``CauseLink/maximumOpen``.
package struct PacketCauses: Sendable {
    private struct HandleKey: Hashable, Sendable {
        let adapter: UInt32
        let handle: UInt16
    }

    private struct CommandKey: Hashable, Sendable {
        let adapter: UInt32
        let opcode: UInt16
    }

    /// A link of an adapter.
    private struct Link: Sendable {
        var semantics = CauseLink()
        /// The data packets that the controller has not counted yet.
        var sent = Deque<PacketCause>()
        /// The commands about the link whose procedures go on, by the event that ends them.
        var procedures: [UInt16: PacketCause] = [:]
        /// The access address of the link on the air, if its beginning was received.
        var air: UInt32?
    }

    /// The events that end the procedures of commands, in the form of ``Link/procedures``.
    private static let ends: [UInt16: UInt16] = [
        0x0406: 0x05, 0x041D: 0x0C, 0x2019: 0x08, 0x2013: 0x3E03, 0x2016: 0x3E04, 0x2022: 0x3E07, 0x2032: 0x3E0C,
    ]

    private var commands: [CommandKey: PacketCause] = [:]
    private var links = RecencyTable<HandleKey, Link>(limit: StoryLimits.openLinks)
    private var reports = RecencyTable<UInt64, PacketCause>(limit: 256)
    /// The last commands that switched scanning and advertising on, and that asked for a connection.
    private var scanning: PacketCause?
    private var advertising: PacketCause?
    private var connecting: PacketCause?
    private var air = AirCauses()

    package init() {}

    /// Receives a record of a capture, and returns its cause; nil if it is no packet.
    package mutating func receive(_ record: CaptureRecord, number: UInt64) -> PacketCause? {
        let time = record.unixMicroseconds
        switch record.content {
        case .hci(let packet, let direction):
            return receive(packet, direction, number: number, at: time, adapter: record.adapter)
        case .frame(let linkType, let octets):
            return receive(frame: octets, linkType: linkType, number: number, at: time)
        case .monitor, .log: return nil
        }
    }

    /// Receives an HCI packet.
    ///
    /// - Parameters:
    ///   - number: The number of the packet in the capture.
    ///   - time: The time of the packet, in microseconds.
    package mutating func receive(
        _ packet: HCIPacket,
        _ direction: HCIDirection,
        number: UInt64,
        at time: Int64,
        adapter: UInt32 = 0
    ) -> PacketCause {
        switch packet.kind {
        case .command: command(packet.bytes, number, time, adapter)
        case .event: event(packet.bytes, number, time, adapter)
        case .acl: data(packet.bytes, direction, number, time, adapter)
        case .synchronous, .isochronous: PacketCause(number, at: time, CauseOrigin(.unknown))
        }
    }

    /// Receives a frame of the LE link layer, of a link type of pcap.
    package mutating func receive(
        frame octets: PacketBuffer,
        linkType: UInt32 = AirDissector.linkType,
        number: UInt64,
        at time: Int64
    ) -> PacketCause {
        guard let frame = AirFrame(octets, linkType: linkType) else {
            return PacketCause(number, at: time, CauseOrigin(.unknown))
        }
        return air.receive(frame, number: number, at: time, connecting: connecting, advertising: advertising)
    }

    // MARK: Commands

    private mutating func command(
        _ octets: PacketBuffer,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        let (opcode, data) = (octets.word(at: 0) ?? 0, octets.suffix(after: 3))
        let node = PacketCause(number, at: time, origin(ofCommand: opcode, data, at: time, adapter))
        if commands.count >= CauseLink.maximumOpen { commands = [:] }
        commands[CommandKey(adapter: adapter, opcode: opcode)] = node
        switch opcode {
        case 0x200C, 0x2042: scanning = data.octet(at: 0) == 1 ? node : scanning
        case 0x200A, 0x2039: advertising = data.octet(at: 0) == 1 ? node : advertising
        case 0x200D, 0x2043: connecting = node
        default: break
        }
        if let end = Self.ends[opcode], let handle = data.word(at: 0) {
            withLink(handle, adapter) { $0.procedures[end] = node }
        }
        return node
    }

    private func origin(
        ofCommand opcode: UInt16,
        _ data: PacketBuffer,
        at time: Int64,
        _ adapter: UInt32
    ) -> CauseOrigin {
        func link() -> Link? { data.word(at: 0).flatMap { links[HandleKey(adapter: adapter, handle: $0 & 0xFFF)] } }
        func reported(_ index: Int) -> CauseOrigin? {
            data.address(at: index, isRandom: true).flatMap { reports[$0.value] }
                .map { CauseOrigin(.wantsReported, $0) }
        }
        let origin: CauseOrigin? =
            switch opcode {
            case 0x200D: reported(6)
            case 0x2043: reported(3)
            case 0x2011: reported(1)
            case 0x0406:
                link()?.semantics.overdue(at: time).map { CauseOrigin(.timedOut, $0) } ?? onLink(link())
            case 0x2013: link()?.semantics.parameterRequest.map { CauseOrigin(.replies, $0) } ?? onLink(link())
            case 0x2019:
                link()?.semantics.reasonForSecurity.map { CauseOrigin(.startsSecurity, $0) } ?? onLink(link())
            case 0x201A, 0x201B: link()?.procedures[0x3E05].map { CauseOrigin(.replies, $0) }
            case 0x041D, 0x2016, 0x2022, 0x2032: onLink(link())
            default: nil
            }
        return origin ?? CauseOrigin(.hostDecides)
    }

    private func onLink(_ link: Link?) -> CauseOrigin? {
        link?.semantics.made.map { CauseOrigin(.isOnLink, $0) }
    }

    // MARK: Events

    private mutating func event(
        _ octets: PacketBuffer,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        let (code, data) = (octets.octet(at: 0) ?? 0, octets.suffix(after: 2))
        switch code {
        case 0x0E: return answer(data.word(at: 1), number, time, adapter)
        case 0x0F: return answer(data.word(at: 2), number, time, adapter)
        case 0x13: return completed(data, number, time, adapter)
        case 0x05: return disconnected(data, number, time, adapter)
        case 0x08, 0x59, 0x30:
            return procedureEnd(0x08, data.word(at: 1), number, time, adapter, isSecurity: true)
        case 0x0C: return procedureEnd(0x0C, data.word(at: 1), number, time, adapter)
        case 0x3E: return leEvent(data, number, time, adapter)
        default: return PacketCause(number, at: time, CauseOrigin(.unknown))
        }
    }

    private mutating func answer(
        _ opcode: UInt16?,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        let command = opcode.flatMap { commands.removeValue(forKey: CommandKey(adapter: adapter, opcode: $0)) }
        let origin = command.map { CauseOrigin(answering: $0, .answersCommand) }
        return PacketCause(number, at: time, origin ?? CauseOrigin(.unknown))
    }

    private mutating func leEvent(
        _ data: PacketBuffer,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        let subevent = data.octet(at: 0) ?? 0
        switch subevent {
        case 0x02, 0x0D:
            let node = PacketCause(number, at: time, CauseOrigin(.reportsScan, scanning))
            // The address of the first report.
            if let address = data.address(at: subevent == 0x02 ? 4 : 5, isRandom: true) {
                reports.set(node, for: address.value)
            }
            return node
        case 0x01, 0x0A, 0x29: return connected(data, number, time, adapter)
        case 0x05:
            let handle = data.word(at: 1)
            let node = PacketCause(number, at: time, onLink(link(handle, adapter)) ?? CauseOrigin(.peerDecides))
            if let handle { withLink(handle, adapter) { $0.procedures[0x3E05] = node } }
            return node
        default: return procedureEnd(0x3E00 | UInt16(subevent), data.word(at: 2), number, time, adapter)
        }
    }

    private mutating func connected(
        _ data: PacketBuffer,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        let isCentral = data.octet(at: 4) == 0
        let frame = air.connection(with: [6, 18].compactMap { data.address(at: $0, isRandom: true)?.value }, at: time)
        let command = isCentral ? connecting : advertising
        let rule = isCentral ? PacketRule.completesConnection : .acceptsConnection
        let node = PacketCause(number, at: time, CauseOrigin(rule, frame?.cause ?? command))
        guard data.octet(at: 1) == 0, let handle = data.word(at: 2) else { return node }
        var link = Link()
        (link.semantics.made, link.semantics.isCentral, link.air) = (node, isCentral, frame?.accessAddress)
        links.set(link, for: HandleKey(adapter: adapter, handle: handle & 0xFFF))
        if let frame { air.adopt(frame.accessAddress, isCentral: isCentral) }
        return node
    }

    private mutating func completed(
        _ data: PacketBuffer,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        var counted: PacketCause?
        for index in 0..<Int(data.octet(at: 0) ?? 0) {
            guard let handle = data.word(at: 1 + 4 * index), let count = data.word(at: 3 + 4 * index) else { break }
            withLink(handle, adapter) { link in
                let number = min(Int(count), link.sent.count)
                if number > 0 { counted = link.sent[number - 1] }
                link.sent.removeFirst(number)
            }
        }
        return PacketCause(number, at: time, counted.map { CauseOrigin(.countsPackets, $0) } ?? CauseOrigin(.unknown))
    }

    private mutating func disconnected(
        _ data: PacketBuffer,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        guard let handle = data.word(at: 1),
            let link = links.removeValue(for: HandleKey(adapter: adapter, handle: handle & 0xFFF))
        else { return PacketCause(number, at: time, CauseOrigin(.unknown)) }
        let last = air.last(of: link.air) ?? link.semantics.last.far ?? link.semantics.made
        let origin =
            switch data.octet(at: 3) {
            case 0x16?: link.procedures[0x05].map { CauseOrigin(.performsCommand, $0) }
            case 0x08?: CauseOrigin(.wasGivenUp, last)
            case 0x3E?: link.semantics.made.map { CauseOrigin(.isOnLink, $0) }
            default: CauseOrigin(.peerEnded, air.end(of: link.air) ?? last)
            }
        return PacketCause(number, at: time, origin ?? CauseOrigin(.unknown))
    }

    private mutating func procedureEnd(
        _ end: UInt16,
        _ handle: UInt16?,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32,
        isSecurity: Bool = false
    ) -> PacketCause {
        let link = link(handle, adapter)
        let origin = link?.procedures[end].map { CauseOrigin(.performsCommand, $0) } ?? onLink(link)
        let node = PacketCause(number, at: time, origin ?? CauseOrigin(.unknown))
        if let handle, link != nil {
            withLink(handle, adapter) { link in
                link.procedures[end] = nil
                if isSecurity { link.semantics.endPairing(node) }
            }
        }
        return node
    }

    // MARK: Data

    private mutating func data(
        _ octets: PacketBuffer,
        _ direction: HCIDirection,
        _ number: UInt64,
        _ time: Int64,
        _ adapter: UInt32
    ) -> PacketCause {
        guard let data = try? ACLPacket(reading: octets) else {
            return PacketCause(number, at: time, CauseOrigin(.unknown))
        }
        let side: StorySide = direction == .hostToController ? .near : .far
        let key = HandleKey(adapter: adapter, handle: data.handle.rawValue)
        var link = links.removeValue(for: key) ?? Link()
        defer { links.set(link, for: key) }
        let carrier = side == .far ? air.takeReceived(data.payload.count, of: link.air) : nil
        var origin =
            link.semantics.origin(of: data.payload, isStart: data.boundary.isStart, from: side)
            ?? onLink(link) ?? CauseOrigin(side == .near ? .hostDecides : .peerDecides)
        if let carrier {
            let request = origin.request
            origin = CauseOrigin(.isCarried, carrier)
            origin.request = request
        }
        let node = PacketCause(number, at: time, origin)
        link.semantics.note(data.payload, isStart: data.boundary.isStart, from: side, node)
        guard side == .near else { return node }
        if link.sent.count >= CauseLink.maximumOpen { link.sent.removeFirst() }
        link.sent.append(node)
        air.send(data.payload.count, node, on: link.air)
        return node
    }

    private func link(_ handle: UInt16?, _ adapter: UInt32) -> Link? {
        handle.flatMap { links[HandleKey(adapter: adapter, handle: $0 & 0xFFF)] }
    }

    private mutating func withLink(_ handle: UInt16, _ adapter: UInt32, _ body: (inout Link) -> Void) {
        let key = HandleKey(adapter: adapter, handle: handle & 0xFFF)
        guard var link = links.removeValue(for: key) else { return }
        body(&link)
        links.set(link, for: key)
    }
}
