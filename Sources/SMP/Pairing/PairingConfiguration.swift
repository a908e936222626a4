import BluetoothTypes
import Cryptography
import EventLoops

/// How a device pairs.
package struct PairingConfiguration: Sendable {
    /// Whether legacy pairing is possible.
    package enum Legacy: Sendable {
        /// Never: Secure Connections Only mode (Core Vol 3 Part C 10.2.4).
        case refused
        /// With a peer that offers nothing else, as Apple does (behaviour 6.7).
        case whenPeerOffersNothingElse
        /// Always: the device itself has no LE Secure Connections.
        case only
    }

    /// Whether pairing is possible at all; a bond that is there works nevertheless.
    package var isPairable = true
    /// What the device can show and what can be entered. As Apple's at first (behaviour 6.7).
    package var ioCapability = IOCapability.keyboardDisplay
    /// Whether keys must be authenticated: otherwise pairing fails.
    package var requiresProtection = false
    /// Whether protection is asked for where the capabilities allow it.
    package var wantsProtection = true
    /// Whether keys are kept (behaviour 6.10).
    package var bonds = true
    /// Whether legacy pairing is possible.
    package var legacy = Legacy.whenPeerOffersNothingElse
    /// The shortest key that is accepted, in octets, 7 to 16 (AB-S04).
    package var minimumKeySize = 16
    /// The longest key that is offered, in octets, 7 to 16.
    package var maximumKeySize = 16
    /// Whether to tell the peer, and want to be told, of each digit that is entered.
    package var notifiesKeypresses = false
    /// The keys that are given to the peer, where it takes them.
    package var givenKeys: KeyKinds = [.encryption, .identity]
    /// The keys that the peer is asked for.
    package var wantedKeys: KeyKinds = [.encryption, .identity]
    /// Whether the public key that everybody has the private key of is accepted, and used: for sniffers (AB-S03).
    package var isDebugMode = false

    /// Apple's way.
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

/// What came from the peer another way than over the link (Core Vol 3 Part H 2.3.5.6.4).
package enum OutOfBandData: Hashable, Sendable {
    /// For legacy pairing: the temporary key itself.
    case legacy(Key128)
    /// For LE Secure Connections: what binds the peer to its public key, and a random value.
    case secureConnections(confirm: Block128, random: Block128)
}

/// What came another way, on one link.
package struct OutOfBand: Sendable {
    /// What came from the peer.
    package var peer: OutOfBandData?
    /// What the peer got. It is used up by one pairing.
    package var own: OwnOutOfBandData?

    /// What came and what went.
    package init(peer: OutOfBandData? = nil, own: OwnOutOfBandData? = nil) {
        self.peer = peer
        self.own = own
    }
}

/// What this device has given away another way: it is bound to a key pair, so that this pair must be used.
package struct OwnOutOfBandData: Sendable {
    /// The pair.
    package let keyPair: P256KeyPair
    /// The random value.
    package let random: Block128

    /// The given values.
    package init(keyPair: P256KeyPair, random: Block128) {
        self.keyPair = keyPair
        self.random = random
    }

    /// A new pair and a new random value; nil when the source of random numbers is broken.
    package init?(random: RandomSource) {
        guard let keys = P256KeyPair(random: random.bytes), let value = Block128(random.bytes(16)) else { return nil }
        self.init(keyPair: keys, random: value)
    }

    /// What the peer needs: the confirm value and the random value.
    package var shared: OutOfBandData {
        let x = keyPair.publicKey.x
        return .secureConnections(confirm: Toolbox.f4(x, x, random, 0), random: random)
    }
}
