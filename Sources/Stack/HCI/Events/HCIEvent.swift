import BluetoothTypes

/// An HCI event. ``PacketFields/code(_:)`` codes its parameters in wire order, without the subevent code of LE events.
package protocol HCIEvent: PacketFields, Hashable, Sendable {
    /// What the specification says about the event, apart from its parameters.
    static var entry: EventEntry { get }
}

/// What the specification says about an event, apart from its parameters.
package struct EventEntry: Sendable {
    @usableFromInline let code: EventCode
    @usableFromInline let subevent: LESubevent?
    fileprivate let name: String

    /// Creates the entry of an event that is not an LE event. The name is without the prefix `HCI_`, as for LE events.
    init(_ code: UInt8, _ name: String) {
        (self.code, subevent, self.name) = (EventCode(rawValue: code), nil, name)
    }

    init(le subevent: UInt8, _ name: String) {
        (code, self.subevent, self.name) = (.leMeta, LESubevent(rawValue: subevent), name)
    }
}

extension HCIEvent {
    /// The first octet of the packet.
    @inlinable
    package static var eventCode: EventCode { entry.code }
    /// The first parameter of the packet of an LE event; nil for other events.
    @inlinable
    package static var subevent: LESubevent? { entry.subevent }
    /// The name in the specification, without the prefix `HCI_`.
    package static var name: String { entry.name }

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
