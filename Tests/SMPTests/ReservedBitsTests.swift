import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import SMP

/// A peer that runs the pairing exchanges with its own features, including reserved bits, and computes every value that
/// depends on the features consistently.
struct Tester {
    static let central = PairingBench.central
    static let peripheral = PairingBench.peripheral

    let role: PairingRole
    let features: PairingFeatures
    /// Its own out-of-band data, and those it received.
    var ownData: OwnOutOfBandData?
    var peerData: OutOfBandData?
    private(set) var machine: PairingMachine
    private(set) var prompts: [PairingPrompt] = []
    private(set) var error: PairingError?
    private(set) var machineKey: Key128?
    private(set) var testerKey: Key128?
    private(set) var testerFailure: PairingFailure?
    private(set) var result: PairingResult?
    private let random = RandomSource(seed: 5)
    private var exchange: (any Exchange)?
    private var answered = 0
    private var toMachine: [SMPCommand] = []
    private var toTester: [SMPCommand] = []

    /// Creates a tester in `role` with all reserved bits of its features set.
    init(
        _ role: PairingRole,
        _ capability: IOCapability,
        requirements: AuthenticationRequirements,
        machine configuration: PairingConfiguration,
        ownData: (tester: OwnOutOfBandData?, machine: OwnOutOfBandData?) = (nil, nil)
    ) {
        self.role = role
        var features = PairingFeatures()
        features.ioCapability = capability
        features.outOfBandFlag = ownData.machine == nil ? 0 : 1
        features.requirements = requirements.union(AuthenticationRequirements(rawValue: 0xC0))
        features.initiatorKeys = KeyKinds(rawValue: 0xF0)
        features.responderKeys = KeyKinds(rawValue: 0xF0)
        self.features = features
        self.ownData = ownData.tester
        peerData = ownData.machine?.shared
        var context = PairingMachine.Context(
            initiatorAddress: Self.central,
            responderAddress: Self.peripheral,
            random: RandomSource(seed: 6)
        )
        context.ownData = ownData.machine
        context.peerData = ownData.tester?.shared
        machine = PairingMachine(role: role.other, configuration: configuration, context: context)
    }

    /// Runs the whole pairing.
    mutating func pair() {
        if role == .initiator {
            toMachine.append(.pairingRequest(PairingRequest(features)))
        } else {
            perform(machine.handle(.start(PairingDemand())))
        }
        for _ in 0..<200 {
            if !toMachine.isEmpty {
                perform(machine.handle(.received(toMachine.removeFirst().framed())))
            } else if !toTester.isEmpty {
                take(toTester.removeFirst())
            } else if answered < prompts.count {
                answered += 1
                answer(prompts[answered - 1])
            } else {
                return
            }
        }
    }

    private mutating func answer(_ prompt: PairingPrompt) {
        switch prompt {
        case .confirmPairing, .confirmReplacement, .compare: perform(machine.handle(.answered(.accept)))
        case .showPasskey(let passkey): perform(exchange?.answer(.passkey(passkey)) ?? [])
        case .enterPasskey, .enterPasskeyOnBoth: perform(machine.handle(.answered(.passkey(123_456))))
        }
        if case .compare = prompt { perform(exchange?.answer(.accept) ?? []) }
    }

    private mutating func take(_ command: SMPCommand) {
        switch command {
        case .pairingRequest(let packet):
            toMachine.append(.pairingResponse(PairingResponse(features)))
            begin(initiator: packet.features, responder: features)
        case .pairingResponse(let packet): begin(initiator: features, responder: packet.features)
        case .failed(let packet): testerFailure = packet.reason
        default: perform(exchange?.receive(command) ?? [])
        }
    }

    private mutating func begin(initiator: PairingFeatures, responder: PairingFeatures) {
        guard
            let negotiation = try? PairingNegotiation(
                role: role,
                initiator: initiator,
                responder: responder,
                configuration: PairingConfiguration()
            ), let keys = P256KeyPair(random: random.bytes)
        else { return }
        let setting = ExchangeSetting(
            negotiation: negotiation,
            initiatorAddress: Self.central,
            responderAddress: Self.peripheral,
            random: random,
            peerData: peerData
        )
        var exchange: any Exchange =
            negotiation.isSecureConnections
            ? SecureExchange(setting, keys: keys, ownData: ownData, acceptsDebugKey: false) : LegacyExchange(setting)
        let actions = exchange.begin()
        self.exchange = exchange
        perform(actions)
    }

