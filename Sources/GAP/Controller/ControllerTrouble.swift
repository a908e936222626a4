import HCI
import HCIHost

/// A problem of a user of the radio with the controller.
enum ControllerTrouble {
    /// The controller refused a command that names the given optional PHYs.
    case refused(HCICommandError, uses: LEPHYs)
    /// A scan without a filter receives nothing.
    case silent
    /// The controller is known not to run two activities at once.
    case needsTurn(RadioTurns.Role)
}
