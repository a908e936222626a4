import HCI
import HCIHost

/// Which of the two sets of commands a controller is driven with, for advertising, scanning and connecting alike: once it
/// has been given one of the extended commands it refuses the legacy ones, and the other way round (Core Vol 4 Part E
/// 3.1.1).
package enum CommandGeneration: Hashable, Sendable {
    /// The commands of version 4.0: one advertisement of up to 31 octets.
    case legacy
    /// The commands of version 5.0: advertising sets, longer data, other PHYs.
    case extended

    /// The newer commands, if the controller has all of them.
    package init(_ controller: ControllerInformation) {
        self = controller.supportsExtendedAdvertising ? .extended : .legacy
    }
}
