// Everything displayed, typed or exchanged out of band during pairing is as secret as the resulting key, so none of it
// is printed (Core Vol 3 Part H 2.3.5.6).

/// A value that shows its content neither in its description nor when it is dumped.
package protocol SecretContent: CustomStringConvertible, CustomReflectable {}

extension SecretContent {
    /// A mirror without children, so that `dump` shows the same as ``description``.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension OutOfBandData: SecretContent {
    /// The kind of pairing that the data is for, without the data.
    package var description: String {
        switch self {
        case .legacy: "legacy(secret)"
        case .secureConnections: "secureConnections(secret)"
        }
    }
}

extension OwnOutOfBandData: SecretContent {
    /// A fixed text, without the data.
    package var description: String { "secret" }
}

extension PairingPrompt: SecretContent {
    /// The kind of prompt, without the digits.
    package var description: String {
        switch self {
        case .confirmPairing: "confirmPairing"
        case .confirmReplacement: "confirmReplacement"
        case .showPasskey: "showPasskey(secret)"
        case .enterPasskey: "enterPasskey"
        case .enterPasskeyOnBoth: "enterPasskeyOnBoth"
        case .compare: "compare(secret)"
        }
    }
}

extension PairingAnswer: SecretContent {
    /// The kind of answer, without the digits.
    package var description: String {
        switch self {
        case .accept: "accept"
        case .refuse: "refuse"
        case .passkey: "passkey(secret)"
        case .typing(let kind): "typing(\(kind.rawValue))"
        }
    }
}
