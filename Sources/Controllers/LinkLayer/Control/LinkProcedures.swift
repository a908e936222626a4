import HCI

/// The control procedures in progress on a link: at most one of this device and one of the peer, and a change that
/// waits for its instant (Core Vol 6 Part B 5.3).
struct LinkProcedures {
    /// The procedure that this device has started.
    private(set) var local: LinkControl.Local?
    /// The procedure that the peer has started.
    private(set) var remote: LinkControl.Remote?
    private(set) var pending: (instant: UInt16, change: LinkControl.Change)?
    /// Whether the peer has responded in this device's procedure that now waits for its instant.
    private(set) var isAnswered = false

    /// Starts a procedure of this device, or moves it on to its next state.
    mutating func start(_ state: LinkControl.Local) {
        local = state
    }

    /// Records the peer's response in this device's procedure.
    mutating func noteAnswer() {
        isAnswered = true
    }

    /// Ends this device's procedure.
    mutating func end() {
        (local, isAnswered) = (nil, false)
    }

    /// Ends this device's procedure if it is in this state.
    ///
    /// - Returns: Whether it was.
    mutating func end(_ state: LinkControl.Local) -> Bool {
        guard local == state else { return false }
        end()
        return true
    }

    /// Takes part in a procedure of the peer, or moves it on to its next state.
    mutating func join(_ state: LinkControl.Remote) {
        remote = state
    }

    /// Ends the peer's procedure.
    mutating func leave() {
        remote = nil
    }

    /// Ends the peer's procedure if it is in this state.
    mutating func leave(_ state: LinkControl.Remote) {
        if remote == state { leave() }
    }

    /// Lets a change wait for its instant.
    ///
    /// - Parameter isOwn: Whether it ends this device's procedure, rather than the peer's.
    mutating func schedule(_ change: LinkControl.Change, at instant: UInt16, isOwn: Bool) {
        pending = (instant, change)
        if isOwn { start(.awaitingInstant) } else { join(.awaitingInstant) }
    }

    /// Removes and returns the change whose instant is the event with this counter.
    mutating func take(at counter: UInt16) -> LinkControl.Change? {
        guard let pending, pending.instant == counter else { return nil }
        self.pending = nil
        return pending.change
    }

    /// Ends the procedures that have waited for an instant.
    ///
    /// - Returns: Whether one of them was this device's.
    mutating func endAtInstant() -> Bool {
        let isOwn = local == .awaitingInstant
        if isOwn { local = nil }
        isAnswered = false
        leave(.awaitingInstant)
        return isOwn
    }
}

/// The version and the features of the peer, as far as it has reported them.
struct PeerFacts: Hashable {
    var version: VersionIndication?
    var features: LEFeatures?
    /// Whether this device has sent its own version, which it does only once.
    var isVersionSent = false
}

/// The PHYs of a link.
struct LinkPHYs: Hashable {
    private(set) var tx: LEPHY
    private(set) var rx: LEPHY

    init(_ phy: LEPHY) {
        (tx, rx) = (phy, phy)
    }

    /// Changes the PHYs that are not nil.
    mutating func change(tx: LEPHY?, rx: LEPHY?) {
        self.tx = tx ?? self.tx
        self.rx = rx ?? self.rx
    }
}
