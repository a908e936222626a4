import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import SMP

/// Two exchanges connected to each other, with a record of everything they send. Two devices that share a mistake
/// understand each other, so these tests recompute the transmitted values from the formulas of the specification.
private struct Duet {
    var exchanges: [PairingRole: any Exchange]
    /// The commands that each side has sent, and its outcome.
    var said: [PairingRole: [SMPCommand]] = [.initiator: [], .responder: []]
    var keys: [PairingRole: Key128] = [:]
    var failures: [PairingRole: PairingFailure] = [:]
    var numbers: [PairingRole: UInt32] = [:]
    var passkey: UInt32?
    /// The commands in transit, in order.
    private var wire: [(to: PairingRole, command: SMPCommand)] = []
    /// The sides that have to enter a passkey. A user is slower than the link.
    private var asked: [PairingRole] = []

    init(_ make: (PairingRole) -> any Exchange) {
        exchanges = [.initiator: make(.initiator), .responder: make(.responder)]
    }

    /// Runs the exchange to its end, unless `stops` returns true first.
    mutating func run(until stops: (Duet) -> Bool = { _ in false }) {
        for role in [PairingRole.responder, .initiator] { perform(exchanges[role]?.begin() ?? [], of: role) }
        while !stops(self), !wire.isEmpty || !asked.isEmpty {
            if wire.isEmpty {
                let role = asked.removeFirst()
                perform(exchanges[role]?.answer(.passkey(passkey ?? 123_456)) ?? [], of: role)
            } else {
                let (role, command) = wire.removeFirst()
                perform(exchanges[role]?.receive(command) ?? [], of: role)
            }
        }
    }

    private mutating func perform(_ actions: [ExchangeAction], of role: PairingRole) {
        for action in actions {
            switch action {
            case .send(let command):
                said[role, default: []].append(command)
                wire.append((role.other, command))
            case .ask(.compare(let number)):
                numbers[role] = number
                perform(exchanges[role]?.answer(.accept) ?? [], of: role)
            case .ask(.showPasskey(let passkey)): self.passkey = passkey
            case .ask: asked.append(role)
            case .agreed(let key): keys[role] = key
            case .fail(let reason): failures[role] = reason
            }
        }
    }

    /// The values of the commands with this code.
    func values(_ role: PairingRole, _ code: SMPCode) -> [Block128] {
        (said[role] ?? []).filter { $0.code == code }.compactMap {
            switch $0 {
            case .confirm(let packet): packet.value
            case .random(let packet): packet.value
            case .dhKeyCheck(let packet): packet.value
            default: nil
            }
        }
    }
}

/// The transmitted values against the formulas (Core Vol 3 Part H 2.3.5.5, 2.3.5.6).
@Suite struct ExchangeAuditTests {
    private static let central = PairingBench.central
    private static let peripheral = PairingBench.peripheral
    private static let both = [PairingRole.initiator, .responder]

    /// Features that differ in everything that enters a check.
    private static func features(_ capability: IOCapability, isSecure: Bool, hasData: Bool, _ role: PairingRole)
        -> PairingFeatures
    {
        var features = PairingFeatures()
        features.ioCapability = capability
        features.outOfBandFlag = hasData ? 1 : 0
        features.requirements = role == .initiator ? [.bonding, .protection] : [.protection]
        if isSecure { features.requirements.insert(.secureConnections) }
        features.initiatorKeys = [.identity]
        return features
    }

    private struct Setup {
        var capabilities: (initiator: IOCapability, responder: IOCapability)
        var isSecure = true
        var informed: [PairingRole] = []
        var keySize: UInt8 = 16
        var ownData: [PairingRole: OwnOutOfBandData] = [:]

        func features(_ role: PairingRole) -> PairingFeatures {
            var features = ExchangeAuditTests.features(
                role == .initiator ? capabilities.initiator : capabilities.responder,
                isSecure: isSecure,
                hasData: informed.contains(role),
                role
            )
            if role == .responder { features.maximumKeySize = keySize }
            return features
        }

        func settings() throws -> Settings {
            Settings(initiator: try setting(.initiator), responder: try setting(.responder))
        }

