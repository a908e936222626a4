import BluetoothTypes

/// The frame of an event: its number and its parameters, not looked into (Core Vol 4 Part E 5.4.4).
package struct EventPacket: PacketFields, Hashable, Sendable {
    /// The event.
    package var code = EventCode(rawValue: 0)
    /// The parameters, 255 octets at most; for an LE event the first tells which.
    package var parameters: PacketBuffer = []

    /// No event, no parameters.
    package init() {}

    /// An event with its parameters.
    package init(code: EventCode, parameters: PacketBuffer) {
        self.code = code
        self.parameters = parameters
    }

    /// Which LE event it is; nil for others and for an LE event without any octet.
    package var subevent: LESubevent? {
        code == .leMeta ? parameters.first.map(LESubevent.init(rawValue:)) : nil
    }

    /// The parameters that an ``HCIEvent`` describes: those behind the subevent's octet in an LE event.
    package var eventParameters: PacketBuffer {
        code == .leMeta ? parameters.suffix(after: 1) : parameters
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Code", &code)
        try coder.countedBytes("Parameters", &parameters)
        // There may be a key among them; nobody has looked.
        coder.note("Parameters", "\(parameters.count) octets")
    }

    /// What ``PacketPrinter`` shows of it.
    package var description: String { PacketPrinter.describe(HCIPacket(.event, encoded())) }
}

extension HCIPacket {
    /// Frames an event.
    ///
    /// - Precondition: The parameters fit 255 octets.
    @inlinable
    package init(_ event: some HCIEvent) {
        let kind = type(of: event)
        var bytes = event.encoded()
        if let subevent = kind.subevent { bytes.prepend(subevent.rawValue) }
        precondition(bytes.count <= 255, "\(kind.name) with \(bytes.count) octets of parameters")
        bytes.prepend(UInt8(truncatingIfNeeded: bytes.count))
        bytes.prepend(kind.eventCode.rawValue)
        self.init(.event, bytes)
    }
}
