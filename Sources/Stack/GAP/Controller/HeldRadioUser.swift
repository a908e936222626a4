import Security

/// A user of the radio that can be paused for several reasons at once.
package protocol HeldRadioUser: RadioUser {
    /// Whether the controller works for this user or is about to.
    var isBusy: Bool { get }
    /// Called when the controller refuses, or seems to receive nothing. Returns whether a fall-back is being applied, for
    /// which the user waits.
    var onTrouble: ((ControllerTrouble) -> Bool)? { get set }
    /// Adds a reason to pause. Notifies privacy once the controller has stopped.
    func pause(_ holder: RadioHolders.Holder)
    /// Removes a reason, and resumes if none is left.
    func resume(_ holder: RadioHolders.Holder)
}

extension HeldRadioUser {
    /// Pauses while addresses or the resolving list change.
    package func pause() { pause(.privacy) }

    /// Resumes after a change of addresses or of the resolving list.
    package func resume() { resume(.privacy) }
}

/// The reasons for which a user of the radio is paused. It resumes when the last one is removed.
package struct RadioHolders {
    package enum Holder {
        /// The address or the resolving list is changing.
        case privacy
        /// Another user has its turn.
        case turns
    }

    private var holders: Set<Holder> = []

    mutating func add(_ holder: Holder) { holders.insert(holder) }

    /// Removes a reason and returns whether none is left.
    mutating func remove(_ holder: Holder) -> Bool {
        holders.remove(holder)
        return holders.isEmpty
    }
}
