import BluetoothTypes
import HCI

/// The identity resolving keys of a capture, which a redactor has to know before it replaces the first address.
package struct RedactionKeys: Sendable {
    /// The keys, least significant octet first.
    package private(set) var keys: [PacketBuffer] = []
    package private(set) var hasFrames = false

    package init() {}

    /// Receives a record, in the order of the capture.
    package mutating func learn(_ record: CaptureRecord) {
        if case .frame = record.content { hasFrames = true }
        guard case .hci(let packet, _) = record.content else { return }
        switch packet.kind {
        case .command:
            guard packet.bytes.word(at: 0) == LEAddDeviceToResolvingList.opcode.rawValue, packet.bytes.count >= 42
            else {
                return
            }
            add(packet.bytes.slice(10..<26))
            add(packet.bytes.slice(26..<42))
        case .acl:
            // Identity Information, a PDU of 17 octets, which fits any packet (Core Vol 3 Part H 3.6.4).
            let bytes = packet.bytes
            guard bytes.count == 25, bytes.word(at: 6) == 0x0006, bytes[8] == 0x08 else { return }
            add(bytes.slice(9..<25))
        default: break
        }
    }

    private mutating func add(_ key: PacketBuffer) {
        guard !keys.contains(key), keys.count < StoryLimits.keys, key.contains(where: { $0 != 0 }) else { return }
        keys.append(key)
    }
}

