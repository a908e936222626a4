import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

@Suite struct PairingTests {
    /// What the specification's table 2.8 says for each pair of capabilities, first legacy, then LE Secure Connections.
    /// Rows: the responder; columns: the initiator; both in the order of their numbers.
    static let table: [[(String, String)]] = [
        [("J", "J"), ("J", "J"), ("R", "R"), ("J", "J"), ("R", "R")],
        [("J", "J"), ("J", "N"), ("R", "R"), ("J", "J"), ("R", "N")],
        [("I", "I"), ("I", "I"), ("B", "B"), ("J", "J"), ("I", "I")],
        [("J", "J"), ("J", "J"), ("J", "J"), ("J", "J"), ("J", "J")],
        [("I", "I"), ("I", "N"), ("R", "R"), ("J", "J"), ("I", "N")],
    ]

    static func model(_ letter: String) -> AssociationModel {
        switch letter {
        case "N": .numericComparison
        case "I": .passkey(.initiatorShows)
        case "R": .passkey(.responderShows)
        case "B": .passkey(.bothTake)
        default: .justWorks
        }
    }

    static let features: [(mitm: (Bool, Bool), secure: Bool, bonds: Bool)] = {
        var all: [(mitm: (Bool, Bool), secure: Bool, bonds: Bool)] = []
        for mitm in [(false, false), (true, false), (false, true), (true, true)] {
            for secure in [false, true] { for bonds in [false, true] { all.append((mitm, secure, bonds)) } }
        }
        return all
    }()

    @Test(arguments: IOCapability.all, IOCapability.all)
    func every_pair_of_capabilities_leads_to_the_model_and_keys_of_the_tables(
        initiator: IOCapability,
        responder: IOCapability
    ) throws {
        for (mitm, secure, bonds) in Self.features {
            var configurations = (PairingConfiguration(), PairingConfiguration())
            configurations.0.ioCapability = initiator
            configurations.1.ioCapability = responder
            configurations.0.wantsProtection = mitm.0
            configurations.1.wantsProtection = mitm.1
            configurations.0.bonds = bonds
            if !secure { configurations.1.legacy = .only }
            var bench = PairingBench(initiator: configurations.0, responder: configurations.1)
            bench.pair()
            let a = try #require(
                bench.initiator.result,
                "\(mitm) \(secure) \(String(describing: bench.initiator.error))"
            )
            let b = try #require(bench.responder.result)
            let cell = Self.table[Int(responder.rawValue)][Int(initiator.rawValue)]
            let model = mitm.0 || mitm.1 ? Self.model(secure ? cell.1 : cell.0) : .justWorks
            #expect(a.isAuthenticated == (model != .justWorks))
            #expect(a.isSecureConnections == secure)
            #expect(a.linkKey == b.linkKey && a.keySize == 16 && a.isBonding == bonds)
            #expect(a.isAuthenticated == b.isAuthenticated && a.peerKeys == b.ownKeys && b.peerKeys == a.ownKeys)
            #expect(a.peerKeys.kinds == (secure ? [.identity] : [.encryption, .identity]))
            #expect(Self.prompts(model, .initiator) == bench.initiator.prompts.map(Self.kind))
            #expect(Self.prompts(model, .responder) == bench.responder.prompts.map(Self.kind))
            #expect(!bench.initiator.isPromptOpen && !bench.responder.isPromptOpen)
            #expect(!bench.initiator.isTimerRunning && !bench.responder.isTimerRunning)
        }
    }

    static func kind(_ prompt: PairingPrompt) -> String {
        switch prompt {
        case .confirmPairing: "confirm"
        case .confirmReplacement: "replace"
        case .showPasskey: "show"
        case .enterPasskey: "enter"
        case .compare: "compare"
        }
    }

    static func prompts(_ model: AssociationModel, _ role: PairingRole) -> [String] {
        switch (model, role) {
        case (.justWorks, _): ["confirm"]
        case (.numericComparison, _): ["compare"]
        case (.passkey(.initiatorShows), .initiator), (.passkey(.responderShows), .responder): ["show"]
        case (.passkey, _): ["enter"]
        case (.outOfBand, _): []
        }
    }
}
