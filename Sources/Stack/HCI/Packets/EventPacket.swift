import BluetoothTypes

/// The frame of an event: its code and its unparsed parameters (Core Vol 4 Part E 5.4.4).
package struct EventPacket: PacketFields, Hashable, Sendable {
    /// The event code, which determines the layout of the parameters.
    package var code = EventCode(rawValue: 0)
    /// The parameters, at most 255 octets. Those of an LE event start with the subevent code.
    package var parameters: PacketBuffer = []

    /// Creates a frame without an event.
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
