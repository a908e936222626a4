/// What the host does otherwise with a controller that turned out not to do what it says (`Documentation/Quirks.md`). The
/// numbers are those of records, and never change.
package enum ControllerFallback: UInt8, CaseIterable, Hashable, Sendable {
    /// It is driven with the commands of version 4.0, though it claims those of version 5.0: these are refused, or lead to nothing.
    case legacyCommands = 1
    /// It is driven with the commands of version 5.0, though it does not list all of them: those of version 4.0 hang.
    case extendedCommands = 2
    /// The Coded PHY is left alone, though it claims it.
    case noCodedPHY = 3
    /// Advertising, scanning and connecting take turns, though it claims to do them at once.
    case takesTurns = 4
    /// 2M is left out of the PHYs of a connection request, though the controller claims it.
    case no2MInitiating = 5

    /// The one that this one takes the place of.
    package var opposite: ControllerFallback? {
        switch self {
        case .legacyCommands: .extendedCommands
        case .extendedCommands: .legacyCommands
        case .noCodedPHY, .takesTurns, .no2MInitiating: nil
        }
    }
}
