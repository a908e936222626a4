/// The life cycle of a link.
enum LinkState {
    case open(Procedure)
    /// Disconnection has been requested. Until it completes, no more data is sent over the link.
    case ending(Procedure)
    case over

    /// The procedure that a link performs on its own initiative, one at a time. While the bond's key is still being
    /// tried, the bond does not count as lost.
    enum Procedure {
        case none
        /// The link was just established and is being encrypted with the bond's key.
        case encrypting
        /// The bond is lost. Either the user is deciding whether to replace it, or the new pairing is in progress. The
        /// completions wait for it.
        case replacing([SecureLink.Completion])
    }

    /// The procedure in progress; always `none` for a link that is over.
    var procedure: Procedure {
        get {
            switch self {
            case .open(let procedure), .ending(let procedure): procedure
            case .over: .none
            }
        }
        set {
            switch self {
            case .open: self = .open(newValue)
            case .ending: self = .ending(newValue)
            case .over: break
            }
        }
    }
}

/// The stage of a pairing on a link.
enum PairingStage: Hashable {
    case none
    /// The pairing was permitted, for the cause that it had, and has not ended.
    case underWay(PairingCause)
    /// The pairing would replace the bond, which the policy refused without a prompt. It is about to fail.
    case replacementRefused(PairingCause)

    var cause: PairingCause? {
        switch self {
        case .none: nil
        case .underWay(let cause), .replacementRefused(let cause): cause
        }
    }

    var isReplacementRefused: Bool { if case .replacementRefused = self { true } else { false } }
}
