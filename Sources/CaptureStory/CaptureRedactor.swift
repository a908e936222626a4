import BluetoothTypes
import HCI

/// The identity resolving keys of a capture, which a redactor has to know before it replaces the first address.
package struct RedactionKeys: Sendable {
    /// The keys, least significant octet first.
    package private(set) var keys: [PacketBuffer] = []

    package init() {}

    /// Receives a record, in the order of the capture.
    package mutating func learn(_ record: CaptureRecord) {
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

/// A machine that takes what is private out of a capture of HCI: keys and what leads to them, addresses, names, and the
/// values of attributes.
///
/// The same source has the same replacement, of the same length. What a packet of an unknown kind contains is replaced
/// as a whole. Records that are no HCI packets are left out, since messages and notes can contain anything.
package struct CaptureRedactor: Sendable {
    /// The records that may wait for the end of a PDU in them.
    private static let waitingRecords = 4_096
    /// The PDUs that may be incomplete at the same time.
    private static let incompletePDUs = 512

    private struct Waiting: Sendable {
        var record: CaptureRecord
        var isReady: Bool
    }

    private struct Direction: Hashable, Sendable {
        let adapter: UInt32
        let handle: UInt16
        let isSent: Bool
    }

    /// A PDU whose fragments are in waiting records.
    private struct Assembly: Sendable {
        var octets: [UInt8]
        var places: [Int]
    }

    private var queue: [Waiting] = []
    /// The number of records that have left the queue.
    private var taken = 0
    private var assemblies: [Direction: Assembly] = [:]
    private var packets: PacketRedactor
    private var links: [Direction: PDURedactor] = [:]
    /// The number of records that are left out.
    package private(set) var leftOut = 0

    /// Creates a redactor.
    ///
    /// - Parameters:
    ///   - seed: The random key of the replacements, at least 16 octets. It must not be stored.
    ///   - keys: The keys of the same capture.
    package init(seed: [UInt8], keys: RedactionKeys) {
        packets = PacketRedactor(Pseudonyms(seed: seed, keys: keys.keys))
    }

    /// Receives a record, in the order of the capture.
    ///
    /// - Returns: The redacted records that are ready, in the order of the capture.
    package mutating func receive(_ record: CaptureRecord) -> [CaptureRecord] {
        guard case .hci(let packet, let direction) = record.content else {
            leftOut += 1
            return []
        }
        var redacted = record
        if record.omitted > 0 {
            redacted.content = .hci(packets.emptied(packet), direction)
            queue.append(Waiting(record: redacted, isReady: true))
        } else if packet.kind == .acl {
            receive(data: packet, direction, record)
        } else {
            redacted.content = .hci(packets.redacted(packet, adapter: record.adapter), direction)
            queue.append(Waiting(record: redacted, isReady: true))
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

    // MARK: Data

    private mutating func receive(data packet: HCIPacket, _ direction: HCIDirection, _ record: CaptureRecord) {
        guard let data = try? ACLPacket(reading: packet.bytes) else {
            var redacted = record
            redacted.content = .hci(packets.emptied(packet), direction)
            return queue.append(Waiting(record: redacted, isReady: true))
        }
        let key = Direction(
            adapter: record.adapter,
            handle: data.handle.rawValue,
            isSent: direction == .hostToController
        )
        if data.boundary.isStart { giveUp(key) }
        queue.append(Waiting(record: record, isReady: false))
        var assembly = assemblies.removeValue(forKey: key) ?? Assembly(octets: [], places: [])
        assembly.octets += data.payload
        assembly.places.append(taken + queue.count - 1)
        guard assembly.octets.count <= StoryLimits.longestPDU, data.boundary.isStart || assembly.places.count > 1 else {
            return fill(assembly, with: packets.zeros(assembly.octets))
        }
        let needed = assembly.octets.count >= 2 ? Int(assembly.octets[0]) + Int(assembly.octets[1]) << 8 + 4 : 4
        guard assembly.octets.count >= needed else {
            if assemblies.count >= Self.incompletePDUs { giveUp() }
            assemblies[key] = assembly
            return
        }
        fill(assembly, with: redact(assembly.octets, key, needed))
    }

    private mutating func redact(_ octets: [UInt8], _ key: Direction, _ length: Int) -> [UInt8] {
        let link = Direction(adapter: key.adapter, handle: key.handle, isSent: true)
        if links[link] == nil, links.count >= Self.incompletePDUs { links.removeAll() }
        var redactor = links[link] ?? PDURedactor()
        let pdu = PacketBuffer(Array(octets.prefix(length)))
        let redacted = redactor.redacted(pdu, isSent: key.isSent, &packets.pseudonyms)
        links[link] = redactor
        // Octets after the PDU belong to no PDU.
        return redacted + [UInt8](repeating: 0, count: octets.count - redacted.count)
    }

    /// Puts the octets of a PDU back into its fragments.
    private mutating func fill(_ assembly: Assembly, with octets: [UInt8]) {
        var rest = octets[...]
        for place in assembly.places where place >= taken {
            let index = place - taken
            guard case .hci(let packet, let direction) = queue[index].record.content else { continue }
            let length = max(0, packet.bytes.count - ACLPacket.headerSize)
            let content = Array(packet.bytes.prefix(upTo: ACLPacket.headerSize)) + rest.prefix(length)
            rest = rest.dropFirst(length)
            queue[index].record.content = .hci(HCIPacket(.acl, PacketBuffer(content)), direction)
            queue[index].isReady = true
        }
    }

    /// Ends the PDU of a direction that never became complete.
    private mutating func giveUp(_ key: Direction) {
        guard let assembly = assemblies.removeValue(forKey: key) else { return }
        fill(assembly, with: packets.zeros(assembly.octets))
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
