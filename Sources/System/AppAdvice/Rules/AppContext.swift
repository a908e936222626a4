import EventLoops
import Foundation
import ServiceMessages

/// The circumstances of an event, which all detectors may need.
struct AppContext: Sendable {
    let now: Instant
    let phase: AppPhase
    /// The place of the present call in the app, if there is a call and its place is known.
    var site: CallSite? = nil
    /// The peer that a sign is about.
    var peer: UUID? = nil

    /// Whether the user does not see the app.
    var isHidden: Bool { phase != .foreground }
}
