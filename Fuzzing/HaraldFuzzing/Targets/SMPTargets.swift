import BluetoothTypes
import Cryptography
import EventLoops

@testable import SMP

extension FuzzTarget {
    /// All commands of the Security Manager.
    static let smpPDUs = FuzzTarget("smp-pdus", maximumLength: 80, seeds: SMPSeeds.commands) { input in
        guard let command = Codec.read(input, SMPCommand.init) else { return }
        Codec.survives(command, encode: { $0.framed() }, decode: SMPCommand.init)
        hold(command.code.rawValue == input.octets.first, "the command does not match its code")
    }

    /// A single security manager with arbitrary input.
    static let smpMachine = FuzzTarget("smp-machine", maximumLength: 1_024, seeds: SMPSeeds.machine) { input in
        var input = input
        let scene = LoneManager(setup: input.octet(), input.octet())
        while !input.isAtEnd { scene.take(&input) }
        scene.end()
    }

    /// Two security managers that pair, with an attacker in between.
    static let smpConversations = FuzzTarget(
        "smp-conversations",
        maximumLength: 400,
        seeds: SMPSeeds.conversations
    ) { input in
        let scene = Conversation(input)
        scene.run()
        scene.end()
    }
}

/// The reactions of one side to the prompts of a fuzzed pairing, and the conditions on the keys it stores.
final class FuzzedPerson {
    /// Whether the user accepted the current pairing, or need not.
    private(set) var hasAgreed = false
    private(set) var prompt: PairingPrompt?
    var hasData = false
    private var answer: ((PairingAnswer) -> Void)?

    func begin() { hasAgreed = false }

    func ask(_ prompt: PairingPrompt, _ answer: @escaping (PairingAnswer) -> Void) {
        self.prompt = prompt
        self.answer = answer
        // Displaying six digits counts as consent.
        if case .showPasskey(let passkey) = prompt {
            hasAgreed = true
            hold(passkey <= 999_999, "a passkey of seven digits")
        }
        if case .compare(let number) = prompt { hold(number <= 999_999, "a number of seven digits") }
    }

    func close() { prompt = nil }

    func reply(_ reply: PairingAnswer) {
        switch (reply, prompt) {
        case (.accept, .confirmPairing), (.accept, .confirmReplacement), (.accept, .compare): hasAgreed = true
        case (.passkey, .enterPasskey), (.passkey, .enterPasskeyOnBoth): hasAgreed = true
        default: break
        }
        answer?(reply)
    }

    /// Checks the keys of a pairing.
    func check(_ manager: SecurityManager, _ keys: PeerKeys) {
        hold(hasAgreed || hasData, "a pairing without consent")
        hold(manager.encryption != nil, "keys came over a link that is not encrypted")
        hold(keys.peerKey?.key != .zero && keys.localKey?.key != .zero, "a key of zeroes")
        hold((7...16).contains(keys.level.keySize), "a key of \(keys.level.keySize) octets")
    }
}

enum SMPSeeds {
    static var commands: [[UInt8]] {
        let lengths: [UInt8: Int] = [1: 6, 2: 6, 5: 1, 7: 10, 9: 7, 11: 1, 12: 64, 14: 1]
        return (1...14 as ClosedRange<UInt8>).flatMap { code -> [[UInt8]] in
            let fields = (1..<80).prefix(lengths[code] ?? 16).map { UInt8($0) }
            return [[code] + fields, [code] + fields.dropLast(), [code] + fields.map { _ in 0 }]
        } + [PairingPublicKey(P256KeyPair.debug.publicKey).framed().bytes]
    }

    static var machine: [[UInt8]] {
        let request: [UInt8] = [1, 3, 0, 9, 16, 1, 1]
        let key = PairingPublicKey(P256KeyPair.debug.publicKey).framed().bytes
        var seeds: [[UInt8]] = []
        for setup in 0..<16 as Range<UInt8> {
            for second in [0, 1, 4, 16, 255] as [UInt8] {
                let begin = [setup, second] + step(0, request) + step(2, []) + step(0, key)
                seeds.append(begin + commands.flatMap { step(0, $0) })
                seeds.append([setup, second] + step(1, []) + commands.flatMap { step(0, $0) + step(3, []) })
                seeds += schedules(request).map { [setup, second] + $0 }
            }
        }
        return seeds
    }

    /// Events while the link is being encrypted: the bond is removed, with or without notice; the peer requests a
    /// pairing, and the user answers late; a started pairing fails.
    private static func schedules(_ request: [UInt8]) -> [[UInt8]] {
        let (asksForKey, isOn) = (step(5, [0]), step(4, [0]))
        return [
            asksForKey + step(7, [0]) + isOn, asksForKey + step(7, [8]) + isOn,
            step(1, [0]) + step(7, [0]) + isOn, step(1, [0]) + step(7, [8]) + isOn,
            step(0, request) + asksForKey + isOn + step(2, []) + step(6, [31]),
            asksForKey + step(0, request) + isOn + step(7, [8]),
            asksForKey + isOn + step(0, request) + step(2, []) + step(0, [5, 8]) + isOn,
        ]
    }

    static var conversations: [[UInt8]] {
        var seeds: [[UInt8]] = []
        for central in 0..<16 as Range<UInt8> {
            for peripheral in [0, 1, 2, 3, 4, 8, 32, 64] as [UInt8] {
                seeds.append([central, peripheral, 7])
            }
            // A change at each place, before and after the link is encrypted.
            for place in 0..<18 {
                for change in 1..<8 as Range<UInt8> {
                    let begins: UInt8 = place < 9 ? 3 : 9
                    seeds.append([central, central, begins] + [UInt8](repeating: 0, count: place) + [change, 9, 9, 9])
                }
            }
            // Two bonded peers, one of which may remove the bond meanwhile, and an attacker who is faster than the
            // central.
            for begins in [0x14, 0x12, 0x16, 0x34, 0x74, 0x32, 0x72] as [UInt8] {
                seeds.append([central, central, begins])
                for forged in [[1, 3, 0, 1, 16, 0, 0], [1, 3, 0, 9, 16, 1, 1], [5, 8], [0x0B, 5]] as [[UInt8]] {
                    seeds.append([central, central, begins | 0x80] + counted(forged))
                }
            }
        }
        return seeds
    }
}
