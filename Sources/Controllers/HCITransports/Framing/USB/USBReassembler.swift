import BluetoothTypes
import HCI

/// A USB pipe for HCI packets, in either direction.
package enum USBPipe: Hashable, Sendable, CaseIterable {
    /// The control pipe, endpoint 0: commands.
    case control
    /// The interrupt endpoint: events.
    case interrupt
    /// The two bulk endpoints: ACL data, and all packets in Bulk Serialization Mode.
    case bulk
}

/// A parser for HCI packets in USB transfers (Core Vol 4 Part B 2.1). A transfer is not a packet: endpoints split
/// packets at their maximum packet size, and controllers split and join them arbitrarily.
///
/// Each pipe carries one packet type, without a type octet. In Bulk Serialization Mode one pipe carries all types, as
/// in H4. A controller that another driver has used may still send part of an earlier packet. Everything before the
/// answer to Reset is therefore discarded, as in ``H4Parser``, and so is data from the other pipe until then.
package struct USBReassembler {
    private let isSerialized: Bool
    private var interrupt: H4Parser
    private var bulk: H4Parser

    /// - Parameters:
    ///   - isSerialized: Whether Bulk Serialization Mode is selected.
    ///   - isResynchronizing: Whether the first transfers may belong to an earlier user of the controller.
    package init(isSerialized: Bool = false, isResynchronizing: Bool = false) {
        self.isSerialized = isSerialized
        interrupt = H4Parser(only: .event, isResynchronizing: isResynchronizing)
        bulk = isSerialized ? H4Parser(isResynchronizing: isResynchronizing) : H4Parser(only: .acl)
    }

    /// The error for an invalid packet type, which only exists in Bulk Serialization Mode; nil as long as there was
    /// none.
    package var failure: PacketError? { bulk.failure }

    /// The number of buffered octets of incomplete packets.
    package var pendingLength: Int { interrupt.pendingLength + bulk.pendingLength }

    /// Parses a transfer and returns the packets that it completes, in order.
    package mutating func reassemble(_ octets: [UInt8], from pipe: USBPipe) -> [HCIPacket] {
        switch pipe {
        // Endpoint 0 carries no packets to the host, and Bulk Serialization Mode has no interrupt endpoint.
        case .control: []
        case .interrupt: isSerialized ? [] : interrupt.parse(octets)
        case .bulk: interrupt.isResynchronizing && !isSerialized ? [] : bulk.parse(octets)
        }
    }
}
