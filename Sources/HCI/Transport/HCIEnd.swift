/// An end of a transport between a host and a controller.
package enum HCIEnd: Sendable {
    /// The host's end; packets are sent to the controller.
    case host
    /// The controller's end; packets are sent to the host.
    case controller
}
