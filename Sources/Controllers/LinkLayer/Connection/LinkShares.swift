import BluetoothTypes
import HCI

/// A link's accounts of radio use, by kind of traffic.
struct LinkShares {
    let data, empty, control, listening: RadioShare

    init(of link: ConnectionHandle, at arbiter: RadioArbiter) {
        data = arbiter.share(of: .link(link, .data))
        empty = arbiter.share(of: .link(link, .empty))
        control = arbiter.share(of: .link(link, .control))
        listening = arbiter.share(of: .link(link, .listening))
    }

    subscript(traffic: LinkTraffic) -> RadioShare {
        switch traffic {
        case .data: data
        case .empty: empty
        case .control: control
        case .listening: listening
        }
    }
}

extension LinkTraffic {
    /// Classifies a data PDU. Reserved LLIDs are ignored by receivers and count as empty.
    init(_ content: DataHeader.Content, _ payload: PacketBuffer) {
        switch content {
        case .control: self = .control
        case .start, .continuation: self = payload.isEmpty ? .empty : .data
        case .reserved: self = .empty
        }
    }
}
