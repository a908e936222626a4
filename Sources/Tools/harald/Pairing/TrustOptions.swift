import ArgumentParser
import BluetoothService
import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import GAP
import HCI
import SMP
import Security
import ServiceMessages

/// The input and output capabilities of the device, as an option.
enum IOCapabilityOption: String, ExpressibleByArgument, CaseIterable, Sendable {
    case displayOnly = "display-only"
    case displayYesNo = "display-yes-no"
    case keyboardOnly = "keyboard-only"
    case none = "none"
    case keyboardDisplay = "keyboard-display"

    var capability: IOCapability {
        switch self {
        case .displayOnly: .displayOnly
        case .displayYesNo: .displayYesNo
        case .keyboardOnly: .keyboardOnly
        case .none: .noInputNoOutput
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}

/// The options of commands that pair.
struct TrustOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The input and output capabilities of this device.", valueName: "CAPABILITY"))
    var ioCapability = IOCapabilityOption.keyboardDisplay

    @Flag(help: "Use legacy pairing only, which an eavesdropper can break.")
    var legacy = false

    @Flag(help: "Accept authenticated LE Secure Connections keys only.")
    var scOnly = false

    @Option(
        help: ArgumentHelp(
            "The answer to every pairing prompt: yes, no, or six digits (default: ask at the terminal).",
            valueName: "ANSWER"
        ),
        transform: preparedAnswer
    )
    var answer: TerminalPrompter.Prepared?

    @Option(
        help: ArgumentHelp(
            "Out-of-band data from the peer: 32 hexadecimal digits for legacy pairing, 64 for LE Secure Connections.",
            valueName: "HEX"
        ),
        transform: outOfBandData
    )
    var oob: OutOfBandData?

    @Flag(help: "Print out-of-band data for the peer, and use it when pairing.")
    var shareOob = false

    @Option(
        help: ArgumentHelp(
            "Keep bonds in this directory (default: forget them when the program ends).",
            valueName: "DIRECTORY"
        ),
        completion: .directory
    )
    var store: String?

    func validate() throws {
        try ShellLine.refuse(given)
        guard !(legacy && scOnly) else { throw ValidationError("--legacy and --sc-only are mutually exclusive") }
    }

    var given: [(name: String, isGiven: Bool)] {
        [
            ("--io-capability", ioCapability != .keyboardDisplay), ("--legacy", legacy), ("--sc-only", scOnly),
            ("--answer", answer != nil), ("--oob", oob != nil), ("--share-oob", shareOob), ("--store", store != nil),
        ]
    }

    var configuration: PairingConfiguration {
        var configuration = scOnly ? PairingConfiguration.secureConnectionsOnly : PairingConfiguration()
        configuration.ioCapability = ioCapability.capability
        if legacy { configuration.legacy = .only }
        return configuration
    }

    func configure(_ configuration: inout SystemConfiguration) {
        configuration.pairing = self.configuration
        if let store { configuration.keep(in: store) }
    }

    /// Configures pairing in `system`, as ``answerPrompts(of:keyboard:say:)`` does, and prints its notices and own
    /// out-of-band data.
    func prepare(
        _ system: LoopBound<BluetoothSystem>,
        _ outcome: Outcome,
        keyboard: any Keyboard = StandardInput(),
        say: @escaping @Sendable (String) -> Void = Console.line
    ) -> LoopBound<TerminalPrompter> {
        let sharesOutOfBand = shareOob
        system.with { system in
            if sharesOutOfBand, let own = system.peers.shareOutOfBand() { say("out of band: \(own.digits)") }
            system.observers.add(.notices) {
                if case .noticed(let notice) = $0.content, !outcome.isKnown { say("\(notice)") }
            }
        }
        return answerPrompts(of: system, keyboard: keyboard, say: say)
    }

    /// Configures pairing in `system`: the peer's out-of-band data, and a prompter that answers by option or asks at
    /// the terminal.
    ///
    /// - Returns: The prompter. Keep it as long as devices may pair.
    func answerPrompts(
        of system: LoopBound<BluetoothSystem>,
        keyboard: any Keyboard = StandardInput(),
        say: @escaping @Sendable (String) -> Void
    ) -> LoopBound<TerminalPrompter> {
        let trust = self
        return system.with { system in
            if let data = trust.oob { system.peers.expectOutOfBand(data) }
            let prompter = TerminalPrompter(loop: system.loop, prepared: trust.answer, keyboard: keyboard, say: say)
            system.peers.deviceSecurity.prompter = prompter
            return LoopBound(prompter, loop: system.loop)
        }
    }
}

extension OutOfBandData {
    /// Parses hexadecimal digits: 32 for the temporary key of legacy pairing, 64 for the confirm and random values of
    /// LE Secure Connections. Returns nil for any other text.
    init?(_ text: String) {
        guard let octets = octets(hexadecimal: text) else { return nil }
        if let key = Key128(octets) {
            self = .legacy(key)
        } else if octets.count == 32, let confirm = Block128(octets[..<16]), let random = Block128(octets[16...]) {
            self = .secureConnections(confirm: confirm, random: random)
        } else {
            return nil
        }
    }

    /// The digits in the form that ``init(_:)`` parses.
    var digits: String {
        switch self {
        case .legacy(let key): hexadecimal(key.bytes)
        case .secureConnections(let confirm, let random): hexadecimal(confirm.bytes + random.bytes)
        }
    }
}

extension KeyLevel {
    var inWords: String {
        let trust = isAuthenticated ? "authenticated" : "unauthenticated"
        return "\(trust), \(isSecureConnections ? "Secure Connections" : "legacy"), \(keySize) octets"
    }
}

private func preparedAnswer(_ text: String) throws -> TerminalPrompter.Prepared {
    guard let answer = TerminalPrompter.Prepared(text) else {
        throw ValidationError("\"\(text)\" is not yes, no or six digits")
    }
    return answer
}

private func outOfBandData(_ text: String) throws -> OutOfBandData {
    guard let data = OutOfBandData(text) else { throw ValidationError("--oob must be 32 or 64 hexadecimal digits") }
    return data
}
