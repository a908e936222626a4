import BluetoothService
import EventLoops

/// The circumstances of an event, which all detectors may need.
struct AppContext: Sendable {
    let now: Instant
    let phase: AppPhase

    /// Whether the user does not see the app.
    var isHidden: Bool { phase != .foreground }
}