        func setting(_ role: PairingRole) throws -> ExchangeSetting {
            var configuration = PairingConfiguration()
            configuration.minimumKeySize = 7
            return ExchangeSetting(
                negotiation: try PairingNegotiation(
                    role: role,
                    initiator: features(.initiator),
                    responder: features(.responder),
                    configuration: configuration
                ),
                initiatorAddress: ExchangeAuditTests.central,
                responderAddress: ExchangeAuditTests.peripheral,
                random: RandomSource(seed: role == .initiator ? 11 : 12),
                peerData: informed.contains(role)
                    ? (isSecure ? ownData[role.other]?.shared : .legacy(LegacyPairingTests.temporaryKey)) : nil
            )
        }
    }

    private struct Settings {
        let initiator: ExchangeSetting
        let responder: ExchangeSetting
        subscript(role: PairingRole) -> ExchangeSetting { role == .initiator ? initiator : responder }
    }

    // MARK: Legacy pairing

    @Test(
        "legacy pairing computes its values from the temporary key with c1 and s1",
        arguments: [
            (IOCapability.noInputNoOutput, IOCapability.noInputNoOutput, false, 16),
            (.noInputNoOutput, .noInputNoOutput, true, 16), (.displayOnly, .keyboardOnly, false, 16),
            (.keyboardOnly, .displayOnly, false, 7), (.keyboardOnly, .keyboardOnly, false, 12),
        ] as [(IOCapability, IOCapability, Bool, UInt8)]
    )
    func a_legacy_pairing_is_what_c1_and_s1_make_of_its_key(
        initiator: IOCapability,
        responder: IOCapability,
        hasData: Bool,
        keySize: UInt8
    ) throws {
        let setup = Setup(
            capabilities: (initiator, responder),
            isSecure: false,
            informed: hasData ? Self.both : [],
            keySize: keySize
        )
        let settings = try setup.settings()
        var duet = Duet { LegacyExchange(settings[$0]) }
        duet.run()
        let isPasskey = initiator == .keyboardOnly || responder == .keyboardOnly
        let key =
            hasData
            ? LegacyPairingTests.temporaryKey
            : Key128(Block128(high: 0, low: isPasskey ? UInt64(duet.passkey ?? 123_456) : 0))
        let (mrand, srand) = (
            try #require(duet.values(.initiator, .pairingRandom).first),
            try #require(duet.values(.responder, .pairingRandom).first)
        )
        for (role, random) in [(PairingRole.initiator, mrand), (.responder, srand)] {
            let expected = Toolbox.c1(
                key,
                random: random,
                request: PairingRequest(setup.features(.initiator)).framed().bytes,
                response: PairingResponse(setup.features(.responder)).framed().bytes,
                initiator: Self.central,
                responder: Self.peripheral
            )
            #expect(duet.values(role, .pairingConfirm) == [expected])
        }
        // STK = s1(TK, Srand, Mrand).
        let short = Toolbox.s1(key, responder: srand, initiator: mrand).shortened(to: Int(keySize))
        #expect(duet.keys == [.initiator: short, .responder: short])
        #expect(mrand != srand)
    }

    // MARK: LE Secure Connections

    private static let pairs = [
        PairingRole.initiator: P256KeyPair(random: RandomSource(seed: 21).bytes),
        .responder: P256KeyPair(random: RandomSource(seed: 22).bytes),
    ]

    private func duet(_ setup: Setup) throws -> Duet {
        let settings = try setup.settings()
        var duet = Duet { role in
            SecureExchange(
                settings[role],
                keys: Self.pairs[role] ?? nil,
                ownData: setup.informed.contains(role.other) ? setup.ownData[role] : nil,
                acceptsDebugKey: false
            )
        }
        duet.run()
        return duet
    }

    /// Checks the DHKey checks and the long-term key, from the last random values, the out-of-band values of each side,
    /// and both public keys.
    private func check(_ duet: Duet, _ setup: Setup, ra: Block128, rb: Block128) throws {
        let pair = try #require(setup.ownData[.initiator]?.keyPair ?? Self.pairs[.initiator] ?? nil)
        guard case .publicKey(let packet)? = duet.said[.responder]?.first else { throw PairingFailure.busy }
        let point = try #require(packet.point)
        let secret = try #require(pair.sharedSecret(with: point))
        let (a, b) = (Self.central, Self.peripheral)
        let na = try #require(duet.values(.initiator, .pairingRandom).last)
        let nb = try #require(duet.values(.responder, .pairingRandom).last)
        let keys = Toolbox.f5(secret, na, nb, a, b)
        let (ioA, ioB) = (setup.features(.initiator), setup.features(.responder))
        let ea = Toolbox.f6(
            keys.macKey,
            na,
            nb,
            rb,
            capabilities: [ioA.requirements.rawValue, ioA.outOfBandFlag, ioA.ioCapability.rawValue],
            a,
            b
        )
        let eb = Toolbox.f6(
            keys.macKey,
            nb,
            na,
            ra,
            capabilities: [ioB.requirements.rawValue, ioB.outOfBandFlag, ioB.ioCapability.rawValue],
            b,
            a
        )
        #expect(duet.values(.initiator, .pairingDHKeyCheck) == [ea])
        #expect(duet.values(.responder, .pairingDHKeyCheck) == [eb])
        let key = keys.longTermKey.shortened(to: Int(setup.keySize))
        #expect(duet.keys == [.initiator: key, .responder: key])
    }

