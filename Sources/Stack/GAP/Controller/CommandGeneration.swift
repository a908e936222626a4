import HCI
import HCIHost

/// The generation of HCI commands for advertising, scanning and connecting. A controller that has received an extended
/// command refuses the legacy ones, and the other way round (Core Vol 4 Part E 3.1.1).
package enum CommandGeneration: Hashable, Sendable {
    /// The commands of version 4.0: one advertisement of up to 31 octets.
    case legacy
    /// The commands of version 5.0: advertising sets, longer data, other PHYs.
    case extended

    /// The extended commands if the controller supports all of them, otherwise the legacy ones.
    package init(_ controller: ControllerInformation) {
        self = controller.supportsExtendedAdvertising ? .extended : .legacy
    }
}
