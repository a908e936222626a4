import EventLoops
import HCI

/// The start of a link: the end of its connection request, and the PHY of the request.
struct LinkStart: Hashable {
    /// When the request ends.
    var end: Instant
    var phy = LEPHY.le1M
    /// Whether the request is AUX_CONNECT_REQ rather than CONNECT_IND.
    var isAuxiliary = false

    /// transmitWindowDelay, in microseconds: the time from the end of the request to the transmit window with an offset
    /// of 0 (Core Vol 6 Part B 4.5.3).
    var windowDelay: Int64 {
        if !isAuxiliary { return 1_250 }
        return phy == .coded ? 3_750 : 2_500
    }
}
