import BluetoothTypes

/// The state of a client's request for a more secure link.
///
/// The owner is asked once for everything that waits. Procedures wait in their own queues. Commands keep waiting even
/// if the owner fails: the link may become secure for another reason, and then there is room for them.
enum SecurityRequestState: Hashable {
    case none
    /// The owner was asked and has not answered yet. Commands may be waiting too.
    case asked(commandsWait: Bool)
    /// Commands are waiting, and the owner is not being asked.
    case commandsWait

    /// Whether the owner was asked and has not answered yet.
    var isAsked: Bool {
        if case .asked = self { return true }
        return false
    }

    /// Records that a command was held back.
    mutating func commandRefused() {
        switch self {
        case .none, .commandsWait: self = .commandsWait
        case .asked: self = .asked(commandsWait: true)
        }
    }

    /// Records that the owner was asked.
    mutating func ask() {
        switch self {
        case .none: self = .asked(commandsWait: false)
        case .commandsWait: self = .asked(commandsWait: true)
        case .asked: break
        }
    }

    /// Records the owner's answer.
    ///
    /// - Returns: Whether an answer was pending. An answer counts once.
    mutating func answered() -> Bool {
        guard case .asked(let commandsWait) = self else { return false }
        self = commandsWait ? .commandsWait : .none
        return true
    }

    /// Records that the link is secure enough.
    ///
    /// - Returns: Whether commands were waiting for it.
    mutating func secured() -> Bool {
        switch self {
        case .none, .asked(commandsWait: false): return false
        case .commandsWait: self = .none
        case .asked(commandsWait: true): self = .asked(commandsWait: false)
        }
        return true
    }
}

/// The outcome of an attempt to make a link more secure on behalf of a client.
package enum SecuringOutcome: Hashable, Sendable {
    case secured
    /// No attempt was made: nothing would help, or no user can be asked.
    case untried
    case failed(UnderlyingError)
}
