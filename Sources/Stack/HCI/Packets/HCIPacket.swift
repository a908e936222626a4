import BluetoothTypes

/// An HCI packet, without the packet type octet that precedes it on a byte stream.
package struct HCIPacket: Hashable, Sendable {
    /// The H4 packet types (Core Vol 4 Part A 2).
    package enum Kind: UInt8, Sendable, CaseIterable {
        case command = 1
        case acl = 2
        case synchronous = 3
        case event = 4
        case isochronous = 5
    }

    /// The packet type, which is the packet indicator of UART transports (Core Vol 4 Part A 2).
    package var kind: Kind
    /// The packet, starting with its header.
    package var bytes: PacketBuffer

    @inlinable
    package init(_ kind: Kind, _ bytes: PacketBuffer) { (self.kind, self.bytes) = (kind, bytes) }
}

/// The direction of a packet.
package enum HCIDirection: Hashable, Sendable {
    case hostToController
    case controllerToHost
}

/// The frame of a command: its opcode and its unparsed parameters (Core Vol 4 Part E 5.4.1).
package struct CommandPacket: PacketFields, Hashable, Sendable {
    /// The opcode, which determines the layout of the parameters.
    package var opcode = Opcode.none
    /// The parameters, at most 255 octets.
    package var parameters: PacketBuffer = []

    package init() {}
    package init(opcode: Opcode, parameters: PacketBuffer) { (self.opcode, self.parameters) = (opcode, parameters) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Opcode", &opcode)
        try coder.countedBytes("Parameters", &parameters)
        // The parameters are unparsed and may contain a key.
        coder.note("Parameters", "\(parameters.count) octets")
    }
}

/// The frame of an event: its code and its unparsed parameters (Core Vol 4 Part E 5.4.4).
package struct EventPacket: PacketFields, Hashable, Sendable {
    /// The event code, which determines the layout of the parameters.
    package var code = EventCode(rawValue: 0)
    /// The parameters, at most 255 octets. Those of an LE event start with the subevent code.
    package var parameters: PacketBuffer = []

    package init() {}
    package init(code: EventCode, parameters: PacketBuffer) { (self.code, self.parameters) = (code, parameters) }

    /// The subevent code of an LE event; nil for other events and for an LE event without parameters.
    package var subevent: LESubevent? {
        code == .leMeta ? parameters.first.map(LESubevent.init(rawValue:)) : nil
    }

    /// The parameters that an ``HCIEvent`` describes, without the subevent code of an LE event.
    package var eventParameters: PacketBuffer {
        code == .leMeta ? parameters.suffix(after: 1) : parameters
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Code", &code)
        try coder.countedBytes("Parameters", &parameters)
        // The parameters are unparsed and may contain a key.
        coder.note("Parameters", "\(parameters.count) octets")
    }
}
