import BluetoothTypes
import Cryptography
import EventLoops

/// The way a device pairs.
package struct PairingConfiguration: Sendable {
    /// Support for legacy pairing.
    package enum Legacy: Sendable {
        /// Legacy pairing is refused: Secure Connections Only mode (Core Vol 3 Part C 10.2.4).
        case refused
        /// Legacy pairing is used with peers that support nothing else, as Apple does (behaviour 6.7).
        case whenPeerOffersNothingElse
        /// Legacy pairing is always used: the device does not support LE Secure Connections.
        case only
    }

    /// Whether pairing is possible at all. Existing bonds work regardless.
    package var isPairable = true
    /// The input and output capabilities. The default is Apple's (behaviour 6.7).
    package var ioCapability = IOCapability.keyboardDisplay
    /// Whether keys must be authenticated. Otherwise pairing fails.
    package var requiresProtection = false
    /// Whether MITM protection is requested where the capabilities allow it.
    package var wantsProtection = true
    /// Whether keys are stored (behaviour 6.10).
    package var bonds = true
    package var legacy = Legacy.whenPeerOffersNothingElse
    /// The minimum key size, in octets, 7 to 16 (AB-S04).
    package var minimumKeySize = 16
    /// The maximum key size, in octets, 7 to 16.
    package var maximumKeySize = 16
    package var notifiesKeypresses = false
    /// The keys that are distributed to the peer, if it accepts them.
    package var givenKeys: KeyKinds = [.encryption, .identity]
    /// The keys that the peer is asked to distribute.
    package var wantedKeys: KeyKinds = [.encryption, .identity]
    /// Whether the debug key pair, whose private key is public, is used and accepted, so that sniffers can decrypt the
    /// link (AB-S03).
    package var isDebugMode = false

    /// Creates Apple's configuration (behaviours 6.7, 6.10).
    package init() {}

    func requirements(_ demand: PairingDemand) -> AuthenticationRequirements {
        var requirements: AuthenticationRequirements = []
        if bonds { requirements.insert(.bonding) }
        if wantsProtection || requiresProtection || demand.wantsProtection { requirements.insert(.protection) }
        if legacy != .only { requirements.insert(.secureConnections) }
        if notifiesKeypresses { requirements.insert(.keypress) }
        return requirements
    }
}

/// Authentication data that was received from the peer out of band (Core Vol 3 Part H 2.3.5.6.4).
package enum OutOfBandData: Hashable, Sendable {
    /// The temporary key itself, for legacy pairing.
    case legacy(Key128)
    /// A commitment to the peer's public key and a random value, for LE Secure Connections.
    case secureConnections(confirm: Block128, random: Block128)
}

/// The data exchanged out of band for one link.
package struct OutOfBand: Sendable {
    package var peer: OutOfBandData?
    /// The data sent to the peer, which is used up by one pairing.
    package var own: OwnOutOfBandData?

    package init(peer: OutOfBandData? = nil, own: OwnOutOfBandData? = nil) { (self.peer, self.own) = (peer, own) }
}

/// Authentication data that this device sent out of band. It commits to a key pair, which the pairing has to use.
package struct OwnOutOfBandData: Sendable {
    package let keyPair: P256KeyPair
    /// The random value that the peer receives out of band.
    package let random: Block128

    package init(keyPair: P256KeyPair, random: Block128) { (self.keyPair, self.random) = (keyPair, random) }

    /// Creates data with a new key pair and random value; nil if the random source is broken.
    package init?(random: RandomSource) {
        guard let keys = P256KeyPair(random: random.bytes), let value = Block128(random.bytes(16)) else { return nil }
        self.init(keyPair: keys, random: value)
    }

    /// The data for the peer: the confirm value and the random value.
    package var shared: OutOfBandData {
        let x = keyPair.publicKey.x
        return .secureConnections(confirm: Toolbox.f4(x, x, random, 0), random: random)
    }
}
