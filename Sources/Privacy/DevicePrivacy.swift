import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP

/// The LE privacy of a device: its own changing addresses, and the recognition of bonded peers by theirs (Core Vol 3
/// Part C 10.7, behaviours 6.17, 6.18).
///
/// The host generates and resolves addresses. A controller with a resolving list does so as well for the peers on the
/// list; on the air there is no difference. Create it before the advertiser, the scanner and the connector, which use
/// it. Not thread-safe: use it on its event loop.
package final class DevicePrivacy {
    /// The default interval between changes of an address: TGAP(private_addr_int) (Core Vol 3 Part C Appendix A).
    package static let defaultInterval = Duration.seconds(15 * 60)
    /// The allowed intervals between changes of an address (Core Vol 4 Part E 7.8.45).
    package static let intervals: ClosedRange<Duration> = .seconds(1)...(.seconds(3_600))

    /// The interval between changes of this device's addresses.
    package let interval: Duration
    /// The bonded devices. The device's security component sets them whenever the bonds change.
    package var peers: [PrivatePeer] = [] {
        didSet {
            guard peers != oldValue else { return }
            // A change of `lastUse` alone leaves the keys as they were.
            if resolver.replace(peers) {
                (recent, lastAddresses) = ([:], [:])
                resolving.formIntersection(peers.map(\.identity))
            }
            reviewList()
        }
    }
    /// Called when the controller refuses the very first address, which makes it unusable.
    package var onFailed: ((HCICommandError) -> Void)?

    /// Resets and reinitialises the controller. Called while the radio is quiet. Calls back with the controller's new
    /// properties, or nil if the reset failed.
    package var renew: ((@escaping (ControllerInformation?) -> Void) -> Void)?

    let host: HCIHost
    let loop: any EventLoop
    let random: RandomSource
    let happenings: HappeningSink
    /// The identity by which bonded peers recognise this device; nil for a device whose address never changes. A new
    /// value takes effect with the next ``begin(_:on:)``.
    package var identity: LocalIdentity?
    package weak var advertiser: (any AdvertisingUser)?
    package weak var scanner: (any RadioUser)?
    package weak var connector: (any ConnectingUser)?

    var quiet = QuietMachine()
    var events: [QuietMachine.Event] = []
    var isHandling = false
    var shared = SharedAddress()
    var list = ResolvingListPlan()
    /// The address of a device without private addresses.
    var base: OwnAddress?
    /// The shared address, once the controller has accepted it.
    var current: (address: OwnAddress, kind: SharedAddress.Kind)?
    var expiry: ScheduledTask?
    var pauseTimer: ScheduledTask?
    var retry: ScheduledTask?
    /// Incremented with every reset, to discard completions of earlier commands.
    var life = 0
    private var resolver = AddressResolver()
    /// The peers that have declared support for address resolution since the device was last powered on.
    private var resolving: Set<BluetoothAddress> = []
    /// The bonded peers that directed advertising addresses by their identity addresses.
    private var plainTargets: Set<BluetoothAddress> = []
    /// The address and time of the last advertisement from each bonded peer.
    private var recent: [BluetoothAddress: (address: BluetoothAddress, time: Instant)] = [:]
    /// The address that each bonded peer used on its last link, if the host resolved it.
    var lastAddresses: [BluetoothAddress: BluetoothAddress] = [:]
    /// This device's own address on each link.
    var linkAddresses: [ConnectionHandle: LinkAddress] = [:]

    struct LinkAddress {
        weak var connection: HCIConnection?
        var address: BluetoothAddress
    }

    /// How long an address seen in advertising remains usable for connecting to the peer.
    static let recentTime = Duration.seconds(2)
    /// How long to wait before retrying an address that the controller refused.
    static let retryDelay = Duration.seconds(1)

    /// Creates the privacy of a device.
    ///
    /// - Parameters:
    ///   - host: The HCI host that the advertiser, the scanner and the connector use.
    ///   - identity: The identity by which bonded peers recognise this device. With nil, the device shows a fixed
    ///     address, except where a non-resolvable address is requested.
    ///   - interval: The interval between changes of an address, clamped to ``intervals``.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        identity: LocalIdentity?,
        interval: Duration = DevicePrivacy.defaultInterval,
        happenings: HappeningSink
    ) {
        self.host = host
        self.loop = loop
        self.random = random
        self.identity = identity
        self.interval = min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
        self.happenings = happenings
    }

    /// Whether the device uses resolvable private addresses.
    package var isPrivate: Bool { identity != nil }

    /// Sets up the addresses on a controller that has become ready. Called before the advertiser, the scanner and the
    /// connector learn of it; they wait until the controller has its address.
    ///
    /// - Parameter address: The address of a device without private addresses.
    /// - Returns: The first address to use.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) -> OwnAddress {
        base = address
        list.begin(controller)
        handle(.begin(hasSetAddresses: controller.supportsExtendedAdvertising))
        let first = draw(shared.kind(isPrivate: isPrivate))
        pendingAddress = first
        handle(.need(.address))
        reviewList()
        return first.address
    }

    /// Discards everything that depends on the controller. Called when it is gone.
    package func reset() {
        life += 1
        for task in [expiry, retry].compactMap(\.self) { loop.cancel(task) }
        (base, current, pendingAddress) = (nil, nil, nil)
        shared.reset()
        plainTargets = []
        list = ResolvingListPlan()
        recent = [:]
        linkAddresses = [:]
        events = []
        handle(.reset)
    }

    /// The address that has been drawn but is not yet in use.
    var pendingAddress: (address: OwnAddress, kind: SharedAddress.Kind)?

    // MARK: Peers

    /// Returns the bonded peer with this address. Proves nothing until the link is encrypted (AB-G03).
    package func peer(at address: BluetoothAddress) -> PrivatePeer? {
        resolver.peer(at: address)
    }

    /// Returns the most durable address of the device at `address`: its identity address if it is bonded, otherwise the
    /// address itself.
    package func identity(of address: BluetoothAddress) -> BluetoothAddress {
        resolver.peer(at: address)?.identity ?? address.plain
    }

    /// Whether directed advertising can reach this device at a private address: the value of its Central Address
    /// Resolution characteristic (Core Vol 3 Part C 12.4). Final once the controller is ready.
    package var resolvesAddresses: Bool { list.capacity > 0 }

    /// Records the value of a bonded peer's Central Address Resolution characteristic
    /// (``GATT/GATTClient/readCentralAddressResolution(_:)``).
    package func setResolvesAddresses(_ resolves: Bool, of identity: BluetoothAddress) {
        guard let peer = resolver[identity] else { return }
        if resolves { resolving.insert(peer.identity) } else { resolving.remove(peer.identity) }
    }

    /// Whether a bonded peer is known to resolve the target address of directed advertising.
    func resolves(_ peer: PrivatePeer) -> Bool { resolving.contains(peer.identity) }

    /// Sets the targets of directed advertising.
    ///
    /// A controller addresses peers on its resolving list by private addresses, whatever its own address is (Core Vol 6
    /// Part B 6.2.2). So targets that cannot resolve one are taken off the list meanwhile.
    package func setTargets(_ targets: [BluetoothAddress]) {
        let known = targets.compactMap { peer(at: $0) }
        let new = Set(known.filter { $0.key != nil && !resolves($0) }.map(\.identity))
        guard new != plainTargets else { return }
        plainTargets = new
        reviewList()
    }

    /// The peers that may be on the controller's resolving list.
    var listable: [PrivatePeer] { peers.filter { !plainTargets.contains($0.identity) } }

    /// Returns the bonded peer with this identity address.
    package func bonded(_ identity: BluetoothAddress) -> PrivatePeer? { resolver[identity] }

    /// The number of keys tried on addresses so far.
    var attempts: UInt64 { resolver.attempts }

    /// Records the address of an advertisement from a bonded peer.
    package func heard(_ identity: BluetoothAddress, at address: BluetoothAddress) {
        recent[identity] = (address, loop.now)
    }

    /// Returns the address at which a bonded peer was last seen, unless that is too long ago.
    package func recentAddress(of identity: BluetoothAddress) -> BluetoothAddress? {
        guard let last = recent[identity], loop.now - last.time <= Self.recentTime else { return nil }
        return last.address
    }

    /// Whether the host must receive an advertisement from a peer to learn its current address: the peer has a key, and
    /// the controller's list does not hold it.
    package func isResolvedByHost(_ identity: BluetoothAddress) -> Bool {
        resolver[identity]?.key != nil && list.entries[identity]?.key == nil
    }
}
