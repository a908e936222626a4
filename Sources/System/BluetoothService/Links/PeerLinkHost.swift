import ATT
import EventLoops
import Foundation
import GAP
import GATT
import ServiceMessages

/// The attribute server of this system, as a link sees it.
protocol AttributeServer: AnyObject {
    var server: GATTServer { get }
    /// Registers the session that serves `central`.
    func attach(_ session: GATTServerSession, of central: UUID)
    /// Removes a session that has ended, and with it its subscriptions (behaviour 7.40).
    func forget(_ session: GATTServerSession)
}

/// The owner of all links, as one of them sees it.
protocol PeerLinkHost: AnyObject {
    var configuration: SystemConfiguration { get }
    var loop: any EventLoop { get }
    var observers: Observers { get }
    var peers: Peers { get }
    var attributeServer: any AttributeServer { get }
    /// Accepts the enhanced bearers that peers open, if the configuration allows them.
    var enhancedBearers: EnhancedBearerListener? { get }
    /// Returns the number of L2CAP channels that the managers of an app have to a peer.
    func channels(of app: AppIdentity, to peer: UUID) -> Int
    /// Called when the link has ended.
    func ended(_ link: PeerLink, _ end: AccessLink.End)
    /// Called when the services of the peer have been discovered for the first time on the link.
    func explored(_ link: PeerLink)
    /// Called when the MTU of the link has changed.
    func centralChanged(_ central: CentralInfo)
    /// Called when the user may have to be alerted to an event of the peer, before the apps are notified.
    func alert(_ alert: AppAlert, of peer: UUID)
}
