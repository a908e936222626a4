/// A deviation from the default use of a controller that does not do what it claims (`Documentation/Quirks.md`). The
/// raw values are stored in records and must not change.
package enum ControllerFallback: UInt8, CaseIterable, Hashable, Sendable {
    /// Use the legacy commands of version 4.0, though the controller claims the extended commands of version 5.0: these
    /// are refused or have no effect.
    case legacyCommands = 1
    /// Use the extended commands of version 5.0, though the controller does not list all of them: the legacy commands
    /// of version 4.0 hang.
    case extendedCommands = 2
    /// Do not use the Coded PHY, though the controller claims it.
    case noCodedPHY = 3
    /// Take turns advertising, scanning and connecting, though the controller claims to do them at once.
    case takesTurns = 4
    /// Omit 2M from the PHYs of a connection request, though the controller claims it.
    case no2MInitiating = 5

    /// The fallback that this one replaces, or nil if there is none.
    package var opposite: ControllerFallback? {
        switch self {
        case .legacyCommands: .extendedCommands
        case .extendedCommands: .legacyCommands
        case .noCodedPHY, .takesTurns, .no2MInitiating: nil
        }
    }
}
