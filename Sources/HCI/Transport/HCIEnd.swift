/// Which end of a line between a host and a controller a transport is.
package enum HCIEnd: Sendable {
    /// What is sent goes to the controller.
    case host
    /// What is sent goes to the host.
    case controller
}