    private func publicKeys() throws -> (a: [UInt8], b: [UInt8]) {
        (
            try #require(Self.pairs[.initiator] ?? nil).publicKey.x,
            try #require(Self.pairs[.responder] ?? nil).publicKey.x
        )
    }

    @Test(
        arguments: [
            (IOCapability.noInputNoOutput, IOCapability.noInputNoOutput, 16), (.displayYesNo, .displayYesNo, 16),
            (.keyboardDisplay, .displayYesNo, 7),
        ] as [(IOCapability, IOCapability, UInt8)]
    )
    func a_comparison_is_what_f4_g2_f5_and_f6_make_of_the_keys(
        initiator: IOCapability,
        responder: IOCapability,
        keySize: UInt8
    ) throws {
        let setup = Setup(capabilities: (initiator, responder), keySize: keySize)
        let duet = try duet(setup)
        let keys = try publicKeys()
        let na = try #require(duet.values(.initiator, .pairingRandom).first)
        let nb = try #require(duet.values(.responder, .pairingRandom).first)
        // Cb = f4(PKbx, PKax, Nb, 0), and Va = Vb = g2(PKax, PKbx, Na, Nb).
        #expect(duet.values(.responder, .pairingConfirm) == [Toolbox.f4(keys.b, keys.a, nb, 0)])
        #expect(duet.values(.initiator, .pairingConfirm).isEmpty)
        let number = Toolbox.g2(keys.a, keys.b, na, nb)
        #expect(duet.numbers == (initiator == .noInputNoOutput ? [:] : [.initiator: number, .responder: number]))
        try check(duet, setup, ra: .zero, rb: .zero)
    }

    @Test(
        "the twenty rounds of a passkey use f4 of its bits",
        arguments: [
            (IOCapability.keyboardOnly, IOCapability.displayOnly), (.displayOnly, .keyboardOnly),
            (.keyboardOnly, .keyboardOnly),
        ]
    )
    func twenty_rounds_are_what_f4_makes_of_the_passkey(initiator: IOCapability, responder: IOCapability) throws {
        let setup = Setup(capabilities: (initiator, responder))
        let duet = try duet(setup)
        let keys = try publicKeys()
        let passkey = duet.passkey ?? 123_456
        let randoms = (duet.values(.initiator, .pairingRandom), duet.values(.responder, .pairingRandom))
        let confirms = (duet.values(.initiator, .pairingConfirm), duet.values(.responder, .pairingConfirm))
        try #require([randoms.0, randoms.1, confirms.0, confirms.1].allSatisfy { $0.count == 20 })
        // Cai = f4(PKax, PKbx, Nai, rai), and vice versa; rai is 0x80 or 0x81.
        for round in 0..<20 {
            let bit: UInt8 = passkey >> UInt32(round) & 1 == 1 ? 0x81 : 0x80
            #expect(confirms.0[round] == Toolbox.f4(keys.a, keys.b, randoms.0[round], bit), "round \(round)")
            #expect(confirms.1[round] == Toolbox.f4(keys.b, keys.a, randoms.1[round], bit), "round \(round)")
        }
        let value = Block128(high: 0, low: UInt64(passkey))
        try check(duet, setup, ra: value, rb: value)
    }

