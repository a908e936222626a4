import BluetoothTypes

/// A machine that replaces keys in the packets of a controller by zeros of the same length, for packets that are shown.
///
/// In commands and events, the keys are the fields that their descriptions declare as secret. Of the Security Manager's
/// PDUs only those without keys or values of the key exchange stay, whatever their fragments.
package struct SecretMask: Sendable {
    private struct Direction: Hashable, Sendable {
        let handle: UInt16
        let isSent: Bool
    }

    private var fragments = FragmentMask<Direction>()

    package init() {}

    /// Returns a packet with its keys masked. Call it for all packets, in their order.
    package mutating func masked(_ packet: HCIPacket, _ direction: HCIDirection) -> HCIPacket {
        switch packet.kind {
        case .command: HCIPacket(.command, Self.command(packet.bytes))
        case .event: HCIPacket(.event, Self.event(packet.bytes))
        case .acl: HCIPacket(.acl, data(packet.bytes, isSent: direction == .hostToController))
        case .synchronous, .isochronous: packet
        }
    }

    // MARK: Commands and events

    /// The secret fields of commands, of return parameters and of LE events, as positions in the packet.
    private static let commands = fields(HCICommandRegistry.all.map { ($0.opcode.rawValue, $0) }, header: 3)
    private static let responses = fields(
        HCICommandRegistry.all.map { ($0.opcode.rawValue, HCICommandRegistry.response(of: $0)) },
        header: 5
    )
    private static let events = fields(
        HCIEventRegistry.all.compactMap { type in type.subevent.map { (UInt16($0.rawValue), type) } },
        header: 3
    )

    private static func fields(_ types: [(UInt16, any PacketFields.Type)], header: Int) -> [UInt16: [Range<Int>]] {
        var found: [UInt16: [Range<Int>]] = [:]
        for (number, type) in types {
            let secrets = secrets(of: type)
            if !secrets.isEmpty { found[number] = secrets.map { $0.lowerBound + header..<$0.upperBound + header } }
        }
        return found
    }

    /// Returns the places of secret fields, which no field of variable length precedes.
    private static func secrets(of type: any PacketFields.Type) -> [Range<Int>] {
        func find(_ packet: some PacketFields) -> [Range<Int>] {
            var (packet, finder) = (packet, SecretFinder())
            try? packet.code(&finder)
            return finder.places
        }
        return find(type.init())
    }

    private static func command(_ octets: PacketBuffer) -> PacketBuffer {
        mask(octets, word(octets, at: 0).flatMap { commands[$0] })
    }

    private static func event(_ octets: PacketBuffer) -> PacketBuffer {
        guard octets.count > 2 else { return octets }
        switch octets[0] {
        case CommandComplete.eventCode.rawValue: return mask(octets, word(octets, at: 3).flatMap { responses[$0] })
        case EventCode.leMeta.rawValue: return mask(octets, events[UInt16(octets[2])])
        default: return octets
        }
    }

    private static func mask(_ octets: PacketBuffer, _ places: [Range<Int>]?) -> PacketBuffer {
        guard let places else { return octets }
        var result = octets
        for place in places {
            for index in place.clamped(to: 0..<octets.count) { result[index] = 0 }
        }
        return result
    }

    private static func word(_ octets: PacketBuffer, at index: Int) -> UInt16? {
        guard octets.count > index + 1 else { return nil }
        return UInt16(octets[index]) | UInt16(octets[index + 1]) << 8
    }

    // MARK: Data

    private mutating func data(_ octets: PacketBuffer, isSent: Bool) -> PacketBuffer {
        var (place, header): (Int?, Int) = (0, ACLPacket.headerSize)
        if let data = try? ACLPacket(reading: octets) {
            let direction = Direction(handle: data.handle.rawValue, isSent: isSent)
            place = fragments.secrets(in: data.payload, isStart: data.boundary.isStart, of: direction)
            header = octets.count - data.payload.count
        }
        guard let place else { return octets }
        return Self.mask(octets, [header + place..<max(header + place, octets.count)])
    }
}

/// Finds the places of a packet's secret fields.
private struct SecretFinder: FieldCoder {
    private var writer = FieldWriter([])
    private(set) var places: [Range<Int>] = []

    var isReading: Bool { false }
    var remaining: Int { 0 }

    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        try writer.field(name, &value)
    }

    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        try writer.uint24(name, &value)
    }

    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try writer.bytes(name, &value, count: count)
    }

    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try writer.countedBytes(name, &value)
    }

    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        places.append(writer.buffer.count..<writer.buffer.count + count)
        try writer.bytes(name, &value, count: count)
    }

    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try writer.rest(name, &value)
    }

    mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    mutating func begin(_ name: String) {}
    mutating func end() {}
}

/// A machine that finds the secrets in fragments of L2CAP PDUs, on HCI or on the air: the Security Manager's PDUs,
/// except for those without keys or values of the key exchange.
///
/// A stream has the fragments of one direction of a link.
package struct FragmentMask<Stream: Hashable & Sendable>: Sendable {
    /// The streams whose current PDU has no secrets.
    private var open: Set<Stream> = []

    package init() {}

    /// Returns the place in a fragment from which on it is secret; nil if nothing is. Call it for all fragments, in
    /// their order. A fragment of a PDU whose beginning is unknown is secret.
    package mutating func secrets(in fragment: PacketBuffer, isStart: Bool, of stream: Stream) -> Int? {
        guard isStart else { return open.contains(stream) ? nil : 0 }
        open.remove(stream)
        // The header of an L2CAP PDU, and the code of a command (Core Vol 3 Part A 3.1).
        guard fragment.count >= 4 else { return 2 }
        let isSecurity = fragment[2] == 0x06 && fragment[3] == 0
        let isHarmless = fragment.count > 4 && FragmentSecrets.harmlessCommands.contains(fragment[4])
        guard !isSecurity || isHarmless else { return 5 }
        if open.count >= FragmentSecrets.maximumStreams { open.removeAll() }
        open.insert(stream)
        return nil
    }
}

private enum FragmentSecrets {
    /// The maximum number of streams whose current PDU is known.
    static let maximumStreams = 512
    /// The features, the failure, the identity address, the Security Request and keypresses (Core Vol 3 Part H 3.3).
    static let harmlessCommands: Set<UInt8> = [0x01, 0x02, 0x05, 0x09, 0x0B, 0x0E]
}
