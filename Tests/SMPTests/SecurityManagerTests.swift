import BluetoothTypes
import Cryptography
import EventLoops
import L2CAP
import LoopbackLinks
import Testing

@testable import SMP

@Suite struct SecurityManagerTests {
    static let pairingRequest: [UInt8] = [0x01, 3, 0, 0x0D, 16, 1, 1]
    static let securityRequest: [UInt8] = [0x0B, 0x0D]

    private func answers(_ role: L2CAPRole, to payloads: [[UInt8]]) -> [[UInt8]] {
        let loop = VirtualEventLoop()
        let (link, peer) = LoopbackLink.pair(loop: loop)
        let connection = L2CAPConnection(link: link, role: role, loop: loop)
        let channel = connection.register(.securityManager, maximumPayload: SecurityManager.maximumPayload)
        let manager = SecurityManager(
            channel: channel,
            role: role == .central ? .initiator : .responder,
            ownAddress: PairingBench.central,
            peerAddress: PairingBench.peripheral,
            loop: loop,
            random: RandomSource(seed: 1)
        )
        for payload in payloads { peer.inject(payload, on: 6) }
        loop.run(for: .seconds(1))
        #expect(manager.encryption == nil)
        return link.takeSent(on: 6)
    }

    @Test func pairingIsRefused() {
        #expect(answers(.peripheral, to: [Self.pairingRequest]) == [[0x05, 0x05]])
        #expect(answers(.central, to: [Self.pairingRequest]).isEmpty)
    }

    @Test func aSecurityRequestIsRefused() {
        #expect(answers(.central, to: [Self.securityRequest]) == [[0x05, 0x05]])
        #expect(answers(.peripheral, to: [Self.securityRequest]).isEmpty)
    }

    @Test(arguments: [L2CAPRole.central, .peripheral])
    func everythingElseIsIgnored(role: L2CAPRole) {
        let others = (UInt8.min...UInt8.max).filter { $0 != 0x01 && $0 != 0x0B }
        #expect(answers(role, to: others.map { [$0, 1, 2, 3, 4, 5, 6] } + [[]]).isEmpty)
    }

    @Test func truncatedAtEveryByte() {
        let cut = (1..<Self.pairingRequest.count).map { Array(Self.pairingRequest[..<$0]) }
        let answers = answers(.peripheral, to: [[]] + cut + [Self.pairingRequest + [0]])
        #expect(answers == [[UInt8]](repeating: [0x05, 0x0A], count: cut.count + 1))
        #expect(self.answers(.central, to: [[0x0B], [0x0B, 1, 2]] + cut + [Self.pairingRequest + [0]]).isEmpty)
    }

    @Test func everyPacketGoesBothWays() throws {
        func check<T: SMPPacket>(_ type: T.Type, _ octets: [UInt8]) throws {
            #expect(try T(reading: PacketBuffer(octets).suffix(after: 1)).framed().bytes == octets)
        }
        try check(PairingRequest.self, Self.pairingRequest)
        try check(SecurityRequest.self, Self.securityRequest)
        try check(PairingFailed.self, [0x05, 0x05])
    }
}

// MARK: - The manager around the machines

extension SecurityManagerTests {
    private static let both = [PairingRole.initiator, .responder]

    /// Both addresses enter the computations of both sides; two sides that swap them alike would not notice.
    @Test func the_central_is_the_initiator_at_both_ends() {
        let bench = SecuringTests.bench()
        for role in Self.both {
            let context = bench[role].manager.machine.pairing.context
            #expect(context.initiatorAddress == PairingBench.central)
            #expect(context.responderAddress == PairingBench.peripheral)
            #expect(bench[role].manager.role == role)
        }
    }

    @Test(arguments: both)
    func a_configuration_counts_for_the_next_pairing(role: PairingRole) {
        let bench = SecuringTests.bench()
        bench[role].manager.configuration.isPairable = false
        #expect(bench.secure(.encrypted, by: role).error == .cannotPair(.notPairable))
        bench[role].manager.configuration.isPairable = true
        bench[role].manager.configuration.ioCapability = .noInputNoOutput
        #expect(bench.secure(.encrypted, by: role).isSuccess)
        #expect(bench.central.manager.encryption?.isAuthenticated == false)
    }

    @Test func whether_a_pairing_is_under_way_is_known() {
        let bench = SecuringTests.bench()
        #expect(!bench.central.manager.isPairing)
        bench.central.manager.pair()
        bench.run(.milliseconds(10))
        #expect(bench.central.manager.isPairing)
        #expect(bench.peripheral.manager.isPairing)
        bench.run()
        #expect(!bench.central.manager.isPairing)
        #expect(!bench.peripheral.manager.isPairing)
    }

