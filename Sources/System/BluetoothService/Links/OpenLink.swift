import BluetoothTypes
import GAP

/// The link of a tool that has a system of its own. The tool receives it before anything has been sent on it, and decides
/// itself how the link is secured, which parameters the peer may request, and in which order to use the attributes.
package struct OpenLink {
    package typealias Receive = (AccessLink, LinkAttributes) -> Void
    package typealias Fail = (GAPError) -> Void

    let peer: BluetoothAddress
    let onLink: Receive
    let onFailure: Fail

    /// Creates a request for a link, whose functions are called on the loop of the system.
    ///
    /// - Parameters:
    ///   - peer: The address of the peer. A bonded peer is recognized by all of its addresses.
    ///   - onLink: Called with the link, and with its attribute protocol in the system's configuration, without a local
    ///     server.
    ///   - onFailure: Called in its place if the controller cannot connect, with ``GAPError/notReady`` if it is gone.
    package init(to peer: BluetoothAddress, onLink: @escaping Receive, onFailure: @escaping Fail) {
        self.peer = peer
        self.onLink = onLink
        self.onFailure = onFailure
    }
}
