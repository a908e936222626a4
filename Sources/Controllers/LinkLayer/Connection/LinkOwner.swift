import BluetoothTypes
import HCI

/// The callbacks of a link to its controller.
protocol LinkOwner: AnyObject {
    /// The number of data octets that the host accepts now; nil if it has no buffer.
    var hostRoom: Int? { get }
    /// Called with a received fragment of an L2CAP PDU.
    func link(_ link: Link, received payload: PacketBuffer, isStart: Bool)
    /// Called when packets of the host have reached the peer.
    func link(_ link: Link, completed packets: Int)
    /// Called when a control procedure has an event for the host.
    func link(_ link: Link, reports report: LinkControl.Report)
    /// Called when the authenticated payload timeout has expired.
    func supervisionTimedOut(_ link: Link)
    /// Called with the results of a subevent of Channel Sounding.
    func link(_ link: Link, sounded report: Sounder.Report, config: UInt8)
    /// Called when the peer has transferred a periodic advertising train.
    func link(_ link: Link, heardOf train: PeriodicSyncIndication)
    func link(_ link: Link, endedWith reason: HCIStatus)
}

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