    /// A delegate that no longer exists neither permits nor refuses, so nothing allows these two to pair.
    @Test("AB-S12: a delegate that no longer exists permits nothing")
    func a_delegate_that_is_gone_permits_nothing() {
        let loop = VirtualEventLoop()
        let (link, peer) = LoopbackLink.pair(loop: loop)
        let connection = L2CAPConnection(link: link, role: .peripheral, loop: loop)
        let manager = SecurityManager(
            channel: connection.register(.securityManager, maximumPayload: SecurityManager.maximumPayload),
            role: .responder,
            ownAddress: PairingBench.peripheral,
            peerAddress: PairingBench.central,
            loop: loop,
            random: RandomSource(seed: 1)
        )
        // The bench is released here.
        var bench: PairedManagers? = SecuringTests.bench()
        manager.delegate = bench?.peripheral
        bench = nil
        #expect(manager.delegate == nil)
        #expect(bench == nil)
        manager.consent = .given
        peer.inject(Self.pairingRequest, on: 6)
        loop.run(for: .seconds(1))
        #expect(link.takeSent(on: 6) == [[0x05, 0x09]])
        #expect(!manager.isPairing)
    }

    /// Keys that cannot be stored do not count, although the pairing succeeded.
    @Test(arguments: both)
    func keys_for_which_there_is_no_store_do_not_count(without: PairingRole) {
        let bench = SecuringTests.bench(.noInputNoOutput, .noInputNoOutput)
        let outcome = PairedManagers.Outcome()
        bench[without].manager.pair { outcome.result = $0 }
        while bench.air.keys.isEmpty {
            bench.run(.milliseconds(1))
            let isLast = bench[without.other].takeSent().contains { $0.code == .pairingDHKeyCheck }
            if isLast { bench[without.other].link.isHeld = true }
        }
        bench.run(.seconds(1))
        #expect(bench[without].manager.encryption != nil)
        bench[without].manager.delegate = nil
        bench[without.other].link.isHeld = false
        bench.run()
        #expect(outcome.error == .keysRefused && bench[without].manager.encryption == nil)
        #expect(bench[without].takeSent().last == .failed(PairingFailed(.keyRejected)))
        #expect(bench[without].stored.isEmpty && bench[without].manager.keys == nil)
    }

    /// Without a bond, a link's signing keys serve for the lifetime of the link, and are not stored.
    @Test func signatures_of_a_link_without_a_bond_count_on_that_link() throws {
        var configuration = SecuringTests.configuration()
        configuration.givenKeys.insert(.signing)
        configuration.wantedKeys.insert(.signing)
        configuration.bonds = false
        let bench = PairedManagers(central: configuration, peripheral: configuration)
        #expect(bench.secure(.encrypted).isSuccess)
        let message = SignatureTests.message
        for number in 0..<3 as Range<UInt8> {
            let signature = try #require(bench.central.manager.sign(message))
            #expect(signature.bytes.prefix(4) == [number, 0, 0, 0])
            #expect(bench.peripheral.manager.verify(message, signature: signature))
            #expect(!bench.peripheral.manager.verify(message, signature: signature))
        }
        for side in [bench.central, bench.peripheral] {
            #expect(side.keyChanges == 0)
            #expect(side.shelf.keys == nil)
            side.manager.linkLost()
            #expect(side.manager.keys == nil)
            #expect(side.manager.sign(message) == nil)
        }
    }

    /// A deceived controller encrypts with an all-zero key: such a key is never given (AB-L06).
    @Test("AB-L06: a bond's all-zero key is not given")
    func a_bond_with_a_key_of_zeroes_gives_none() throws {
        var keys = try SecuringTests.bond()
        #expect(keys.1.localKey != nil)
        let bench = PairedManagers(central: SecuringTests.configuration(), keys: (keys.0, keys.1))
        let manager = bench.peripheral.manager
        #expect(manager.longTermKey(random: 0, diversifier: 0) == keys.1.localKey?.key)
        keys.1.localKey?.key = .zero
        bench.peripheral.shelf.keys = keys.1
        #expect(manager.longTermKey(random: 0, diversifier: 0) == nil)
        manager.encryptionChanged(.on)
        #expect(manager.encryption == nil)
    }

    /// A key that the peer has lost stays lost until a new one exists.
    @Test("AB-S09: a Security Request of a peer that lost its key is served again once there is a new key")
    func a_peer_that_lost_one_key_is_heard_with_another() throws {
        let keys = try SecuringTests.bond()
        let bench = PairedManagers(
            central: SecuringTests.configuration(),
            peripheral: SecuringTests.configuration(),
            keys: (keys.0, nil)
        )
        #expect(bench.secure(.encrypted, by: .responder).result == nil)
        #expect(bench.central.failures == [.peerLostKey])
        // Another link to the same peer has paired in the meantime.
        var configuration = SecuringTests.configuration()
        configuration.bonds = true
        let others = try SecuringTests.bond((configuration, configuration))
        var (a, b) = others
        let key = EncryptionKey(key: Key128(Block128(high: 3, low: 4)))
        (a.peerKey, a.localKey, b.peerKey, b.localKey) = (key, key, key, key)
        bench.central.shelf.keys = a
        bench.peripheral.shelf.keys = b
        bench.peripheral.link.inject([0x0B, 0x0D], on: 6)
        bench.run()
        #expect(bench.central.manager.encryption != nil)
        #expect(bench.air.keys == [key.key])
    }

