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
            let secrets = type.secrets
            if !secrets.isEmpty { found[number] = secrets.map { $0.lowerBound + header..<$0.upperBound + header } }
        }
        return found
    }

    private static func command(_ octets: PacketBuffer) -> PacketBuffer {
        mask(octets, octets.word(at: 0).flatMap { commands[$0] })
    }

    private static func event(_ octets: PacketBuffer) -> PacketBuffer {
        guard octets.count > 2 else { return octets }
        switch octets[0] {
        case CommandComplete.eventCode.rawValue: return mask(octets, octets.word(at: 3).flatMap { responses[$0] })
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

    // MARK: Data

    /// The features, the failure, the identity address, the Security Request and keypresses (Core Vol 3 Part H 3.3).
    private static let harmlessCommands: Set<UInt8> = [0x01, 0x02, 0x05, 0x09, 0x0B, 0x0E]

    /// Returns whether the Security Manager's command with a code has neither a key nor a value of the key exchange.
    package static func isHarmless(command code: UInt8) -> Bool { harmlessCommands.contains(code) }

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

extension PacketFields {
    /// The places of secret fields, which no field of variable length precedes.
    static var secrets: [Range<Int>] {
        var (packet, printer) = (Self(), FieldPrinter())
        try? packet.code(&printer)
        return printer.secrets
    }
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
        let isHarmless = fragment.count > 4 && SecretMask.isHarmless(command: fragment[4])
        guard !isSecurity || isHarmless else { return 5 }
        if open.count >= FragmentSecrets.maximumStreams { open.removeAll() }
        open.insert(stream)
        return nil
    }
}

private enum FragmentSecrets {
    /// The maximum number of streams whose current PDU is known.
    static let maximumStreams = 512
}
