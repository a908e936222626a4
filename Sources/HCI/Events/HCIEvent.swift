import BluetoothTypes

/// An event, described once: ``PacketFields/code(_:)`` names its parameters in wire order, without the octet that tells
/// LE events apart.
package protocol HCIEvent: PacketFields, Hashable, Sendable {
    /// The event's number.
    static var eventCode: EventCode { get }
    /// The number among the LE events, when it is one.
    static var subevent: LESubevent? { get }
    /// The event's name in the specification, without the `HCI_` in front.
    static var name: String { get }
}

extension HCIEvent {
    /// None.
    package static var subevent: LESubevent? { nil }

    /// Reads the parameters of an event, the subevent's octet not among them. Octets behind them are left alone: a newer
    /// controller may know more of them.
    ///
    /// - Throws: ``PacketError`` when octets are missing or wrong.
    @inlinable
    package static func reading(_ parameters: PacketBuffer) throws(PacketError) -> Self {
        var event = Self()
        var reader = FieldReader(parameters)
        try event.read(from: &reader)
        return event
    }
}

/// An event behind ``EventCode/leMeta``.
package protocol LEEvent: HCIEvent {
    /// The number among the LE events.
    static var leSubevent: LESubevent { get }
}

extension LEEvent {
    /// The code that all LE events share.
    package static var eventCode: EventCode { .leMeta }
    package static var subevent: LESubevent? { leSubevent }
}
