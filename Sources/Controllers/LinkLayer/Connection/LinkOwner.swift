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
    func linkIsSilent(_ link: Link)
    /// Called when the peer has transferred a periodic advertising train.
    func link(_ link: Link, heardOf train: PeriodicSyncIndication)
    /// Called when the link has ended.
    func link(_ link: Link, endedWith reason: HCIStatus)
}
