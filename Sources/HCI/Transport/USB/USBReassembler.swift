import BluetoothTypes

/// A way for packets between host and controller on USB, either direction.
package enum USBPipe: Hashable, Sendable, CaseIterable {
    /// Endpoint 0: commands.
    case control
    /// The interrupt endpoint: events.
    case interrupt
    /// The two bulk endpoints: data, and everything in Bulk Serialization Mode.
    case bulk
}

/// Finds packets in what comes over USB (Core Vol 4 Part B 2.1). A transfer is not a packet: endpoints cut packets where theirs are full, and
/// controllers join and cut them as they like.
///
/// Each pipe has one kind of packet, without a type octet; in Bulk Serialization Mode one has them all, as H4 does. A controller that a driver
/// had before may still have the rest of something, so nothing counts before the answer to a reset, as in ``H4Parser``; nor does
/// data that comes by the other pipe until then.
package struct USBReassembler {
    private let isSerialized: Bool
    private var interrupt: H4Parser
    private var bulk: H4Parser

    /// - Parameters:
    ///   - isSerialized: Whether Bulk Serialization Mode has been chosen.
    ///   - isResynchronizing: Whether transfers may have come before that were for somebody else.
    package init(isSerialized: Bool = false, isResynchronizing: Bool = false) {
        self.isSerialized = isSerialized
        interrupt = H4Parser(only: .event, isResynchronizing: isResynchronizing)
        bulk = isSerialized ? H4Parser(isResynchronizing: isResynchronizing) : H4Parser(only: .acl)
    }

    /// The octet that was no packet type, which there is in Bulk Serialization Mode alone.
    package var failure: PacketError? { bulk.failure }

    /// Octets of packets that are not complete yet.
    package var pendingLength: Int { interrupt.pendingLength + bulk.pendingLength }

    /// Takes what a transfer has brought and returns the packets that it completes, in order.
    package mutating func take(_ octets: [UInt8], from pipe: USBPipe) -> [HCIPacket] {
        switch pipe {
        // No packet comes by endpoint 0, and in Bulk Serialization Mode there is no interrupt endpoint.
        case .control: []
        case .interrupt: isSerialized ? [] : interrupt.take(octets)
        case .bulk: interrupt.isResynchronizing && !isSerialized ? [] : bulk.take(octets)
        }
    }
}