    @Test(
        "out-of-band data enter the check of the side that received them",
        arguments: [[PairingRole.initiator], [.responder], [.initiator, .responder]]
    )
    func data_that_came_another_way_enter_the_check(informed: [PairingRole]) throws {
        let data = try SecureConnectionsTests.Data()
        let setup = Setup(
            capabilities: (.noInputNoOutput, .noInputNoOutput),
            informed: informed,
            ownData: Dictionary(uniqueKeysWithValues: informed.map { ($0.other, data[$0.other]) })
        )
        let duet = try duet(setup)
        // ra is A's value, which B received, and vice versa; 0 for a value that was not received (2.3.5.6.4).
        try check(
            duet,
            setup,
            ra: informed.contains(.responder) ? data.initiator.random : .zero,
            rb: informed.contains(.initiator) ? data.responder.random : .zero
        )
        // The out-of-band data are bound to the x coordinate: f4(PKx, PKx, r, 0).
        let x = data.initiator.keyPair.publicKey.x
        let confirm = Toolbox.f4(x, x, data.initiator.random, 0)
        #expect(data.initiator.shared == .secureConnections(confirm: confirm, random: data.initiator.random))
    }
}

// MARK: - Ended exchanges

extension ExchangeAuditTests {
    private static let methods: [(IOCapability, IOCapability, isSecure: Bool)] = [
        (.noInputNoOutput, .noInputNoOutput, true), (.displayYesNo, .displayYesNo, true),
        (.keyboardOnly, .displayOnly, true), (.displayOnly, .keyboardOnly, true),
        (.noInputNoOutput, .noInputNoOutput, false), (.keyboardOnly, .displayOnly, false),
        (.displayOnly, .keyboardOnly, false),
    ]

    /// An exchange that has ended, by success or failure, does nothing more: earlier commands may be repeated, and
    /// later ones may still arrive.
    @Test("AB-S05: a key exchange that has ended stays ended", arguments: methods.indices, both)
    func an_exchange_that_is_over_stays_over(index: Int, role: PairingRole) throws {
        let (initiator, responder, isSecure) = Self.methods[index]
        let setup = Setup(capabilities: (initiator, responder), isSecure: isSecure)
        let settings = try setup.settings()
        let fresh = Duet { role -> any Exchange in
            guard isSecure else { return LegacyExchange(settings[role]) }
            return SecureExchange(settings[role], keys: Self.pairs[role] ?? nil, ownData: nil, acceptsDebugKey: false)
        }
        var whole = fresh
        whole.run()
        let commands = (whole.said[.initiator] ?? []) + (whole.said[.responder] ?? [])
        #expect(whole.keys.count == 2)
        for count in 0...commands.count {
            // The random source goes on, so each attempt has its own values; the test is about the state.
            var duet = fresh
            var steps = 0
            duet.run { _ in
                steps += 1
                return steps > count
            }
            var exchange = try #require(duet.exchanges[role])
            let isDone = duet.keys[role] != nil
            if !isDone { #expect(exchange.receive(.failed(PairingFailed(.busy))) == [.fail(.unspecifiedReason)]) }
            for command in commands {
                var again = exchange
                #expect(again.receive(command) == [.fail(.unspecifiedReason)], "\(command.code) after \(count)")
            }
            #expect(exchange.answer(.accept).isEmpty && exchange.answer(.passkey(1)).isEmpty, "after \(count)")
            #expect(exchange.answer(.typing(.started)).isEmpty)
            // The shared secret is not kept in memory.
            let secret = Mirror(reflecting: exchange).descendant("secret") as? [UInt8]
            #expect(secret == (isSecure ? [] : nil))
        }
    }

    @Test(arguments: both, [false, true])
    func six_digits_are_entered_and_no_more(role: PairingRole, isSecure: Bool) throws {
        let setup = Setup(
            capabilities: role == .initiator ? (.keyboardOnly, .displayOnly) : (.displayOnly, .keyboardOnly),
            isSecure: isSecure
        )
        let setting = try setup.setting(role)
        for (passkey, isTaken) in [(0, true), (999_999, true), (1_000_000, false), (.max, false)] as [(UInt32, Bool)] {
            var exchange: any Exchange =
                isSecure
                ? SecureExchange(setting, keys: Self.pairs[role] ?? nil, ownData: nil, acceptsDebugKey: false)
                : LegacyExchange(setting)
            _ = exchange.begin()
            let peer = try #require(Self.pairs[role.other] ?? nil).publicKey
            if isSecure { _ = exchange.receive(.publicKey(PairingPublicKey(peer))) }
            let actions = exchange.answer(.passkey(passkey))
            #expect(actions.contains(.fail(.passkeyEntryFailed)) == !isTaken, "\(passkey)")
            // A second number does not count.
            if isTaken { #expect(exchange.answer(.passkey(1)).isEmpty) }
        }
    }
}
