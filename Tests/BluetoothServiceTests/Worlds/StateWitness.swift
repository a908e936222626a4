@testable import BluetoothService

/// Which states of the radio a manager is told one after the other (behaviours 1.3, 1.4, 1.18).
struct StateWitness {
    private(set) var last = ManagerState.unknown
    /// The app has not run since it last looked: of states that follow each other it is told the last one alone.
    var hasSlept = false

    /// Notes a state; what is wrong with it, in words.
    mutating func note(_ state: ManagerState) -> String? {
        defer { last = state }
        return follows(state) ? nil : "\(state) after \(last)"
    }

    /// The app's side has been told that the service is gone, by itself.
    mutating func lineIsLost() { last = .resetting }

    private func follows(_ state: ManagerState) -> Bool {
        switch (last, state) {
        // That it was off is told in every case, since connections ended with it (behaviour 1.11).
        case (.poweredOn, .poweredOn): false
        case (_, _) where hasSlept: true
        // Resetting says that there was a radio, and never follows something else (behaviour 1.4).
        case (.unknown, .resetting), (.unsupported, .resetting), (.poweredOff, .resetting), (.unauthorized, .resetting):
            false
        // A controller that worked is looked for before there is none.
        case (.poweredOn, .unsupported): false
        case (.poweredOn, .unknown): false
        default: last != state
        }
    }
}
