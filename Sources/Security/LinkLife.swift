/// How far the life of a link has come.
enum LinkLife {
    /// It may be used.
    case open(Undertaking)
    /// Its end is asked for: until it is there nothing goes over the link any more.
    case ending(Undertaking)
    case over

    /// What a link does by itself, one thing at a time: a bond whose key is still being tried is not lost yet.
    enum Undertaking {
        case none
        /// Right after connecting, the link is being encrypted with the key of the bond.
        case encrypting
        /// The bond is lost, and the person decides whether there may be another one, or that one is being made. Those wait
        /// for it.
        case replacing([SecureLink.Completion])
    }

    /// A link that is over does nothing.
    var undertaking: Undertaking {
        get {
            switch self {
            case .open(let undertaking), .ending(let undertaking): undertaking
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

/// How far a pairing on a link has come.
enum PairingStage {
    case none
    /// It was allowed to begin and is not over.
    case underWay
    /// It would replace the bond, which the device's policy has refused without asking anybody: it fails in a moment.
    case replacementRefused
}
