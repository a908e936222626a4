import HCI
import HCIHost

/// What a user of the radio has with its controller.
enum ControllerTrouble {
    /// It refuses a command, which names these of the PHYs that not every controller has.
    case refused(HCICommandError, uses: LEPHYs)
    /// A scan for everybody hears nobody.
    case silent
    /// It is known not to do two things at once.
    case needsTurn(RadioTurns.Role)
}
