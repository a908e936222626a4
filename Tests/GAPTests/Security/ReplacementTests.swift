import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Bonds that the peer has lost, and pairings regardless of existing keys (Core Vol 3 Part C 10.3.2, AB-S09).
@Suite struct ReplacementTests {
    private static let unable: PairingConfiguration = {
        var configuration = PairingConfiguration()
        configuration.ioCapability = .noInputNoOutput
        return configuration
    }()

    /// A bond that the peripheral has forgotten, on a new link.
    private func lostBond(_ peripheral: PairingConfiguration = PairingConfiguration()) throws -> SecurePair {
        let pair = try SecurePair(peripheral: peripheral).bonded()
        try pair.peripheral.deviceSecurity.forget(try #require(pair.peripheral.bonds.bonds.first).identifier)
        pair.central.deviceSecurity.policy.lostBonds = .asked
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
        try pair.connect()
        return pair
    }

    /// Several callers wait for the user's single answer, and each learns whether the result meets its requirement.
    @Test func allWhoWaitHearWhatCameOfAReplacement() throws {
        let pair = try lostBond(Self.unable)
        let link = try #require(pair.central.link).secureLink
        var results: [SecurityError?] = []
        for level in [SecurityLevel.encrypted, .authenticated, .encrypted] {
            link.secure(level) { results.append($0.error) }
        }
        pair.world.run(for: .seconds(30)) { results.count == 3 }
        let isReplacing = if case .replacing = link.state.procedure { true } else { false }
        #expect(results == [nil, .tooWeak, nil])
        #expect(!isReplacing)
        #expect(pair.central.person.prompts.count { $0 == .confirmReplacement } == 1)
        #expect(pair.central.bonds.bonds.map(\.isLost) == [false])
    }

    /// The old keys count as lost until the new ones are stored: the pairing that encrypts the link may still fail.
    @Test func aBondStaysLostUntilAnotherOneIsThere() throws {
        let pair = try lostBond()
        // The peer's identity does not arrive.
        pair.peripheral.device.gate.change = { [0x08, 0x09].contains($0.securityCommand?.first) ? nil : $0 }
        let link = try #require(pair.central.link).secureLink
        link.secure(.encrypted) { _ in }
        pair.world.run(for: .seconds(10)) { link.manager.encryption != nil }
        #expect(link.manager.encryption != nil)
        #expect(link.pairing == .underWay(.app))
        pair.world.run(.seconds(1))
        #expect(pair.central.bonds.bonds.map(\.isLost) == [true])
    }

    /// If the link is gone when the key turns out to be lost, the user is not asked.
    @Test func endedLinksPromptNobody() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        bench.deviceSecurity.policy.lostBonds = .asked
        let person = Person(Person.Slip(loop: bench.hci.loop))
        bench.deviceSecurity.prompter = person
        bench.link.prepare { _ in bench.link.end() }
        var errors: [SecurityError?] = []
        bench.link.secure(.encrypted) { errors.append($0.error) }
        bench.change(0, .pinOrKeyMissing)
        #expect(errors == [.peerLostKey])
        #expect(person.prompts.isEmpty)
    }

    /// Declining a pairing is not declining a replacement, even if one was offered earlier.
    @Test func aPersonsNoIsToldAsSuch() throws {
        let pair = try SecurePair()
        try pair.connect()
        let link = try #require(pair.central.link).secureLink
        link.securityManager(link.manager, perform: .ask(.confirmReplacement) { _ in })
        #expect(link.pairing.isReplacementRefused)
        pair.central.person.decide = { _ in .refuse }
        #expect(try pair.secure(.central)?.error == .refusedByPerson)
        #expect(link.pairing == .none)
    }

    // MARK: Pairings

    private func pair(_ pair: SecurePair, _ role: LERole = .central) throws -> Result<Void, SecurityError>? {
        var result: Result<Void, SecurityError>?
        for device in [pair.central, pair.peripheral] { device.person.forget() }
        try #require(pair.device(role).link).secureLink.pair { result = $0 }
        pair.world.run(for: .seconds(60)) { result != nil }
        pair.world.run(.seconds(2))
        return result
    }

    /// Strangers, peers on an encrypted link, and peers whose key is now too weak pair once; others prove their key
    /// first.
    @Test(arguments: 0..<4)
    func peersPairOnce(way: Int) throws {
        var legacy = PairingConfiguration()
        legacy.legacy = .only
        let pair = try SecurePair(central: way == 3 ? legacy : PairingConfiguration())
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
        if way > 0 { try pair.bond() } else { try pair.connect() }
        if way == 1 {
            pair.disconnect()
            try pair.connect()
        }
        if way == 3 {
            var better = PairingConfiguration()
            (better.legacy, better.requiresProtection) = (.refused, true)
            pair.central.deviceSecurity.configuration = better
        }
        let before = pair.central.bonds.bonds.first?.keys
        #expect(try self.pair(pair)?.isSuccess == true)
        #expect(pair.central.person.prompts.count == 1)
        #expect(pair.peripheral.person.prompts.count == 1)
        let after = try #require(pair.central.bonds.bonds.first).keys
        #expect(after.peerKey != before?.peerKey)
        #expect(pair.central.bonds.bonds.count == 1)
    }

    @Test("AB-S09: a peer that cannot prove its key does not pair anew")
    func unprovenKeysPreventANewPairing() throws {
        let pair = try lostBond()
        pair.central.deviceSecurity.policy.lostBonds = .refused
        let keys = pair.central.bonds.bonds.map(\.keys)
        #expect(try self.pair(pair)?.error == .peerLostKey)
        #expect(pair.central.bonds.bonds.map(\.keys) == keys)
        #expect(pair.peripheral.person.prompts.isEmpty)
    }

    /// A peripheral asks the central once, and the central may just encrypt.
    @Test func aPeripheralAsksForAPairingOnce() throws {
        let bench = try SecurityBench(.peripheral, bond: SecurityBench.bond())
        let person = Person(Person.Slip(loop: bench.hci.loop))
        bench.deviceSecurity.prompter = person
        var results = 0
        bench.link.pair { _ in results += 1 }
        bench.hci.run()
        #expect(bench.hci.transport.sent.compactMap(\.securityCommand?.first) == [0x0B])
        bench.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0))
        bench.change(1)
        bench.hci.run()
        #expect(bench.link.linkSecurity.isEncrypted)
        #expect(bench.hci.transport.data.count == 1)
        #expect(results == 0)
    }
}
