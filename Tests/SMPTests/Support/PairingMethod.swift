import Cryptography
import Testing

@testable import SMP

/// A way in which two devices pair, for tests that go through all of them.
struct PairingMethod: CustomTestStringConvertible {
    let testDescription: String
    let initiator: IOCapability
    let responder: IOCapability
    let isLegacy: Bool
    /// Whether both have out-of-band data.
    let hasData: Bool

    static let all: [PairingMethod] = [false, true].flatMap { isLegacy in
        [
            method("Just Works", .noInputNoOutput, .noInputNoOutput, isLegacy),
            method("initiator shows", .displayOnly, .keyboardOnly, isLegacy),
            method("responder shows", .keyboardOnly, .displayOnly, isLegacy),
            method("both enter", .keyboardOnly, .keyboardOnly, isLegacy),
            method("out of band", .noInputNoOutput, .noInputNoOutput, isLegacy, hasData: true),
        ] + (isLegacy ? [] : [method("numeric comparison", .displayYesNo, .displayYesNo, isLegacy)])
    }

    private static func method(
        _ name: String,
        _ initiator: IOCapability,
        _ responder: IOCapability,
        _ isLegacy: Bool,
        hasData: Bool = false
    ) -> PairingMethod {
        PairingMethod(
            testDescription: name + (isLegacy ? ", legacy" : ""),
            initiator: initiator,
            responder: responder,
            isLegacy: isLegacy,
            hasData: hasData
        )
    }

    var isPasskey: Bool { [initiator, responder].contains(.keyboardOnly) }

    /// The configuration of one side: all keys are distributed in both directions.
    func configuration(_ role: PairingRole) -> PairingConfiguration {
        var configuration = LegacyPairingTests.configuration(role == .initiator ? initiator : responder)
        configuration.legacy = isLegacy ? .only : .whenPeerOffersNothingElse
        configuration.givenKeys = [.encryption, .identity, .signing]
        configuration.wantedKeys = [.encryption, .identity, .signing]
        return configuration
    }

    /// The out-of-band data of both sides.
    func data() throws -> (PairingRole) -> OutOfBand {
        guard hasData else { return { _ in OutOfBand(peer: nil, own: nil) } }
        guard !isLegacy else {
            return { _ in OutOfBand(peer: .legacy(LegacyPairingTests.temporaryKey), own: nil) }
        }
        let data = try SecureConnectionsTests.Data()
        return { OutOfBand(peer: data[$0.other].shared, own: data[$0]) }
    }

    func bench() throws -> PairingBench {
        let data = try data()
        return PairingBench(initiator: configuration(.initiator), responder: configuration(.responder)) {
            $1.peerData = data($0).peer
            $1.ownData = data($0).own
        }
    }

    /// Two security managers that pair in this way.
    func managers(seed: UInt64 = 1) throws -> PairedManagers {
        let data = try data()
        let (central, peripheral) = (configuration(.initiator), configuration(.responder))
        let bench = PairedManagers(central: central, peripheral: peripheral, seed: seed)
        bench.central.manager.outOfBand = data(.initiator)
        bench.peripheral.manager.outOfBand = data(.responder)
        return bench
    }
}
