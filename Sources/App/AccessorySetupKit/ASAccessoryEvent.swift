import ServiceMessages

/// The kinds of events of a session.
public enum ASAccessoryEventType: Int, Hashable, Sendable {
    /// An event of a kind that is not known.
    case unknown = 0
    /// The session is active, and its accessories are known.
    case activated = 10
    /// The session has ended, or could not be activated.
    case invalidated = 11
    /// An accessory that the app used before is now one of the session (behaviour 16.9).
    case migrationComplete = 20
    /// The user has added an accessory.
    case accessoryAdded = 30
    /// An accessory is no longer the app's.
    case accessoryRemoved = 31
    /// The name, the state or the descriptor of an accessory has changed.
    case accessoryChanged = 32
    /// An accessory was found that the app filters. It does not occur here.
    case accessoryDiscovered = 33
    /// The picker is on the screen.
    case pickerDidPresent = 40
    /// The picker is gone.
    case pickerDidDismiss = 50
    /// The accessory is being connected with Bluetooth Classic. It does not occur here.
    case pickerSetupBridging = 60
    /// The setup of the chosen accessory failed.
    case pickerSetupFailed = 70
    /// The chosen accessory is being paired.
    case pickerSetupPairing = 80
    /// The user is being asked for a name.
    case pickerSetupRename = 90
}

/// An event of a session.
open class ASAccessoryEvent: NSObject, @unchecked Sendable {
    // Safe: it has no mutable state.

    /// What happened.
    public let eventType: ASAccessoryEventType
    /// The accessory that the event is about; nil for events of the session and of the picker.
    public let accessory: ASAccessory?
    /// What failed; nil if nothing did.
    public let error: (any Error)?

    init(_ type: ASAccessoryEventType, _ accessory: ASAccessory? = nil, _ error: (any Error)? = nil) {
        eventType = type
        self.accessory = accessory
        self.error = error
    }

    /// The kind, the accessory and the error.
    open override var description: String {
        let details = [accessory?.description, error.map { "\($0)" }].compactMap { $0 }
        return "<ASAccessoryEvent: \(([("\(eventType)")] + details).joined(separator: ", "))>"
    }
}
