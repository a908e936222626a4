/// Who waits for the link of a client to become secure, besides procedures, which have their queues.
///
/// The owner is asked once for all that waits. Commands wait on when that came to nothing: the link may become secure for
/// another reason, and then there is room for them.
enum SecurityWish: Hashable {
    case none
    /// The owner was asked and has not answered. Perhaps commands wait too.
    case asked(commandsWait: Bool)
    /// Commands wait, and nobody is asked.
    case commandsWait

    /// Whether the owner has been asked and has not answered.
    var isAsked: Bool {
        if case .asked = self { return true }
        return false
    }

    /// A command was not sent.
    mutating func commandRefused() {
        switch self {
        case .none, .commandsWait: self = .commandsWait
        case .asked: self = .asked(commandsWait: true)
        }
    }

    /// The owner is asked.
    mutating func ask() {
        switch self {
        case .none: self = .asked(commandsWait: false)
        case .commandsWait: self = .asked(commandsWait: true)
        case .asked: break
        }
    }

    /// The owner has answered.
    ///
    /// - Returns: whether that was asked; an answer counts once.
    mutating func answered() -> Bool {
        guard case .asked(let commandsWait) = self else { return false }
        self = commandsWait ? .commandsWait : .none
        return true
    }

    /// The link is secure.
    ///
    /// - Returns: whether commands have waited for it.
    mutating func secured() -> Bool {
        switch self {
        case .none, .asked(commandsWait: false): return false
        case .commandsWait: self = .none
        case .asked(commandsWait: true): self = .asked(commandsWait: false)
        }
        return true
    }
}
