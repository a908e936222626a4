import BluetoothTypes
import Cryptography
import EventLoops

/// How a device pairs.
public struct PairingConfiguration: Sendable {
    /// Whether legacy pairing is possible.
    public enum Legacy: Sendable {
        /// Never: Secure Connections Only mode (Core Vol 3 Part C 10.2.4).
        case refused
        /// With a peer that offers nothing else, as Apple does (behaviour 6.7).
        case whenPeerOffersNothingElse
        /// Always: the device itself has no LE Secure Connections.
        case only
    }

    /// Whether pairing is possible at all; a bond that is there works nevertheless.
    public var isPairable = true
    /// What the device can show and what can be entered. As Apple's at first (behaviour 6.7).
    public var ioCapability = IOCapability.keyboardDisplay
    /// Whether keys must be authenticated: otherwise pairing fails.
    public var requiresProtection = false
    /// Whether protection is asked for where the capabilities allow it.
    public var wantsProtection = true
    /// Whether keys are kept (behaviour 6.10).
    public var bonds = true
    /// Whether legacy pairing is possible.
    public var legacy = Legacy.whenPeerOffersNothingElse
    /// The shortest key that is accepted, in octets, 7 to 16 (AB-S04).
    public var minimumKeySize = 16
    /// The longest key that is offered, in octets, 7 to 16.
    public var maximumKeySize = 16
    /// Whether to tell the peer, and want to be told, of each digit that is entered.
    public var notifiesKeypresses = false
    /// The keys that are given to the peer, where it takes them.
    public var givenKeys: KeyKinds = [.encryption, .identity]
    /// The keys that the peer is asked for.
    public var wantedKeys: KeyKinds = [.encryption, .identity]
    /// Whether the public key that everybody has the private key of is accepted, and used: for sniffers (AB-S03).
    public var isDebugMode = false

    /// Apple's way.
    public init() {}

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
public enum OutOfBandData: Hashable, Sendable {
    /// For legacy pairing: the temporary key itself.
    case legacy(Key128)
    /// For LE Secure Connections: what binds the peer to its public key, and a random value.
    case secureConnections(confirm: Block128, random: Block128)
}

/// What came another way, on one link.
public struct OutOfBand: Sendable {
    /// What came from the peer.
    public var peer: OutOfBandData?
    /// What the peer got. It is used up by one pairing.
    public var own: OwnOutOfBandData?

    /// What came and what went.
    public init(peer: OutOfBandData? = nil, own: OwnOutOfBandData? = nil) {
        self.peer = peer
        self.own = own
    }
}

/// What this device has given away another way: it is bound to a key pair, so that this pair must be used.
public struct OwnOutOfBandData: Sendable {
    /// The pair.
    public let keyPair: P256KeyPair
    /// The random value.
    public let random: Block128

    /// The given values.
    public init(keyPair: P256KeyPair, random: Block128) {
        self.keyPair = keyPair
        self.random = random
    }

    /// A new pair and a new random value; nil when the source of random numbers is broken.
    public init?(random: RandomSource) {
        guard let keys = P256KeyPair(random: random.bytes), let value = Block128(random.bytes(16)) else { return nil }
        self.init(keyPair: keys, random: value)
    }

    /// What the peer needs: the confirm value and the random value.
    public var shared: OutOfBandData {
        let x = keyPair.publicKey.x
        return .secureConnections(confirm: Toolbox.f4(x, x, random, 0), random: random)
    }
}
