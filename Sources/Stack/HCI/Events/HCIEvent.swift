import BluetoothTypes

/// An HCI event. ``PacketFields/code(_:)`` codes its parameters in wire order, without the subevent code of LE events.
package protocol HCIEvent: PacketFields, Hashable, Sendable {
    /// The event code, the first octet of the packet.
    static var eventCode: EventCode { get }
    /// The subevent code; nil unless this is an LE event.
    static var subevent: LESubevent? { get }
    /// The name in the specification, without the prefix `HCI_`.
    static var name: String { get }
}

extension HCIEvent {
    /// The default: not an LE event.
    package static var subevent: LESubevent? { nil }

    /// Parses the parameters of an event, without the subevent code. Trailing octets are ignored, because a newer
    /// controller may add parameters.
    ///
    /// - Throws: ``PacketError`` if the parameters are truncated or malformed.
    @inlinable
    package static func reading(_ parameters: PacketBuffer) throws(PacketError) -> Self {
        var event = Self()
        var reader = FieldReader(parameters)
        try event.read(from: &reader)
        return event
    }
}

/// An LE event, whose event code is ``EventCode/leMeta``.
package protocol LEEvent: HCIEvent {
    /// The subevent code, the first parameter of the packet.
    static var leSubevent: LESubevent { get }
}

extension LEEvent {
    /// ``EventCode/leMeta``, the code of all LE events.
    package static var eventCode: EventCode { .leMeta }
    package static var subevent: LESubevent? { leSubevent }
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
