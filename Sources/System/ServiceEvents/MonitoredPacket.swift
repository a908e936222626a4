import BluetoothTypes
import Foundation
import HCI
import ServiceMessages

/// An HCI packet for tools, or in a simulation a frame on the air. It has no keys.
package struct MonitoredPacket: Hashable, Sendable {
    /// The kind of a frame on the air, which has the form of `PcapngWriter.LinkType.air`. No H4 packet type is as high.
    package static let air: UInt8 = 0x80
    /// The maximum number of octets of the fields besides those of the packet and the name of the sender.
    package static let maximumHeader = 60
    /// The maximum length of the name of a sender, in octets.
    package static let maximumSender = 64

    /// The number of the packet among those that were followed in the system. It only grows.
    package var number: UInt64 = 0
    /// The time in microseconds since the beginning of 1970, UTC; since the start of a system without a calendar.
    package var time: Int64 = 0
    /// Whether the controller has sent the packet, rather than the host; of a frame, whether another device has.
    package var isReceived = false
    /// The H4 packet type, or ``air``.
    package var kind: UInt8 = 0
    /// The number of the event that caused the packet within the same task of the loop; 0 if there is none.
    package var cause: UInt64 = 0
    /// The number of the first event that the packet caused within the same task; 0 if there is none.
    package var firstEvent: UInt64 = 0
    /// The number of these events, which follow each other.
    package var events: UInt16 = 0
    /// The identifier of the device that the packet is about; nil if there is none, or it is not known.
    package var peer: UUID?
    /// The packet from its header on. Keys in it are zeros.
    package var octets = PacketBuffer([])
    /// The name of the device that has sent a frame on the air, if it is known. HCI packets have none.
    package var sender = ""

    package init() {}

    package init(
        number: UInt64,
        time: Int64,
        packet: HCIPacket,
        direction: HCIDirection,
        cause: UInt64?,
        peer: UUID?
    ) {
        (self.number, self.time, self.cause, self.peer) = (number, time, cause ?? 0, peer)
        (isReceived, kind, octets) = (direction == .controllerToHost, packet.kind.rawValue, packet.bytes)
    }

    /// The HCI packet; nil for a frame on the air, or if its type is unknown.
    package var packet: HCIPacket? { HCIPacket.Kind(rawValue: kind).map { HCIPacket($0, octets) } }

    package var direction: HCIDirection { isReceived ? .controllerToHost : .hostToController }
}

extension MonitoredPacket: PacketFields {
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("number", &number)
        try coder.field("time", &time)
        try coder.field("is received", &isReceived)
        try coder.field("kind", &kind)
        try coder.field("cause", &cause)
        try coder.field("first event", &firstEvent)
        try coder.field("events", &events)
        try coder.value("peer", &peer)
        var length = UInt32(octets.count)
        try coder.field("length", &length)
        try coder.bytes("octets", &octets, count: Int(length))
        if kind == Self.air { try coder.value("sender", &sender) }
    }
}
