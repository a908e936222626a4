import BluetoothTypes
import EventLoops
import HCI

/// A received device, with its address on the air and its identity.
struct ResolvedDevice: Hashable {
    var address: BluetoothAddress
    /// The address reported to the host: the identity address if the address was resolved, otherwise the address
    /// itself.
    var identity: BluetoothAddress

    /// Whether a private address was resolved.
    var isResolved: Bool { identity.kind.isIdentity }
}

/// The own address for requests.
struct OwnAddressParameters: Hashable {
    /// The own address type chosen by the host.
    var kind = OwnAddressKind.publicDevice
    /// The public or the random address; nil if the host has not set it.
    var fallback: BluetoothAddress? = BluetoothAddress.none
}

/// The target of directed advertising.
enum DirectedTarget: Hashable {
    /// This device, by the address as reported to the host.
    case own(BluetoothAddress)
    /// This device, by a private address that was resolved.
    case ownPrivate(BluetoothAddress)
    /// A private address that could not be resolved.
    case unresolved
    /// Another device than this one.
    case foreign
}

/// Link layer privacy (Core Vol 6 Part B 6): resolves and generates addresses for advertising, scanning and initiating.
final class LinkPrivacy {
    /// The default lifetime of a private address (Core Vol 4 Part E 7.8.45).
    static let initialTimeout = Duration.seconds(900)

    var list: ResolvingList
    /// Whether private addresses of peers are resolved. Own ones are generated regardless (7.8.44).
    private(set) var isResolving = false
    /// The range of lifetimes of a private address.
    private(set) var lifetimes = LinkPrivacy.initialTimeout...LinkPrivacy.initialTimeout

    private let loop: any EventLoop
    private let random: RandomSource

    init(size: UInt8, loop: any EventLoop, random: RandomSource) {
        list = ResolvingList(size: size)
        self.loop = loop
        self.random = random
    }

    func reset() {
        list.clear()
        isResolving = false
        lifetimes = Self.initialTimeout...Self.initialTimeout
    }

    // MARK: Commands of the host

    /// Resolves private addresses from now on, or no longer (Core Vol 4 Part E 7.8.44).
    func enableResolution(_ isEnabled: Bool) {
        isResolving = isEnabled
    }

    /// Limits the lifetimes of the private addresses generated from now on (7.8.45).
    func limitLifetimes(to range: ClosedRange<Duration>) {
        lifetimes = range
    }

    // MARK: Addresses

    /// The rules for generating private addresses at this instant.
    var rules: RotatingAddress.Rules { .init(now: loop.now, lifetimes: lifetimes, random: random) }

    /// Returns the device that uses an address; nil if it must be ignored because it shows an identity that it should
    /// hide.
    ///
    /// The privacy mode of a peer applies whether or not addresses are resolved. The resolving list determines it
    /// "whether or not address resolution is enabled" (Core Vol 6 Part B 4.7), and LE Set Address Resolution Enable
    /// does not affect the privacy of the device (Core Vol 4 Part E 7.8.44). Without resolution, a peer in network
    /// privacy mode is therefore ignored by its identity address, and is a stranger by its private ones.
    func device(_ address: BluetoothAddress) -> ResolvedDevice? {
        guard isResolving else {
            return list.isExposed(address) ? nil : ResolvedDevice(address: address, identity: address)
        }
        switch list.sender(address) {
        case .peer(let peer): return ResolvedDevice(address: address, identity: peer.identity)
        case .stranger: return ResolvedDevice(address: address, identity: address)
        case .exposed: return nil
        }
    }

    /// Whether an address was generated with one of this device's own keys. False while addresses are not resolved.
    func isOwn(_ address: BluetoothAddress) -> Bool { isResolving && list.isOwn(address) }

    /// Determines the target of directed advertising.
    func judge(_ target: BluetoothAddress, _ own: OwnAddressParameters) -> DirectedTarget {
        if target == own.fallback { return .own(target) }
        guard target.randomKind == .resolvable else { return .foreign }
        guard isOwn(target) else { return .unresolved }
        return .ownPrivate(own.fallback?.identity ?? target)
    }

    /// Returns the own address for a request to a device; nil if there is none.
    func address(_ own: OwnAddressParameters, towards peer: ResolvedDevice) -> BluetoothAddress? {
        guard own.kind.isPrivate else { return own.fallback }
        return list.localAddress(towards: peer.identity, rules) ?? own.fallback
    }

    /// Returns the address by which a peer identifies this device; nil if the peer has a key for that.
    func lastingAddress(_ own: OwnAddressParameters, towards peer: BluetoothAddress) -> BluetoothAddress? {
        own.kind.isPrivate && list.localKey(towards: peer) != nil ? nil : own.fallback
    }

    /// Whether a directed advertisement may be answered.
    ///
    /// If this device uses private addresses towards the advertiser, an advertisement directed at its identity address
    /// is not answered: the response would reveal that the private address belongs to the same device (6.4).
    func mayAnswer(_ target: BluetoothAddress, _ own: OwnAddressParameters, from peer: ResolvedDevice) -> Bool {
        switch judge(target, own) {
        case .own: !(own.kind.isPrivate && list.localKey(towards: peer.identity) != nil)
        case .ownPrivate: true
        case .unresolved, .foreign: false
        }
    }
}

extension OwnAddressKind {
    /// Whether the controller generates a private address, if it can.
    var isPrivate: Bool { self == .resolvableOrPublic || self == .resolvableOrRandom }
    /// Whether the address, or the fallback of a private one, is the random address.
    var isRandom: Bool { self == .randomDevice || self == .resolvableOrRandom }
}

extension BluetoothAddress.Kind {
    /// Whether the kind marks a resolved address.
    var isIdentity: Bool { self == .publicIdentity || self == .randomIdentity }
    /// The kind of a target address that the controller could not resolve (Core Vol 4 Part E 7.7.65.13).
    static let unresolved = BluetoothAddress.Kind(rawValue: 0xFE)
}

/// The identities of the two devices of a link, behind the addresses used to make it.
struct LinkIdentities: Hashable {
    /// The address by which the peer identifies this device; nil if the peer has a key for that.
    var own: BluetoothAddress?
    /// The private address that this controller has generated for itself, if any.
    var ownPrivate: BluetoothAddress?
    var peer: ResolvedDevice

    /// The peer's private address, if it was resolved.
    var peerPrivate: BluetoothAddress? { peer.isResolved ? peer.address : nil }

    /// Whether a link with these addresses would be between the same two devices.
    func areThose(of own: BluetoothAddress?, and peer: BluetoothAddress) -> Bool {
        self.peer.identity.device == peer.device && (own == nil || self.own == nil || own == self.own)
    }
}
