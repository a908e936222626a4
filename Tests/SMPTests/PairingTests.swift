import Testing

@testable import SMP

@Suite struct PairingTests {
    static func kind(_ prompt: PairingPrompt) -> String {
        switch prompt {
        case .confirmPairing: "confirm"
        case .confirmReplacement: "replace"
        case .showPasskey: "show"
        case .enterPasskey: "enter"
        case .enterPasskeyOnBoth: "enter on both"
        case .compare: "compare"
        }
    }
}
