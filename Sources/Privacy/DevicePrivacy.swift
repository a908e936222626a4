import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP

/// The private addresses of a device: its own, which change, and those of the peers that it is bonded with, which it
/// recognises (Core Vol 3 Part C 10.7, behaviours 6.17, 6.18).
///
/// The host makes and resolves addresses; a controller with a resolving list does so too for the peers on it. What others see
/// is the same. Made before the advertiser, the scanner and the connector that it is given to. Lives on its loop.
package final class DevicePrivacy {
    /// After how long an address gives way to another one: TGAP(private_addr_int) (Core Vol 3 Part C Appendix A).
    package static let defaultInterval = Duration.seconds(15 * 60)
    /// How long an address may last at most, and at least (Core Vol 4 Part E 7.8.45).
    package static let intervals: ClosedRange<Duration> = .seconds(1)...(.seconds(3_600))

    /// After how long an address of this device gives way to another one.
    package let interval: Duration
    /// The devices that this one is bonded with. Set whenever that changes; the security of the device does.
    package var peers: [PrivatePeer] = [] {
        didSet {
            guard peers != oldValue else { return }
            // To be used changes nothing about whose address is whose.
            if resolver.replace(peers) {
                (recent, lastAddresses) = ([:], [:])
                resolving.formIntersection(peers.map(\.identity))
            }
            reviewList()
        }
    }
    /// Called when the controller refuses the very first address; it is of no use then.
    package var onFailed: ((HCICommandError) -> Void)?

    /// Resets the controller and brings it up again, once nobody uses the radio, and calls back with what it is then; with nil
    /// when that could not be.
    package var renew: ((@escaping (ControllerInformation?) -> Void) -> Void)?

    let host: HCIHost
    let loop: any EventLoop
    let random: RandomSource
    let happenings: HappeningSink
    /// What bonded peers recognise this device by; nil for one that shows the same address all the time. Another one counts
    /// from the next ``begin(_:on:)`` on.
    package var identity: LocalIdentity?
    package weak var advertiser: (any AdvertisingUser)?
    package weak var scanner: (any RadioUser)?
    package weak var connector: (any ConnectingUser)?

    var quiet = QuietMachine()
    var events: [QuietMachine.Event] = []
    var isHandling = false
    var shared = SharedAddress()
    var list = ResolvingList()
    /// The address of a device without private ones.
    var base: OwnAddress?
    /// What those show who share an address, once the controller knows it.
    var current: (address: OwnAddress, kind: SharedAddress.Kind)?
    var expiry: ScheduledTask?
    var pauseTimer: ScheduledTask?
    var retry: ScheduledTask?
    /// Raised with every reset, so that what is still on its way is not mistaken for what comes after.
    var life = 0
    private var resolver = AddressResolver()
    /// Peers that have said since this device is up that they resolve addresses.
    private var resolving: Set<BluetoothAddress> = []
    /// Bonded peers that are advertised to by their identity addresses.
    private var plainTargets: Set<BluetoothAddress> = []
    /// Where each bonded peer was heard last.
    private var recent: [BluetoothAddress: (address: BluetoothAddress, time: Instant)] = [:]
    /// The address that each bonded peer had when it was linked last, when the host resolved it.
    var lastAddresses: [BluetoothAddress: BluetoothAddress] = [:]
    /// The own address of each link.
    var linkAddresses: [ConnectionHandle: LinkAddress] = [:]

    struct LinkAddress {
        weak var connection: HCIConnection?
        var address: BluetoothAddress
    }

    /// For how long an address that a peer was heard with is good to connect to it.
    static let recentTime = Duration.seconds(2)
    /// How long to wait before a controller that would not take an address is asked again.
    static let retryDelay = Duration.seconds(1)

    /// The privacy of a device.
    ///
    /// - Parameters:
    ///   - host: The host of the advertiser, the scanner and the connector.
    ///   - identity: What bonded peers recognise this device by. Nil for one that shows the same address all the time, except
    ///     where an address is asked for that says nothing.
    ///   - interval: After how long an address gives way to another one, in ``intervals``; cut to them.
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

    /// Whether this device shows addresses that change.
    package var isPrivate: Bool { identity != nil }

    /// The controller is ready. Called before the advertiser, the scanner and the connector learn of it; they wait until it
    /// has its address.
    ///
    /// - Parameter address: The address of a device without private ones.
    /// - Returns: The address that is shown first.
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

    /// The controller is gone.
    package func reset() {
        life += 1
        for task in [expiry, retry].compactMap(\.self) { loop.cancel(task) }
        (base, current, pendingAddress) = (nil, nil, nil)
        shared.reset()
        plainTargets = []
        list = ResolvingList()
        recent = [:]
        linkAddresses = [:]
        events = []
        handle(.reset)
    }

    /// An address that is drawn and not yet in use.
    var pendingAddress: (address: OwnAddress, kind: SharedAddress.Kind)?

    // MARK: Peers

    /// The bonded peer whose address this is. That proves nothing until the link is encrypted (AB-G03).
    package func peer(at address: BluetoothAddress) -> PrivatePeer? {
        resolver.peer(at: address)
    }

    /// What stands for the device at `address` as long as can be: its identity address when it is bonded, the address itself
    /// otherwise.
    package func identity(of address: BluetoothAddress) -> BluetoothAddress {
        resolver.peer(at: address)?.identity ?? address.plain
    }

    /// Whether this device can be advertised to by a private address of its own: the value of its Central Address Resolution
    /// characteristic (Core Vol 3 Part C 12.4). Certain once the controller is ready.
    package var resolvesAddresses: Bool { list.capacity > 0 }

    /// Notes what the Central Address Resolution characteristic of a bonded peer says
    /// (``GATT/GATTClient/readCentralAddressResolution(_:)``).
    package func setResolvesAddresses(_ resolves: Bool, of identity: BluetoothAddress) {
        guard let peer = resolver[identity] else { return }
        if resolves { resolving.insert(peer.identity) } else { resolving.remove(peer.identity) }
    }

    /// Whether a bonded peer resolves the address that it is advertised to by, as far as that is known.
    func resolves(_ peer: PrivatePeer) -> Bool { resolving.contains(peer.identity) }

    /// The devices that advertisements are directed to. A controller calls those on its list by private addresses, whatever
    /// it shows itself (Core Vol 6 Part B 6.2.2), so those who would not understand it leave the list meanwhile.
    package func setTargets(_ targets: [BluetoothAddress]) {
        let known = targets.compactMap { peer(at: $0) }
        let new = Set(known.filter { $0.key != nil && !resolves($0) }.map(\.identity))
        guard new != plainTargets else { return }
        plainTargets = new
        reviewList()
    }

    /// Those whom the controller may know.
    var listable: [PrivatePeer] { peers.filter { !plainTargets.contains($0.identity) } }

    /// The bonded peer with this identity address.
    package func bonded(_ identity: BluetoothAddress) -> PrivatePeer? { resolver[identity] }

    /// Keys that were tried on addresses so far.
    var attempts: UInt64 { resolver.attempts }

    /// Remembers where a bonded peer was heard.
    package func heard(_ identity: BluetoothAddress, at address: BluetoothAddress) {
        recent[identity] = (address, loop.now)
    }

    /// Where a bonded peer was heard a moment ago.
    package func recentAddress(of identity: BluetoothAddress) -> BluetoothAddress? {
        guard let last = recent[identity], loop.now - last.time <= Self.recentTime else { return nil }
        return last.address
    }

    /// Whether the host has to hear a peer to know its address of the moment: it has a key, and the controller does not know
    /// it.
    package func isResolvedByHost(_ identity: BluetoothAddress) -> Bool {
        resolver[identity]?.key != nil && list.entries[identity]?.key == nil
    }
}
