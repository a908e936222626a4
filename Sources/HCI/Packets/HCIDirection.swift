/// Which way a packet goes.
package enum HCIDirection: Hashable, Sendable {
    /// Down, to the controller.
    case hostToController
    /// Up, to the host.
    case controllerToHost
}
