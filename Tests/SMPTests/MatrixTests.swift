import Cryptography
import Testing

@testable import SMP

/// Every combination of capabilities and requirements of two devices, against the specification's tables, which are
/// repeated here and not taken from the code.
@Suite struct MatrixTests {
    /// Core Vol 3 Part H table 2.8 for each pair of capabilities, first legacy, then LE Secure Connections. Rows are
    /// responders and columns initiators, both in the order of their numbers. J: Just Works, N: numeric comparison, I,
    /// R, B: a passkey displayed by the initiator, displayed by the responder, or entered on both.
    static let table: [[(legacy: String, secure: String)]] = [
        [("J", "J"), ("J", "J"), ("R", "R"), ("J", "J"), ("R", "R")],
        [("J", "J"), ("J", "N"), ("R", "R"), ("J", "J"), ("R", "N")],
        [("I", "I"), ("I", "I"), ("B", "B"), ("J", "J"), ("I", "I")],
        [("J", "J"), ("J", "J"), ("J", "J"), ("J", "J"), ("J", "J")],
        [("I", "I"), ("I", "N"), ("R", "R"), ("J", "J"), ("I", "N")],
    ]

    /// The features of one side.
    struct Side {
        var capability: IOCapability
        var wantsProtection: Bool
        var hasData: Bool
        var bonds: Bool

        var configuration: PairingConfiguration {
            var configuration = PairingConfiguration()
            configuration.ioCapability = capability
            configuration.wantsProtection = wantsProtection
            configuration.bonds = bonds
            configuration.givenKeys = [.encryption, .identity, .signing]
            configuration.wantedKeys = [.encryption, .identity, .signing]
            return configuration
        }
    }

    /// Tables 2.6 and 2.7: out-of-band data come first, with LE Secure Connections if one side has them, with legacy
    /// pairing if both do. Next, Just Works if neither side requires MITM protection. Then table 2.8.
    static func expected(_ initiator: Side, _ responder: Side, secure: Bool) -> String {
        switch (initiator.hasData, responder.hasData, secure) {
        case (true, true, _), (true, false, true), (false, true, true): return "O"
        default: break
        }
        guard initiator.wantsProtection || responder.wantsProtection else { return "J" }
        let cell = table[Int(responder.capability.rawValue)][Int(initiator.capability.rawValue)]
        return secure ? cell.secure : cell.legacy
    }

    /// The prompts of each user.
    static func prompts(_ letter: String, _ role: PairingRole) -> [String] {
        switch letter {
        case "O": []
        case "J": ["confirm"]
        case "N": ["compare"]
        case "B": ["enter on both"]
        case "I": [role == .initiator ? "show" : "enter"]
        default: [role == .responder ? "show" : "enter"]
        }
    }

    static func sides(_ capability: IOCapability) -> [Side] {
        var all: [Side] = []
        for protection in [false, true] {
            for data in [false, true] {
                for bonds in [false, true] {
                    all.append(
                        Side(capability: capability, wantsProtection: protection, hasData: data, bonds: bonds)
                    )
                }
            }
        }
        return all
    }

    @Test(
        "behaviour 6.8, AB-S17: every combination leads to the model, level, keys and prompts of the tables",
        arguments: IOCapability.all,
        [false, true]
    )
    func every_combination_leads_to_what_the_tables_say(capability: IOCapability, secure: Bool) throws {
        let data = try SecureConnectionsTests.Data()
        var count = 0
        for other in IOCapability.all {
            for initiator in Self.sides(capability) {
                for responder in Self.sides(other) {
                    // Bonding is one bit that affects nothing else: both, one and neither, with every other
                    // combination.
                    try check(initiator, responder, secure: secure, data)
                    count += 1
                }
            }
        }
        #expect(count == 5 * 8 * 8)
        print("pairings, initiator with \(capability), \(secure ? "LE Secure Connections" : "legacy"): \(count)")
    }

    private func check(
        _ initiator: Side,
        _ responder: Side,
        secure: Bool,
        _ data: SecureConnectionsTests.Data
    ) throws {
        var configurations = (initiator.configuration, responder.configuration)
        // Legacy pairing results if either side lacks LE Secure Connections.
        if !secure {
            if initiator.bonds { configurations.1.legacy = .only } else { configurations.0.legacy = .only }
        }
        var bench = PairingBench(initiator: configurations.0, responder: configurations.1) { role, context in
            context.ownData = data[role]
            let side = role == .initiator ? initiator : responder
            guard side.hasData else { return }
            context.peerData = secure ? data[role.other].shared : .legacy(LegacyPairingTests.temporaryKey)
        }
        bench.pair()
        let a = try #require(
            bench.initiator.result,
            "\(initiator) \(responder) \(String(describing: bench.initiator.error))"
        )
        let b = try #require(bench.responder.result)
        let letter = Self.expected(initiator, responder, secure: secure)
        for (role, result) in [(PairingRole.initiator, a), (.responder, b)] {
            #expect(result.isAuthenticated == (letter != "J"), "\(initiator) \(responder)")
            #expect(result.isSecureConnections == secure)
            #expect(result.keySize == 16)
            #expect(result.isBonding == (initiator.bonds && responder.bonds))
            #expect(result.peerKeys.kinds == (secure ? [.identity, .signing] : [.encryption, .identity, .signing]))
            #expect(
                bench[role].prompts.map(PairingTests.kind) == Self.prompts(letter, role),
                "\(initiator) \(responder)"
            )
            #expect(!bench[role].isPromptOpen && !bench[role].isTimerRunning)
        }
        #expect(a.linkKey == b.linkKey)
        #expect(a.linkKey != .zero)
        #expect(a.peerKeys == b.ownKeys)
        #expect(b.peerKeys == a.ownKeys)
        // The stored keys match in both directions.
        #expect(a.keys.localKey == b.keys.peerKey)
        #expect(a.keys.peerKey == b.keys.localKey)
        #expect(a.keys.localKey != nil)
        #expect(a.keys.peerKey != nil)
        #expect(secure == (a.keys.localKey == a.keys.peerKey))
        #expect(a.keys.localSigningKey == b.keys.peerSigningKey)
        #expect(a.keys.peerSigningKey == b.keys.localSigningKey)
    }
}
