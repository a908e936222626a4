import BluetoothTypes
import Cryptography
import LoopbackLinks
import Testing

@testable import SMP

/// Commands that an attacker injects on an unencrypted link between two bonded devices.
@Suite struct ForgedCommandTests {
    typealias Securing = SecuringTests

    static let pairingRequest: [UInt8] = [0x01, 4, 0, 0x0D, 16, 3, 3]

    private static func bonded(_ legacy: PairingConfiguration.Legacy) throws -> PairedManagers {
        var configuration = Securing.configuration(.keyboardDisplay)
        configuration.legacy = legacy
        let keys = try Securing.bond((configuration, configuration))
        return PairedManagers(central: configuration, peripheral: configuration, keys: (keys.0, keys.1))
    }

    @Test(
        "AB-S09: a forged Pairing Request does not keep the bonded central out",
        arguments: [PairingConfiguration.Legacy.only, .whenPeerOffersNothingElse],
        [false, true]
    )
    func a_forged_request_does_not_keep_the_central_out(legacy: PairingConfiguration.Legacy, isWanted: Bool) throws {
        let bench = try Self.bonded(legacy)
        let side = bench.peripheral
        let keys = side.shelf.keys
        side.delay = nil
        let request = PairedManagers.Outcome()
        if isWanted { side.manager.secure(.authenticated) { request.result = $0 } }
        bench.central.link.inject(Self.pairingRequest, on: 6)
        bench.run(.milliseconds(10))
        #expect(side.prompts == [.confirmReplacement])
        #expect(side.isPromptOpen)
        _ = side.takeSent()
        // While the user hesitates, the real central proves its key.
        #expect(bench.secure(.authenticated).isSuccess)
        #expect(side.manager.encryption?.isAuthenticated == true)
        #expect(!side.isPromptOpen)
        #expect(side.takeSent().isEmpty)
        #expect(side.failures.isEmpty)
        #expect(bench.central.failures.isEmpty)
        #expect(request.isSuccess == isWanted)
        #expect(side.ends == 0)
        // A late answer has no effect, and neither does the timeout.
        side.answer?(.accept)
        bench.run(.seconds(60))
        #expect(side.takeSent().isEmpty)
        #expect(side.shelf.keys == keys)
        #expect(side.failures.isEmpty)
        #expect(side.manager.encryption != nil)
        // Pairing works as before.
        side.delay = .milliseconds(100)
        let outcome = PairedManagers.Outcome()
        bench.central.manager.pair { outcome.result = $0 }
        bench.run()
        #expect(outcome.isSuccess)
        #expect(side.shelf.keys != keys)
    }

    @Test("AB-S09: a Pairing Request between giving the key and the start of encryption changes nothing")
    func a_request_while_the_key_is_on_its_way_changes_nothing() throws {
        let bench = try Securing.bonded()
        let side = bench.peripheral
        let key = side.manager.longTermKey(random: 0, diversifier: 0)
        #expect(key != nil)
        side.delay = nil
        bench.central.link.inject(Self.pairingRequest, on: 6)
        bench.run(.milliseconds(10))
        #expect(side.isPromptOpen)
        side.manager.encryptionChanged(.on)
        #expect(side.manager.encryption != nil)
        #expect(!side.isPromptOpen)
        #expect(side.failures.isEmpty)
    }

    @Test("AB-L06: during a forged pairing only the bond's key is given, for its own EDIV and Rand")
    func during_a_forged_pairing_there_is_the_key_of_the_bond() throws {
        let bench = try Self.bonded(.only)
        let side = bench.peripheral
        side.delay = nil
        bench.central.link.inject(Self.pairingRequest, on: 6)
        bench.run(.milliseconds(10))
        let own = try #require(side.shelf.keys?.localKey)
        #expect(side.manager.longTermKey(random: 0, diversifier: 0) == nil)
        #expect(side.manager.longTermKey(random: own.random, diversifier: own.diversifier &+ 1) == nil)
        #expect(side.manager.longTermKey(random: own.random, diversifier: own.diversifier) == own.key)
    }

    /// A pairing on an encrypted link cannot be forged, and its key will be the next one.
    @Test("during a pairing on the encrypted link the old key is not given")
    func during_a_pairing_in_cipher_the_old_key_is_not_given() throws {
        let bench = try Securing.bonded(.noInputNoOutput, now: .displayYesNo)
        bench.peripheral.delay = nil
        bench.central.manager.secure(.authenticated)
        bench.run()
        #expect(bench.peripheral.isPromptOpen)
        #expect(bench.peripheral.manager.encryption != nil)
        #expect(bench.peripheral.manager.longTermKey(random: 0, diversifier: 0) == nil)
    }

    @Test(
        "AB-S09: a forged command does not disturb a central that proves its key",
        arguments: [
            [0x0B, 0x0D], [0x0B, 0x01], [0x05, 0x08], [0x05, 0x05], [0x02, 3, 0, 0x0D, 16, 3, 3],
            [0x02, 3, 0, 0x01, 7, 0, 0], pairingRequest, [0x03] + [UInt8](repeating: 3, count: 16), [0x0E, 0], [0xFF],
        ] as [[UInt8]]
    )
    func a_forged_command_does_not_disturb_a_central(command: [UInt8]) throws {
        let bench = try Securing.bonded()
        let keys = bench.central.shelf.keys
        let outcome = PairedManagers.Outcome()
        bench.central.manager.secure(.authenticated) { outcome.result = $0 }
        for _ in 0..<3 { bench.peripheral.link.inject(command, on: 6) }
        bench.run()
        #expect(outcome.isSuccess)
        #expect(bench.central.failures.isEmpty)
        #expect(bench.central.takeSent().isEmpty)
        #expect(bench.central.prompts.isEmpty)
        #expect(bench.central.shelf.keys == keys)
    }

    /// A forged pairing fails at most a pending request: the central that proves its key is accepted.
    @Test(
        "AB-S09: a forged command does not disturb a peripheral that waits for the key",
        arguments: [[0x05, 0x08], [0x05, 0x05], [0x02, 3, 0, 0x0D, 16, 3, 3], [0x01], [0xFF]] as [[UInt8]]
    )
    func a_forged_command_does_not_disturb_a_peripheral(command: [UInt8]) throws {
        let bench = try Securing.bonded()
        bench.peripheral.manager.secure(.authenticated)
        bench.central.link.inject(command, on: 6)
        #expect(bench.secure(.encrypted).isSuccess)
        #expect(bench.peripheral.manager.encryption != nil)
        #expect(bench.peripheral.ends == 0)
    }
}
