import BluetoothTypes
import Testing

@testable import SMP

/// Two sides that are made to receive different values.
@Suite struct ConfusionTests {
    /// Features changed in transit are part of the compared values: no key results.
    @Test(
        "AB-S07: features changed in transit give no key",
        arguments: [PairingRole.initiator, .responder],
        [false, true]
    )
    func features_that_are_changed_on_the_way_give_no_key(sender: PairingRole, isLegacy: Bool) {
        for (place, bits) in [(1, 1), (1, 2), (1, 3), (1, 7), (2, 1), (3, 4), (3, 8), (3, 1)] as [(Int, UInt8)] {
            var configuration = LegacyPairingTests.configuration(.keyboardDisplay)
            if isLegacy { configuration.legacy = .only }
            var bench = PairingBench(initiator: configuration, responder: configuration)
            bench.tamper = { role, command in
                var octets = command.framed().bytes
                let isFeatures = [.pairingRequest, .pairingResponse].contains(command.code)
                if role == sender, isFeatures { octets[place] ^= bits }
                return [octets]
            }
            bench.pair()
            #expect(bench.initiator.result == nil && bench.responder.result == nil, "\(place) \(bits)")
        }
    }

    /// CVE-2020-26558: the values of each passkey round, reflected.
    @Test(
        "AB-S02: values reflected in a round end passkey entry",
        arguments: [PairingRole.initiator, .responder]
    )
    func values_that_are_sent_back_in_a_round_end_passkey_entry(victim: PairingRole) {
        var bench = SecureConnectionsTests.bench(.keyboardOnly, .keyboardOnly)
        let heard = Heard()
        bench.tamper = { role, command in
            let octets = command.framed().bytes
            if role == victim {
                heard.octets[command.code] = octets
                return [octets]
            }
            guard command.code == .pairingConfirm || command.code == .pairingRandom else { return [octets] }
            return [heard.octets[command.code] ?? octets]
        }
        bench.pair()
        #expect(bench.initiator.result == nil)
        #expect(bench.responder.result == nil)
        #expect(bench[victim].error == .refused(.confirmValueFailed))
    }

    private final class Heard { var octets: [SMPCode: [UInt8]] = [:] }
}
