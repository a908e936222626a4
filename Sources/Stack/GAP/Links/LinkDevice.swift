import EventLoops
import HCI
import HCIHost
import L2CAP
import Security

/// The device of a link, as far as the link and its procedures use it.
protocol LinkDevice: AnyObject {
    var host: HCIHost { get }
    var loop: any EventLoop { get }
    /// The capabilities of the controller; nil before it is ready.
    var controllerInformation: ControllerInformation? { get }
    var privacy: DevicePrivacy { get }
    var deviceSecurity: DeviceSecurity { get }
    var channels: ChannelServers { get }
    var connector: Connector { get }
    var peerFeatures: PeerFeatures { get }

    /// Returns the open link with this handle.
    func link(_ handle: ConnectionHandle) -> AccessLink?
    /// Called when another link to the same peer replaces this one.
    func replaced(_ link: AccessLink)
}
