import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// A device that was heard: the address that it had on the air, and who it is.
struct HeardDevice: Hashable {
    /// The address on the air.
    var address: BluetoothAddress
    /// What the host is told: the identity if the address was resolved, else the address itself.
    var identity: BluetoothAddress

    /// Whether a private address was resolved.
    var isResolved: Bool { identity.kind.isIdentity }
}

/// Which address somebody shows who sends requests.
struct OwnAddress: Hashable {
    /// What the host has chosen.
    var kind = OwnAddressKind.publicDevice
    /// The public or the random address; nil when the host has not set it.
    var fallback: BluetoothAddress? = BluetoothAddress.none
}

/// Whom a directed advertisement is for.
enum DirectedTarget: Hashable {
    /// This device; the address as the host is told it.
    case own(BluetoothAddress)
    /// This device, by a private address that has been resolved.
    case ownPrivate(BluetoothAddress)
    /// A private address that nothing is known about.
    case unresolved
    /// Somebody else.
    case foreign
}

/// Privacy in the link layer (Core Vol 6 Part B 6): what those who advertise, scan and initiate ask about addresses.
final class LinkPrivacy {
    /// How long a private address is used unless the host says otherwise (Core Vol 4 Part E 7.8.45).
    static let initialTimeout = Duration.seconds(900)

    /// The peers.
    var list: ResolvingList
    /// Whether private addresses of others are resolved. Own ones are made in any case (7.8.44).
    var isResolving = false
    /// Between which times a private address is used.
    var lifetimes = LinkPrivacy.initialTimeout...LinkPrivacy.initialTimeout

    private let loop: any EventLoop
    private let random: RandomSource

    init(size: UInt8, loop: any EventLoop, random: RandomSource) {
        list = ResolvingList(size: size)
        self.loop = loop
        self.random = random
    }

    /// What a reset leaves.
    func reset() {
        list.clear()
        isResolving = false
        lifetimes = Self.initialTimeout...Self.initialTimeout
    }

    /// What a new private address follows from.
    var rules: RotatingAddress.Rules { .init(now: loop.now, lifetimes: lifetimes, random: random) }

    /// Who uses an address; nil when that device is to be ignored, because it shows an identity that it should hide.
    func device(_ address: BluetoothAddress) -> HeardDevice? {
        guard isResolving else { return HeardDevice(address: address, identity: address) }
        switch list.sender(address) {
        case .peer(let peer): return HeardDevice(address: address, identity: peer.identity)
        case .stranger: return HeardDevice(address: address, identity: address)
        case .exposed: return nil
        }
    }

    /// Whom a directed advertisement is for.
    func judge(_ target: BluetoothAddress, _ own: OwnAddress) -> DirectedTarget {
        if target == own.fallback { return .own(target) }
        guard target.randomKind == .resolvable else { return .foreign }
        guard isResolving, list.isOwn(target) else { return .unresolved }
        return .ownPrivate(own.fallback?.identity ?? target)
    }

    /// The address for a request to a device; nil when there is none.
    func address(_ own: OwnAddress, towards peer: HeardDevice) -> BluetoothAddress? {
        guard own.kind.isPrivate else { return own.fallback }
        return list.localAddress(towards: peer.identity, rules) ?? own.fallback
    }

    /// By what address a peer tells this device from others; nil when it has a key for that.
    func lastingAddress(_ own: OwnAddress, towards peer: BluetoothAddress) -> BluetoothAddress? {
        own.kind.isPrivate && list.localKey(towards: peer) != nil ? nil : own.fallback
    }

    /// Whether a directed advertisement may be answered. Those from whom this device hides are not, when they show its
    /// identity: the answer would tell that the private address in it is the same device's (6.4).
    func mayAnswer(_ target: BluetoothAddress, _ own: OwnAddress, from peer: HeardDevice) -> Bool {
        switch judge(target, own) {
        case .own: !(own.kind.isPrivate && list.localKey(towards: peer.identity) != nil)
        case .ownPrivate: true
        case .unresolved, .foreign: false
        }
    }
}

extension OwnAddressKind {
    /// Whether the controller makes a private address, if it can.
    var isPrivate: Bool { self == .resolvableOrPublic || self == .resolvableOrRandom }
    /// Whether it is the random address, or that in place of a private one.
    var isRandom: Bool { self == .randomDevice || self == .resolvableOrRandom }
}

extension BluetoothAddress.Kind {
    /// Whether it is said of an address that was resolved.
    var isIdentity: Bool { self == .publicIdentity || self == .randomIdentity }
    /// A target that the controller could not resolve (Core Vol 4 Part E 7.7.65.13).
    static let unresolved = BluetoothAddress.Kind(rawValue: 0xFE)
}
