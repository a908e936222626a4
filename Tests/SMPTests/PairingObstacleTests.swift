import BluetoothTypes
import Cryptography
import EventLoops
import LoopbackLinks
import Testing

@testable import SMP

/// Pairings that cannot succeed are not started: many hosts disconnect when one fails.
@Suite struct PairingObstacleTests {
    typealias Securing = SecuringTests

    /// A device that lacks something.
    struct Lack: CustomTestStringConvertible, Sendable {
        let obstacle: PairingObstacle
        let level: SecurityLevel
        var consent = PairingConsent.asked
        let configure: @Sendable (inout PairingConfiguration) -> Void

        var configuration: PairingConfiguration {
            var configuration = Securing.configuration(.keyboardDisplay)
            configure(&configuration)
            return configuration
        }
        var testDescription: String { "\(obstacle), \(level)" }
    }

    static let lacks = [
        Lack(obstacle: .notPairable, level: .encrypted) { $0.isPairable = false },
        Lack(obstacle: .noPrompter, level: .encrypted, consent: .missing) { _ in },
        Lack(obstacle: .noInputNoOutput, level: .authenticated) { $0.ioCapability = .noInputNoOutput },
        Lack(obstacle: .noInputNoOutput, level: .encrypted) {
            $0.ioCapability = .noInputNoOutput
            $0.requiresProtection = true
        },
        Lack(obstacle: .noSecureConnections, level: .secureConnections) { $0.legacy = .only },
        Lack(obstacle: .shortKeys, level: .encrypted.with(keySize: 16)) {
            $0.minimumKeySize = 7
            $0.maximumKeySize = 15
        },
    ]

    @Test(
        "a pairing that cannot succeed is not started, and the caller gets the reason",
        arguments: SecuringTests.both,
        lacks
    )
    func impossible_pairings_are_not_started(role: PairingRole, lack: Lack) {
        let bench = PairedManagers(
            central: role == .initiator ? lack.configuration : Securing.configuration(.keyboardDisplay),
            peripheral: role == .responder ? lack.configuration : Securing.configuration(.keyboardDisplay)
        )
        bench[role].manager.consent = lack.consent
        #expect(bench.secure(lack.level, by: role).error == .cannotPair(lack.obstacle))
        #expect(bench[role].takeSent().isEmpty && bench[role].prompts.isEmpty && bench[role].ends == 0)
        #expect(bench.central.failures.isEmpty)
        #expect(bench.peripheral.failures.isEmpty)
    }