    private mutating func perform(_ actions: [ExchangeAction]) {
        for action in actions {
            switch action {
            case .send(let command): toMachine.append(command)
            case .ask(.enterPasskey), .ask(.enterPasskeyOnBoth):
                for case .showPasskey(let passkey) in prompts { perform(exchange?.answer(.passkey(passkey)) ?? []) }
            case .ask: break
            case .agreed(let key): testerKey = key
            case .fail(let reason): toMachine.append(.failed(PairingFailed(reason)))
            }
        }
    }

    private mutating func perform(_ actions: [PairingMachine.Action]) {
        for action in actions {
            switch action {
            case .send(let command): toTester.append(command)
            case .askPermission: perform(machine.handle(.permitted(true)))
            case .ask(let prompt): prompts.append(prompt)
            case .encrypt(let key):
                machineKey = key
                perform(machine.handle(.encrypted(true)))
            case .completed(let result): self.result = result
            case .failed(let error): self.error = error
            default: break
            }
        }
    }
}

@Suite struct ReservedBitsTests {
    static func check(_ tester: Tester, isAuthenticated: Bool, isSecureConnections: Bool) throws {
        var tester = tester
        tester.pair()
        let result = try #require(tester.result, "\(String(describing: tester.error))")
        #expect(result.isAuthenticated == isAuthenticated)
        #expect(result.isSecureConnections == isSecureConnections)
        #expect(tester.machineKey == tester.testerKey)
        #expect(tester.machineKey == result.linkKey)
        // Reserved kinds of keys are neither distributed nor expected.
        #expect(result.ownKeys.kinds == [])
        #expect(result.peerKeys.kinds == [])
    }

    static func legacy(_ capability: IOCapability = .noInputNoOutput) -> PairingConfiguration {
        var configuration = LegacyPairingTests.configuration(capability)
        configuration.legacy = .only
        return configuration
    }

    @Test(
        "SM/CEN/JW/BI-04, SM/PER/JW/BI-03: reserved bits of the peer do not matter in legacy Just Works",
        arguments: [PairingRole.initiator, .responder]
    )
    func reserved_bits_in_legacy_just_works(tester: PairingRole) throws {
        let peer = Tester(tester, .noInputNoOutput, requirements: [.bonding], machine: Self.legacy())
        try Self.check(peer, isAuthenticated: false, isSecureConnections: false)
    }

    @Test(
        "SM/CEN/SCJW/BV-04, SM/PER/SCJW/BV-03: reserved bits of the peer do not matter in Just Works",
        arguments: [PairingRole.initiator, .responder]
    )
    func reserved_bits_in_just_works(tester: PairingRole) throws {
        let peer = Tester(
            tester,
            .noInputNoOutput,
            requirements: [.bonding, .secureConnections],
            machine: LegacyPairingTests.configuration(.noInputNoOutput)
        )
        try Self.check(peer, isAuthenticated: false, isSecureConnections: true)
    }

    @Test(
        "SM/CEN/SCPK/BV-04, SM/PER/SCPK/BV-03: reserved bits of the peer do not matter in passkey entry",
        arguments: [PairingRole.initiator, .responder]
    )
    func reserved_bits_in_passkey_entry(tester: PairingRole) throws {
        let peer = Tester(
            tester,
            .keyboardOnly,
            requirements: [.bonding, .protection, .secureConnections],
            machine: LegacyPairingTests.configuration(.displayOnly)
        )
        try Self.check(peer, isAuthenticated: true, isSecureConnections: true)
    }

    @Test(
        "SM/CEN/SCOB/BV-04, SM/PER/SCOB/BV-03: reserved bits of the peer do not matter with out-of-band data",
        arguments: [PairingRole.initiator, .responder]
    )
    func reserved_bits_with_data_of_another_way(tester: PairingRole) throws {
        let data = try SecureConnectionsTests.Data()
        let peer = Tester(
            tester,
            .noInputNoOutput,
            requirements: [.bonding, .secureConnections],
            machine: LegacyPairingTests.configuration(.noInputNoOutput),
            ownData: (data.initiator, data.responder)
        )
        try Self.check(peer, isAuthenticated: true, isSecureConnections: true)
    }

    @Test(
        "reserved bits do not matter in legacy passkey entry and numeric comparison",
        arguments: [PairingRole.initiator, .responder]
    )
    func reserved_bits_in_the_other_models(tester: PairingRole) throws {
        let legacy = Tester(
            tester,
            .keyboardOnly,
            requirements: [.protection],
            machine: Self.legacy(.displayOnly)
        )
        try Self.check(legacy, isAuthenticated: true, isSecureConnections: false)
        let comparison = Tester(
            tester,
            .displayYesNo,
            requirements: [.protection, .secureConnections],
            machine: LegacyPairingTests.configuration(.displayYesNo)
        )
        try Self.check(comparison, isAuthenticated: true, isSecureConnections: true)
    }
}