/// A machine that takes what is private out of a capture of HCI or of the air: keys and what leads to them, addresses,
/// names, and the values of attributes.
///
/// The same source has the same replacement, of the same length. What a packet of an unknown kind contains is replaced
/// as a whole. Records that are neither HCI packets nor complete frames are left out, since messages and notes can
/// contain anything.
package struct CaptureRedactor: Sendable {
    /// The records that may wait for the end of a PDU in them.
    private static let waitingRecords = 4_096
    /// The PDUs that may be incomplete at the same time.
    private static let incompletePDUs = 512

    private struct Waiting: Sendable {
        var record: CaptureRecord
        var isReady: Bool
        /// The initial value of a frame's CRC, if it is known.
        var initial: UInt32?
    }

    private struct Direction: Hashable, Sendable {
        let adapter: UInt32
        /// The handle of a connection, or an access address.
        let link: UInt32
        let isAir: Bool
        let isSent: Bool
    }

    /// A part of a PDU in a waiting record.
    private struct Part: Sendable {
        let place: Int
        let octets: Range<Int>
    }

    /// A PDU whose fragments are in waiting records.
    private struct Assembly: Sendable {
        var octets: [UInt8] = []
        var parts: [Part] = []
        /// The number of fragments, without those that were sent again.
        var count = 0

        mutating func add(_ payload: PacketBuffer, at place: Int) {
            parts.append(Part(place: place, octets: octets.count..<octets.count + payload.count))
            octets += payload
            count += 1
        }
    }

    private var queue: [Waiting] = []
    /// The number of records that have left the queue.
    private var taken = 0
    private var assemblies: [Direction: Assembly] = [:]
    private var packets: PacketRedactor
    private var air = AirRedactor()
    private var links: [Direction: PDURedactor] = [:]
    /// The replacement of the last fragment of each direction on the air.
    private var latest = RecencyTable<Direction, [UInt8]>(limit: Self.incompletePDUs)
    package private(set) var leftOut = 0

    /// - Parameter seed: The random key of the replacements, at least 16 octets. It must not be stored.
    package init(seed: [UInt8], keys: RedactionKeys) {
        packets = PacketRedactor(Pseudonyms(seed: seed, keys: keys.keys))
    }

    /// Receives a record, in the order of the capture.
    ///
    /// - Returns: The redacted records that are ready, in the order of the capture.
    package mutating func receive(_ record: CaptureRecord) -> [CaptureRecord] {
        switch record.content {
        case .hci(let packet, let direction): receive(packet, direction, record)
        case .frame(let linkType, let octets):
            guard let frame = AirFrame(octets, linkType: linkType) else {
                leftOut += 1
                break
            }
            receive(frame, record)
        case .monitor, .log: leftOut += 1
        }
        if queue.count > Self.waitingRecords { giveUp() }
        return ready()
    }

    /// Ends the capture.
    ///
    /// - Returns: The records that waited for the rest of a PDU.
    package mutating func finish() -> [CaptureRecord] {
        giveUp()
        return ready()
    }

    // MARK: Packets

    private mutating func receive(_ packet: HCIPacket, _ direction: HCIDirection, _ record: CaptureRecord) {
        var redacted = record
        if record.omitted > 0 {
            redacted.content = .hci(packets.emptied(packet), direction)
        } else if packet.kind == .acl {
            return receive(data: packet, direction, record)
        } else {
            redacted.content = .hci(packets.redacted(packet, adapter: record.adapter), direction)
        }
        queue.append(Waiting(record: redacted, isReady: true))
    }

    private mutating func receive(data packet: HCIPacket, _ direction: HCIDirection, _ record: CaptureRecord) {
        guard let data = try? ACLPacket(reading: packet.bytes) else {
            var redacted = record
            redacted.content = .hci(packets.emptied(packet), direction)
            return queue.append(Waiting(record: redacted, isReady: true))
        }
        let key = Direction(
            adapter: record.adapter,
            link: UInt32(data.handle.rawValue),
            isAir: false,
            isSent: direction == .hostToController
        )
        queue.append(Waiting(record: record, isReady: false))
        receive(fragment: data.payload, isStart: data.boundary.isStart, key)
    }

    private mutating func receive(_ frame: AirFrame, _ record: CaptureRecord) {
        let (outcome, initial, followsGap) = air.receive(
            frame,
            adapter: record.adapter,
            at: record.unixMicroseconds,
            &packets.pseudonyms
        )
        queue.append(Waiting(record: record, isReady: false, initial: initial))
        func key(_ side: StorySide) -> Direction {
            Direction(adapter: record.adapter, link: frame.accessAddress, isAir: true, isSent: side == .near)
        }
        if followsGap {
            // Neither a PDU nor what a request says about its response may reach across what was missed.
            for side in StorySide.allCases { giveUp(key(side)) }
            links[key(.near)] = nil
        }
        switch outcome {
        case .payload(let payload): put(payload[...], into: queue.count - 1)
        case .fragment(let side, let isStart): receive(fragment: frame.payload, isStart: isStart, key(side))
        case .repeated(let side):
            let place = taken + queue.count - 1
            if let part = assemblies[key(side)]?.parts.last {
                assemblies[key(side)]?.parts.append(Part(place: place, octets: part.octets))
            } else {
                let zeros = [UInt8](repeating: 0, count: frame.payload.count)
                put((latest[key(side)] ?? zeros)[...], into: queue.count - 1)
            }
        }
    }

    // MARK: PDUs

    /// Receives a fragment of a PDU, whose record is the last one of the queue.
    private mutating func receive(fragment payload: PacketBuffer, isStart: Bool, _ key: Direction) {
        if isStart { giveUp(key) }
        var assembly = assemblies.removeValue(forKey: key) ?? Assembly()
        assembly.add(payload, at: taken + queue.count - 1)
        guard assembly.octets.count <= StoryLimits.longestPDU, isStart || assembly.count > 1 else {
            return fill(assembly, key, with: packets.zeros(assembly.octets))
        }
        let needed = assembly.octets.count >= 2 ? Int(assembly.octets[0]) + Int(assembly.octets[1]) << 8 + 4 : 4
        guard assembly.octets.count >= needed else {
            if assemblies.count >= Self.incompletePDUs { giveUp() }
            assemblies[key] = assembly
            return
        }
        fill(assembly, key, with: redact(assembly.octets, key, needed))
    }

    private mutating func redact(_ octets: [UInt8], _ key: Direction, _ length: Int) -> [UInt8] {
        let link = Direction(adapter: key.adapter, link: key.link, isAir: key.isAir, isSent: true)
        if links[link] == nil, links.count >= Self.incompletePDUs { links.removeAll() }
        var redactor = links[link] ?? PDURedactor()
        let pdu = PacketBuffer(Array(octets.prefix(length)))
        let redacted = redactor.redacted(pdu, isSent: key.isSent, &packets.pseudonyms)
        links[link] = redactor
        // Octets after the PDU belong to no PDU.
        return redacted + [UInt8](repeating: 0, count: octets.count - redacted.count)
    }

    /// Puts the octets of a PDU back into its fragments.
    private mutating func fill(_ assembly: Assembly, _ key: Direction, with octets: [UInt8]) {
        for part in assembly.parts where part.place >= taken { put(octets[part.octets], into: part.place - taken) }
        if key.isAir, let last = assembly.parts.last { latest.set(Array(octets[last.octets]), for: key) }
    }

    /// Replaces the payload of a record, which is then ready.
    private mutating func put(_ payload: ArraySlice<UInt8>, into index: Int) {
        switch queue[index].record.content {
        case .hci(let packet, let direction):
            let content = Array(packet.bytes.prefix(upTo: ACLPacket.headerSize)) + payload
            queue[index].record.content = .hci(HCIPacket(.acl, PacketBuffer(content)), direction)
        case .frame(let linkType, let octets):
            let content = RedactedFrame.octets(octets, linkType: linkType, payload, initial: queue[index].initial)
            queue[index].record.content = .frame(linkType: linkType, content)
        case .monitor, .log: break
        }
        queue[index].isReady = true
    }

    /// Ends the PDU of a direction that never became complete.
    private mutating func giveUp(_ key: Direction) {
        guard let assembly = assemblies.removeValue(forKey: key) else { return }
        fill(assembly, key, with: packets.zeros(assembly.octets))
    }

    private mutating func giveUp() {
        for key in Array(assemblies.keys) { giveUp(key) }
    }

    private mutating func ready() -> [CaptureRecord] {
        let count = queue.firstIndex { !$0.isReady } ?? queue.count
        let records = queue.prefix(count).map(\.record)
        queue.removeFirst(count)
        taken += count
        return records
    }
}
