import BluetoothTypes
import Testing

@testable import SMP

/// The results of both sides' features, compared with a small model of the rules.
@Suite struct NegotiationTests {
    private static let both = [PairingRole.initiator, .responder]

    /// The requirements of a side, in all combinations.
    struct Wish {
        var legacy = PairingConfiguration.Legacy.whenPeerOffersNothingElse
        var requiresProtection = false
        var minimum = 7
        var level = SecurityLevel.encrypted
        var replaced: KeyLevel?
    }

    private static let requests: [Wish] = {
        var all: [Wish] = []
        let levels: [SecurityLevel] = [.encrypted, .authenticated, .secureConnections, .encrypted.with(keySize: 12)]
        let kept: [KeyLevel?] = [
            nil, KeyLevel(keySize: 7, isAuthenticated: false, isSecureConnections: false),
            KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true),
        ]
        for legacy in [PairingConfiguration.Legacy.refused, .whenPeerOffersNothingElse, .only] {
            for requiresProtection in [false, true] {
                for minimum in [7, 16] {
                    for level in levels {
                        for replaced in kept {
                            all.append(
                                Wish(
                                    legacy: legacy,
                                    requiresProtection: requiresProtection,
                                    minimum: minimum,
                                    level: level,
                                    replaced: replaced
                                )
                            )
                        }
                    }
                }
            }
        }
        return all
    }()

    /// The reason for refusing to pair, in the order in which the rules are reported to the peer.
    private static func refusal(_ request: Wish, isSecure: Bool, isAuthenticated: Bool, size: Int) -> PairingFailure? {
        if request.legacy == .refused, !isSecure { return .authenticationRequirements }
        if request.requiresProtection, !isAuthenticated { return .authenticationRequirements }
        if size < request.minimum || size < request.level.minimumKeySize { return .encryptionKeySize }
        if request.level.isAuthenticated, !isAuthenticated { return .authenticationRequirements }
        if request.level.isSecureConnections, !isSecure { return .authenticationRequirements }
        guard let replaced = request.replaced else { return nil }
        let isWorse =
            size < replaced.keySize || replaced.isAuthenticated && !isAuthenticated
            || replaced.isSecureConnections && !isSecure
        return isWorse ? .authenticationRequirements : nil
    }

    @Test(
        "AB-S04, AB-S06, AB-S07, AB-S10: the features of both sides lead to the result that the rules require",
        arguments: both
    )
    func features_lead_to_what_the_rules_say(role: PairingRole) {
        var (agreed, refused) = (0, 0)
        for request in Self.requests {
            for bits in 0..<32 {
                var (a, b) = (PairingFeatures(), PairingFeatures())
                (a.ioCapability, b.ioCapability) = (.displayYesNo, .displayYesNo)
                if bits & 1 != 0 { a.requirements.insert(.secureConnections) }
                if bits & 2 != 0 { b.requirements.insert(.secureConnections) }
                if bits & 4 != 0 { a.requirements.insert(.protection) }
                a.maximumKeySize = bits & 8 == 0 ? 16 : 7
                b.maximumKeySize = bits & 16 == 0 ? 16 : 12
                var configuration = PairingConfiguration()
                configuration.legacy = request.legacy
                configuration.requiresProtection = request.requiresProtection
                configuration.minimumKeySize = request.minimum
                var demand = PairingDemand()
                (demand.level, demand.replaced) = (request.level, request.replaced)
                let isSecure = bits & 3 == 3
                // Two devices with a display and two buttons use numeric comparison with LE Secure Connections, and
                // only Just Works with legacy pairing.
                let isAuthenticated = isSecure && bits & 4 != 0
                let size = bits & 8 != 0 ? 7 : bits & 16 != 0 ? 12 : 16
                let expected = Self.refusal(request, isSecure: isSecure, isAuthenticated: isAuthenticated, size: size)
                do {
                    let negotiation = try PairingNegotiation(
                        role: role,
                        initiator: a,
                        responder: b,
                        configuration: configuration,
                        demand: demand
                    )
                    #expect(expected == nil)
                    #expect(
                        negotiation.level
                            == KeyLevel(
                                keySize: size,
                                isAuthenticated: isAuthenticated,
                                isSecureConnections: isSecure
                            )
                    )
                    agreed += 1
                } catch {
                    #expect(error == expected)
                    refused += 1
                }
            }
        }
        #expect(agreed > 100)
        #expect(refused > 100)
    }

    /// Each requirement sets its bit in the request (Core Vol 3 Part H 3.5.1).
    @Test func each_wish_has_its_bit_and_asks_for_nothing_else() {
        for bits in UInt8.min..<32 {
            for legacy in [PairingConfiguration.Legacy.refused, .whenPeerOffersNothingElse, .only] {
                var configuration = PairingConfiguration()
                configuration.bonds = bits & 1 != 0
                configuration.wantsProtection = bits & 2 != 0
                configuration.requiresProtection = bits & 4 != 0
                configuration.notifiesKeypresses = bits & 8 != 0
                configuration.legacy = legacy
                var demand = PairingDemand()
                demand.wantsProtection = bits & 16 != 0
                let expected: UInt8 =
                    (bits & 1 != 0 ? 0x01 : 0) | (bits & 0x16 != 0 ? 0x04 : 0) | (legacy == .only ? 0 : 0x08)
                    | (bits & 8 != 0 ? 0x10 : 0)
                #expect(configuration.requirements(demand).rawValue == expected)
            }
        }
        #expect(!PairingDemand().wantsProtection)
        #expect(PairingDemand().replaced == nil)
    }
}
