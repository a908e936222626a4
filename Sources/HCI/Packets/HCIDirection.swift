/// The direction of a packet.
package enum HCIDirection: Hashable, Sendable {
    /// From the host to the controller.
    case hostToController
    /// From the controller to the host.
    case controllerToHost
}
