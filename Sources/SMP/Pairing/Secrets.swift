// What is shown, typed or carried while two devices pair is as secret as the key that comes of it, and prints as little (Core Vol 3
// Part H 2.3.5.6).

extension OutOfBandData: CustomStringConvertible, CustomReflectable {
    /// The kind of pairing that it is for.
    package var description: String {
        switch self {
        case .legacy: "legacy(secret)"
        case .secureConnections: "secureConnections(secret)"
        }
    }

    /// Without parts: `dump` shows what ``description`` shows.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension OwnOutOfBandData: CustomStringConvertible, CustomReflectable {
    /// The same, whatever it is.
    package var description: String { "secret" }

    /// Without parts: `dump` shows what ``description`` shows.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension PairingPrompt: CustomStringConvertible, CustomReflectable {
    /// What is asked or shown, without the digits.
    package var description: String {
        switch self {
        case .confirmPairing: "confirmPairing"
        case .confirmReplacement: "confirmReplacement"
        case .showPasskey: "showPasskey(secret)"
        case .enterPasskey: "enterPasskey"
        case .compare: "compare(secret)"
        }
    }

    /// Without parts: `dump` shows what ``description`` shows.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension PairingAnswer: CustomStringConvertible, CustomReflectable {
    /// What the person does, without the digits.
    package var description: String {
        switch self {
        case .accept: "accept"
        case .refuse: "refuse"
        case .passkey: "passkey(secret)"
        case .typing(let kind): "typing(\(kind.rawValue))"
        }
    }

    /// Without parts: `dump` shows what ``description`` shows.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
