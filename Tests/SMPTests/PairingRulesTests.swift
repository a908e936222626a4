import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import SMP

/// Pairing rules that both sides could break in the same way without noticing.
@Suite struct PairingRulesTests {
    private static let both = [PairingRole.initiator, .responder]

    private static func machine(
        _ role: PairingRole,
        _ configuration: PairingConfiguration = LegacyPairingTests.configuration(.noInputNoOutput),
        change: (inout PairingMachine.Context) -> Void = { _ in }
    ) -> PairingMachine {
        var context = PairingMachine.Context(
            initiatorAddress: PairingBench.central,
            responderAddress: PairingBench.peripheral,
            random: RandomSource(seed: 1)
        )
        change(&context)
        return PairingMachine(role: role, configuration: configuration, context: context)
    }

    private static func request(_ change: (inout PairingFeatures) -> Void = { _ in }) -> PacketBuffer {
        var features = PairingFeatures()
        features.requirements = [.bonding, .secureConnections]
        change(&features)
        return PairingRequest(features).framed()
    }

    // MARK: Idle machines

    @Test(arguments: both, [false, true])
    func a_machine_that_has_nothing_to_do_does_nothing(role: PairingRole, isDead: Bool) {
        var machine = Self.machine(role)
        if isDead {
            _ = machine.handle(role == .initiator ? .start(PairingDemand()) : .received(Self.request()))
            #expect(machine.handle(.timeout) == [.closePrompt, .failed(.timedOut)])
        }
        #expect(machine.isDead == isDead)
        #expect(!machine.isUnderWay)
        let events: [PairingMachine.Event] = [
            .permitted(true), .permitted(false), .answered(.accept), .answered(.refuse), .answered(.passkey(1)),
            .answered(.typing(.started)), .encrypted(true), .encrypted(false), .timeout, .linkLost,
            .cancel(.unspecifiedReason), .drop,
        ]
        for event in events { #expect(machine.handle(event).isEmpty, "\(event)") }
        #expect(machine.isDead == isDead)
        #expect(!machine.isUnderWay)
        #expect(machine.agreedKey == nil)
        #expect(machine.agreedLevel == nil)
        // A dead machine reports that to callers that want to pair, and sends nothing to the peer.
        let isCentral = role == .initiator
        let started: [PairingMachine.Action] = isDead ? [.failed(.timedOut)] : isCentral ? [.askPermission] : []
        #expect(machine.handle(.start(PairingDemand())) == started)
    }

    @Test func a_device_that_does_not_pair_begins_no_pairing() {
        var configuration = PairingConfiguration()
        configuration.isPairable = false
        var machine = Self.machine(.initiator, configuration)
        #expect(machine.handle(.start(PairingDemand())) == [.failed(.refused(.pairingNotSupported))])
        #expect(!machine.isUnderWay)
    }

    // MARK: Timeout

    /// Each command that is sent restarts the timeout once; no timer runs after the end (Core Vol 3 Part H 3.4).
    @Test(arguments: PairingMethod.all)
    func each_command_puts_the_timeout_off_once(method: PairingMethod) throws {
        var bench = try method.bench()
        bench.pair()
        for side in [bench.initiator, bench.responder] {
            #expect(side.result != nil)
            #expect(side.turns.count > 5)
            for turn in side.turns {
                let starts = turn.actions.count { $0 == .startTimer }
                let hasSent = turn.actions.contains { if case .send = $0 { true } else { false } }
                #expect(starts <= 1 && (!hasSent || starts == 1 || !turn.isUnderWay), "\(turn.actions)")
                let last = turn.actions.last { $0 == .startTimer || $0 == .stopTimer }
                #expect(turn.isUnderWay || last != .startTimer, "\(turn.actions)")
            }
        }
    }

    @Test(arguments: both)
    func a_pairing_waits_for_thirty_seconds_and_no_longer(absent: PairingRole) {
        let bench = SecuringTests.bench(.noInputNoOutput, .noInputNoOutput)
        bench[absent].delay = nil
        let outcome = PairedManagers.Outcome()
        bench.central.manager.secure(.encrypted) { outcome.result = $0 }
        bench.run(.milliseconds(29_990))
        #expect(outcome.result == nil)
        #expect(bench.central.manager.isPairing)
        bench.run(.milliseconds(300))
        #expect(outcome.error == .pairing(.timedOut))
        #expect(!bench.central.manager.isPairing)
    }

    /// Sixty keypresses restart the timeout and the next one does not; a new pairing counts from zero.
    @Test func sixty_keys_put_the_timeout_off_in_each_pairing() {
        var configuration = LegacyPairingTests.configuration(.keyboardOnly)
        configuration.notifiesKeypresses = true
        var bench = PairingBench(
            initiator: LegacyPairingTests.configuration(.displayOnly),
            responder: configuration,
            responderPerson: .init(accepts: false)
        )
        let pressed = KeypressNotification(.digitEntered).framed()
        for _ in 1...2 {
            bench.handle(.start(PairingDemand()), at: .initiator)
            while bench.initiator.prompts.isEmpty, bench.step() {}
            var machine = bench.initiator.machine
            for _ in 0..<60 {
                #expect(machine.handle(.received(pressed)) == [.startTimer, .peerPressedKey(.digitEntered)])
            }
            for _ in 0..<3 { #expect(machine.handle(.received(pressed)) == [.peerPressedKey(.digitEntered)]) }
            bench.initiator.machine = machine
            bench.run()
            #expect(bench.initiator.error != nil)
            #expect(!bench.initiator.machine.isUnderWay)
            bench.initiator.prompts = []
        }
    }

    // MARK: User consent

    /// Just Works needs the user's consent, unless given in advance; a peer that would replace a bond without proving
    /// its key needs it in any case (AB-S09).
    @Test(
        "AB-S09, AB-A14: the user is asked before anything begins where the rules require it",
        arguments: both,
        [PairingConsent.asked, .given]
    )
    func prompts_precede_pairing(role: PairingRole, consent: PairingConsent) {
        let level = KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true)
        for (isBonded, isProven, isJustWorks) in [
            (false, false, false), (false, false, true), (false, true, false), (false, true, true),
            (true, false, false), (true, false, true), (true, true, false), (true, true, true),
        ] {
            let capability: IOCapability = isJustWorks ? .noInputNoOutput : .displayYesNo
            var machine = Self.machine(role, LegacyPairingTests.configuration(capability)) { $0.consent = consent }
            machine.isProven = isProven
            var features = PairingFeatures()
            features.ioCapability = .displayYesNo
            features.requirements = [.bonding, .secureConnections, .protection]
            var demand = PairingDemand()
            demand.replaced = isBonded ? level : nil
            machine.demand = demand
            var actions: [PairingMachine.Action] = []
            if role == .initiator {
                _ = machine.handle(.start(demand))
                _ = machine.handle(.permitted(true))
                actions = machine.handle(.received(PairingResponse(features).framed()))
            } else {
                #expect(machine.handle(.received(PairingRequest(features).framed())) == [.askPermission])
                actions = machine.handle(.permitted(true))
            }
            let isReplacement = role == .responder && isBonded && !isProven
            let isAsked = isReplacement || isJustWorks && consent == .asked
            let prompts: [PairingMachine.Action] =
                isAsked
                ? [.startTimer, .ask(isReplacement ? .confirmReplacement : .confirmPairing)] : []
            // Nothing is sent before the user has answered.
            if isAsked {
                #expect(actions == prompts, "\(isBonded) \(isProven) \(isJustWorks)")
                actions = machine.handle(.answered(.accept))
                #expect(actions.first == .closePrompt)
            }
            guard case .send(let command)? = actions.first(where: { if case .send = $0 { true } else { false } }) else {
                Issue.record("nothing is sent: \(actions)")
                return
            }
            #expect(command.code == (role == .initiator ? .pairingPublicKey : .pairingResponse))
            #expect(actions.last == .startTimer)
            #expect(machine.isUnderWay)
        }
    }

    // MARK: Features

    /// The response contains no key that the request does not contain (Core Vol 3 Part H 3.6.1), and none that this
    /// device neither distributes nor accepts.
    @Test func the_response_only_takes_keys_away() throws {
        for (given, wanted) in [
            (KeyKinds(rawValue: 7), KeyKinds(rawValue: 7)), (.encryption, .identity), ([], .signing),
        ] {
            for bits in UInt8.min...UInt8.max {
                var configuration = LegacyPairingTests.configuration(.noInputNoOutput)
                (configuration.givenKeys, configuration.wantedKeys) = (given, wanted)
                var machine = Self.machine(.responder, configuration) {
                    $0.consent = .given
                    $0.ownIdentity = .init(key: Key128(Block128(high: 1, low: 1)), address: PairingBench.peripheral)
                }
                let asked = (KeyKinds(rawValue: bits), KeyKinds(rawValue: bits &* 37 &+ 11))
                _ = machine.handle(.received(Self.request { ($0.initiatorKeys, $0.responderKeys) = asked }))
                let actions = machine.handle(.permitted(true))
                guard case .send(.pairingResponse(let response))? = actions.first else {
                    Issue.record("\(actions)")
                    return
                }
                #expect(response.features.initiatorKeys == wanted.intersection(asked.0))
                #expect(response.features.responderKeys == given.intersection(asked.1))
            }
        }
    }

    /// A device without an identity of its own is known by its address on the link, which no peer may claim (AB-S11).
    @Test("AB-S11: the peer's claim of our own address is rejected", arguments: both, [false, true])
    func our_own_address_is_rejected_as_the_peers(liar: PairingRole, hasIdentity: Bool) {
        let victim = liar.other
        let isCentral = victim == .initiator
        let lasting = BluetoothAddress(0xC000_0000_0077, kind: .randomDevice)
        let own = hasIdentity ? lasting : isCentral ? PairingBench.central : PairingBench.peripheral
        for (address, isTaken) in [(own, false), (BluetoothAddress(0xC000_0000_0078, kind: .randomDevice), true)] {
            var bench = PairingBench(
                initiator: LegacyPairingTests.configuration(.noInputNoOutput),
                responder: LegacyPairingTests.configuration(.noInputNoOutput)
            ) { role, context in
                guard role == victim else { return }
                context.ownIdentity =
                    hasIdentity ? .init(key: Key128(Block128(high: 5, low: 5)), address: lasting) : nil
            }
            bench.tamper = { role, command in
                let isPlace = role == liar && command.code == .identityAddressInformation
                return [isPlace ? IdentityAddressInformation(address).framed().bytes : command.framed().bytes]
            }
            bench.pair()
            #expect((bench[victim].error == .refused(.keyRejected)) == !isTaken)
            #expect((bench[victim].result?.keys.identityAddress == address) == isTaken)
        }
    }

    /// An all-zero key stands for no key, and does not count as ours, even if we have none either (Core Vol 3 Part H
    /// 2.4.2.1).
    @Test("two devices without private addresses have the same all-zero key and pair", arguments: both)
    func two_without_private_addresses_pair(first: PairingRole) throws {
        var bench = PairingBench(
            initiator: LegacyPairingTests.configuration(.noInputNoOutput),
            responder: LegacyPairingTests.configuration(.noInputNoOutput)
        ) { role, context in
            if role == first { context.ownIdentity = nil } else { context.ownIdentity?.key = .zero }
        }
        bench.pair()
        let keys = try #require(bench[first].result).keys
        #expect(keys.identityKey == nil)
        #expect(keys.identityAddress == (first == .initiator ? PairingBench.peripheral : PairingBench.central))
    }

    /// Identity addresses are public or static random addresses (Core Vol 3 Part H 3.6.5).
    @Test(
        "AB-S11: a distributed identity that is not permanent is rejected",
        arguments: [
            ("public", 0x0000_0000_0001, 0, true), ("public, like a static one", 0xC000_0000_0001, 0, true),
            ("lowest static", 0xC000_0000_0001, 1, true), ("highest static", 0xFFFF_FFFF_FFFE, 1, true),
            ("resolvable private", 0x4000_0000_0001, 1, false), ("non-resolvable private", 0x0000_0000_0001, 1, false),
            ("reserved random", 0x8000_0000_0001, 1, false), ("static of kind 2", 0xC000_0000_0001, 2, false),
            ("static of kind 3", 0xC000_0000_0001, 3, false), ("public of kind 2", 0x0000_0000_0001, 2, false),
        ] as [(String, UInt64, UInt8, Bool)]
    )
    func an_identity_that_does_not_last_is_rejected(
        name: String,
        value: UInt64,
        kind: UInt8,
        isAccepted: Bool
    ) throws {
        for liar in Self.both {
            var bench = PairingBench(
                initiator: LegacyPairingTests.configuration(.noInputNoOutput),
                responder: LegacyPairingTests.configuration(.noInputNoOutput)
            )
            let octets = (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
            bench.tamper = { role, command in
                let isPlace = role == liar && command.code == .identityAddressInformation
                return [isPlace ? [0x09, kind] + octets : command.framed().bytes]
            }
            bench.pair()
            let victim = bench[liar.other]
            #expect((victim.error == .refused(.keyRejected)) == !isAccepted)
            guard isAccepted else { continue }
            let address = try #require(victim.result?.keys.identityAddress)
            #expect(address.value == value)
            #expect(address.kind.isRandom == (kind == 1))
        }
    }
}

// MARK: - Default values

extension PairingRulesTests {
    /// An empty command contains zeroes; empty features promise nothing but 16 octets.
    @Test func commands_begin_empty() throws {
        #expect(CentralIdentification().framed().bytes == [0x07] + [UInt8](repeating: 0, count: 10))
        #expect(PairingFailed().framed().bytes == [0x05, 0])
        #expect(PairingPublicKey().framed().bytes == [0x0C] + [UInt8](repeating: 0, count: 64))
        #expect(try SMPCommand(PairingPublicKey().framed()) == .publicKey(PairingPublicKey()))
        #expect(PairingRequest().framed().bytes == [0x01, 3, 0, 0, 16, 0, 0])
        for command: any SMPPacket in [
            EncryptionInformation(), IdentityInformation(), SigningInformation(), PairingConfirm(), PairingRandom(),
            PairingDHKeyCheck(),
        ] {
            #expect(command.framed().bytes.dropFirst() == ArraySlice([UInt8](repeating: 0, count: 16)))
        }
        #expect(IdentityAddressInformation().framed().bytes.count == 8)
        #expect(SecurityRequest().framed().bytes == [0x0B, 0])
    }

    /// A public key is the longest command, and the channel accepts it (Core Vol 3 Part H 3.2).
    @Test func the_channel_takes_the_longest_command_and_no_more() {
        #expect(PairingPublicKey().framed().count == SecurityManager.maximumPayload)
        #expect(SecurityManager.maximumPayload == 65)
        #expect(SMPCommand.longest == 64)
    }

    @Test func keys_begin_without_a_signature_made_or_taken() {
        let keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: false))
        #expect(keys.localSignCounter == 0)
        #expect(keys.peerSignCounter == 0)
        #expect(!keys.canEncrypt)
        for isLocal in [false, true] {
            var keys = keys
            let key = EncryptionKey(key: Key128(Block128(high: 1, low: 1)))
            if isLocal { keys.localKey = key } else { keys.peerKey = key }
            #expect(keys.canEncrypt)
        }
    }
}