    /// A request asks for no more than this device supports, and for the full level if it does (Core Vol 3 Part H
    /// 2.4.6).
    @Test(
        arguments: [
            ("nothing", 0x00, .displayYesNo, .whenPeerOffersNothingElse, false, false),
            ("MITM", 0x04, .displayYesNo, .whenPeerOffersNothingElse, true, false),
            ("LESC", 0x08, .displayYesNo, .whenPeerOffersNothingElse, false, true),
            ("MITM and LESC", 0x0C, .displayYesNo, .whenPeerOffersNothingElse, true, true),
            ("all other bits", 0xF3, .displayYesNo, .whenPeerOffersNothingElse, false, false),
            ("MITM and LESC, without a user", 0x0C, .noInputNoOutput, .whenPeerOffersNothingElse, false, true),
            ("MITM and LESC, of a legacy device", 0x0C, .displayYesNo, .only, true, false),
            ("MITM and LESC, of a legacy device without a user", 0x0C, .noInputNoOutput, .only, false, false),
        ] as [(String, UInt8, IOCapability, PairingConfiguration.Legacy, Bool, Bool)]
    )
    func a_wish_of_the_peripheral_is_met_as_far_as_it_can_be(
        request: String,
        bits: UInt8,
        capability: IOCapability,
        legacy: PairingConfiguration.Legacy,
        isAuthenticated: Bool,
        isSecureConnections: Bool
    ) throws {
        var configuration = SecuringTests.configuration(capability)
        configuration.legacy = legacy
        let bench = PairedManagers(central: configuration, peripheral: SecuringTests.configuration())
        bench.central.isPermitted = true
        bench.central.delay = nil
        bench.peripheral.link.inject([0x0B, bits], on: 6)
        bench.run(.zero)
        let waiter = try #require(bench.central.manager.machine.waiters.first)
        let level = SecurityLevel(isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections)
        #expect(waiter.number == nil)
        #expect(waiter.level == level, "\(request)")
        #expect(bench.central.takeSent().first?.code == .pairingRequest)
    }

    /// A caller's requirement is enforced; a peripheral's request is a preference.
    @Test func a_caller_is_not_content_with_less_and_a_wish_is() {
        for isWish in [false, true] {
            let bench = SecuringTests.bench(.displayYesNo, .noInputNoOutput)
            if isWish {
                bench.peripheral.link.inject([0x0B, 0x05], on: 6)
                bench.run()
                #expect(bench.central.manager.encryption?.isAuthenticated == false)
                #expect(bench.central.failures.isEmpty)
            } else {
                let error = SecurityError.pairing(.refused(.authenticationRequirements))
                #expect(bench.secure(.authenticated).error == error)
            }
        }
    }

    /// Each waiter's level contributes to the requirements of the pairing, even if others need less.
    @Test func a_pairing_is_for_all_who_wait() {
        let levels = [
            SecurityLevel.encrypted, .authenticated, .secureConnections, .encrypted.with(keySize: 9),
            SecurityLevel(isAuthenticated: false, isSecureConnections: true),
        ]
        for first in levels {
            for second in levels {
                var situation = SecuritySituation(isBonded: true).central
                // Encrypted with the bond first, which suffices for no caller here.
                situation.bond = {
                    var keys = SecuritySituation.bond
                    keys.level = KeyLevel(keySize: 7, isAuthenticated: false, isSecureConnections: false)
                    return keys
                }
                _ = situation.handle(.wanted(.init(number: 1, level: first)))
                _ = situation.handle(.wanted(.init(number: 2, level: second)))
                let demand = situation.handle(.encryption(.on))
                let rest = [first, second].filter { $0 != .encrypted }
                #expect(demand.contains(.askPermission) == !rest.isEmpty, "\(first) \(second)")
                guard !rest.isEmpty else { continue }
                let expected = situation.pairing.demand
                #expect(expected.level.isAuthenticated == rest.contains { $0.isAuthenticated })
                #expect(expected.wantsProtection == rest.contains { $0.isAuthenticated })
                #expect(expected.level.isSecureConnections == rest.contains { $0.isSecureConnections })
                #expect(expected.level.minimumKeySize == rest.map(\.minimumKeySize).max())
                #expect(expected.replaced?.keySize == 7)
            }
        }
    }
}
