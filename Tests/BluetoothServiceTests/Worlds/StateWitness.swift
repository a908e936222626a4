import ServiceMessages

/// Checks the sequence of radio states that a manager receives (behaviours 1.3, 1.4, 1.18).
struct StateWitness {
    private(set) var last = ManagerState.unknown
    /// Whether the app was suspended since it last read its events. Of consecutive states it then receives only the
    /// last.
    var hasSlept = false

    /// Notes a state, and describes any fault.
    mutating func note(_ state: ManagerState) -> String? {
        defer { last = state }
        return follows(state) ? nil : "\(state) after \(last)"
    }

    /// The app's library reports the loss of the service by itself.
    mutating func lineIsLost() { last = .resetting }

    private func follows(_ state: ManagerState) -> Bool {
        switch (last, state) {
        // The off state is always reported, because connections ended with it (behaviour 1.11).
        case (.poweredOn, .poweredOn): false
        case (_, _) where hasSlept: true
        // Resetting implies that there was a radio, so it never follows any other state (behaviour 1.4).
        case (.unknown, .resetting), (.unsupported, .resetting), (.poweredOff, .resetting), (.unauthorized, .resetting):
            false
        // A controller that worked is searched for before it is reported missing.
        case (.poweredOn, .unsupported): false
        case (.poweredOn, .unknown): false
        default: last != state
        }
    }
}