    @Test("an encrypted link stays unchanged when a higher level is impossible", arguments: SecuringTests.both)
    func an_encrypted_link_stays_when_more_cannot_be_had(role: PairingRole) {
        let bench = Securing.bench(.noInputNoOutput, .noInputNoOutput)
        #expect(bench.secure(.encrypted).isSuccess)
        _ = (bench.central.takeSent(), bench.peripheral.takeSent())
        #expect(bench.secure(.authenticated, by: role).error == .cannotPair(.noInputNoOutput))
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.peripheral.takeSent().isEmpty)
        #expect(bench.central.manager.encryption != nil)
        #expect(bench.peripheral.manager.encryption != nil)
        #expect(bench.central.failures.isEmpty)
        #expect(bench.peripheral.failures.isEmpty)
    }

    @Test("a caller with a lower requirement succeeds beside one whose requirement is impossible")
    func lower_requirements_succeed() {
        let bench = Securing.bench(.noInputNoOutput, .displayYesNo)
        var results: [SecurityError?] = []
        for level in [SecurityLevel.encrypted, .authenticated, .encrypted] {
            bench.central.manager.secure(level) {
                if case .failure(let error) = $0 { results.append(error) } else { results.append(nil) }
            }
        }
        bench.run()
        // The authenticated request came while the pairing for the first one was in progress.
        #expect(results.filter { $0 == nil }.count == 2)
        #expect(results.contains(.tooWeak))
        #expect(bench.secure(.authenticated).error == .cannotPair(.noInputNoOutput))
    }

    @Test("AB-S10: no pairing is started for a key that could not replace the bond's")
    func no_pairing_is_begun_for_a_key_that_is_no_better() throws {
        let keys = try Securing.bond()
        for obstacle in [PairingObstacle.noInputNoOutput, .noSecureConnections] {
            let isSilent = obstacle == .noInputNoOutput
            var configuration = Securing.configuration(isSilent ? .noInputNoOutput : .keyboardDisplay)
            if !isSilent { configuration.legacy = .only }
            let bench = PairedManagers(
                central: configuration,
                peripheral: Securing.configuration(),
                keys: (keys.0, keys.1)
            )
            // The bond's own key is as strong as before.
            #expect(bench.secure(.authenticated).isSuccess)
            let outcome = PairedManagers.Outcome()
            bench.central.manager.pair { outcome.result = $0 }
            bench.run()
            #expect(outcome.error == .cannotPair(obstacle))
            #expect(bench.central.takeSent().isEmpty)
            #expect(bench.central.manager.encryption != nil)
        }
    }

    @Test func out_of_band_data_replace_missing_capabilities() {
        for isPeers in [false, true] {
            let bench = Securing.bench(.noInputNoOutput, .displayYesNo)
            bench.central.manager.consent = .missing
            if isPeers {
                bench.central.manager.outOfBand.peer = .legacy(Key128(Block128(high: 1, low: 1)))
            } else {
                bench.central.manager.outOfBand.own = OwnOutOfBandData(random: RandomSource(seed: 5))
            }
            bench.central.manager.secure(.authenticated)
            bench.run()
            #expect(bench.central.takeSent().first?.code == .pairingRequest)
        }
    }

    @Test("AB-A14: a peer that wants to pair is told that pairing is not supported if no user is there")
    func pairing_is_not_supported_without_a_user() throws {
        let bench = Securing.bench()
        bench.central.manager.consent = .missing
        bench.peripheral.manager.consent = .missing
        bench.peripheral.link.inject([0x0B, 0x0D], on: 6)
        bench.central.link.inject(ForgedCommandTests.pairingRequest, on: 6)
        bench.run()
        #expect(bench.central.link.takeSent(on: 6).last == [0x05, 0x05])
        #expect(bench.peripheral.link.takeSent(on: 6).last == [0x05, 0x05])
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.prompts.isEmpty)
        // A device with a stored key is encrypted, whatever else it requests.
        let keys = try Securing.bond(.noInputNoOutput)
        let bonded = PairedManagers(
            central: Securing.configuration(.noInputNoOutput),
            peripheral: Securing.configuration(),
            keys: (keys.0, keys.1)
        )
        bonded.central.manager.consent = .missing
        bonded.peripheral.link.inject([0x0B, 0x0D], on: 6)
        bonded.run()
        #expect(bonded.central.manager.encryption != nil)
        #expect(bonded.central.takeSent().isEmpty)
    }

    @Test func given_consent_needs_no_prompt() {
        let bench = Securing.bench(.noInputNoOutput, .noInputNoOutput)
        for side in [bench.central, bench.peripheral] { side.manager.consent = .given }
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.peripheral.prompts.isEmpty)
    }
}

// MARK: - Out-of-band data

extension PairingObstacleTests {
    private func publicKey(of side: SecuritySide) -> [UInt8]? {
        for case .publicKey(let packet) in side.takeSent() { return packet.point.map { Array($0.x) } }
        return nil
    }

    @Test("a public key given out of band is not sent to other peers", arguments: SecuringTests.both)
    func a_public_key_of_another_way_is_not_shown(role: PairingRole) throws {
        let own = try #require(OwnOutOfBandData(random: RandomSource(seed: 5)))
        let bench = Securing.bench()
        bench[role].manager.outOfBand.own = own
        #expect(bench.secure(.authenticated).isSuccess)
        let shown = try #require(publicKey(of: bench[role]))
        #expect(shown != Array(own.keyPair.publicKey.x))
        #expect(bench[role].manager.outOfBand.own != nil && bench[role].usedOwnData == 0)
    }

    /// A peer that claims to have the data is sent the key once, whatever the outcome, so that the key cannot be used
    /// to track the device.
    @Test(arguments: SecuringTests.both)
    func a_public_key_that_went_another_way_is_shown_once(role: PairingRole) throws {
        let own = try #require(OwnOutOfBandData(random: RandomSource(seed: 5)))
        let bench = Securing.bench()
        bench[role].manager.outOfBand.own = own
        // The other one lies: its data belong to another device.
        let other = try #require(OwnOutOfBandData(random: RandomSource(seed: 6)))
        bench[role.other].manager.outOfBand.peer = other.shared
        #expect(bench.secure(.authenticated).error != nil)
        #expect(try #require(publicKey(of: bench[role])) == Array(own.keyPair.publicKey.x))
        #expect(bench[role].manager.outOfBand.own == nil && bench[role].usedOwnData == 1)
        _ = bench.secure(.authenticated)
        #expect(publicKey(of: bench[role]) != Array(own.keyPair.publicKey.x))
    }
}
