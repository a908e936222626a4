import HCIHost

/// What a user of the radio has with its controller.
enum ControllerTrouble {
    /// It refuses a command.
    case refused(HCICommandError, usesCoded: Bool)
    /// A scan for everybody hears nobody.
    case silent
    /// It is known not to do two things at once.
    case needsTurn(RadioTurns.Role)
}
