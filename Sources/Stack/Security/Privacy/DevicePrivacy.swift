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
/// list; on the air there is no difference. No address outlives its interval (AB-G04). Create it before the advertiser,
/// the scanner and the connector, which use it. Not thread-safe: use it on its event loop.
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
            known.replace(peers)
            reviewList()
        }
    }
    /// Called when the controller refuses the very first address, which makes it unusable.
    package var onFailed: ((HCICommandError) -> Void)?

    /// Resets and reinitialises the controller. Called while the radio is quiet. Calls back with the controller's new
    /// properties, or nil if the reset failed.
    package var renew: ((@escaping (ControllerInformation?) -> Void) -> Void)?

    private let host: HCIHost
    private let loop: any EventLoop
    private let random: RandomSource
    private let stackEvents: StackEventSink
    /// The identity by which bonded peers recognise this device; nil for a device whose address never changes. A new
    /// value takes effect with the next ``begin(_:on:)``.
    package var identity: LocalIdentity?
    package weak var advertiser: (any AdvertisingUser)?
    package weak var scanner: (any RadioUser)?
    package weak var connector: (any ConnectingUser)?

    private(set) var quiet = QuietMachine()
    private var events = EventQueue<QuietMachine.Event>()
    private(set) var list = ResolvingListPlan()
    private var shared = SharedAddress()
    private var known = AddressResolver()
    private var links = LinkAddresses()
    /// Runs until the shared address is due for a change.
    private var expiry: ScheduledTask?
    /// Runs while the radio's users are being paused.
    private var pauseTimer: ScheduledTask?
    /// Runs until an address that the controller refused is tried again.
    private var retry: ScheduledTask?
    /// Incremented with every reset, to discard completions of earlier commands.
    private var epoch = 0

    /// How long to wait before retrying an address that the controller refused.
    static let retryDelay = Duration.seconds(1)

    /// Creates the privacy of a device.
    ///
    /// - Parameters:
    ///   - identity: The identity by which bonded peers recognise this device. With nil, the device shows a fixed
    ///     address.
    ///   - interval: The interval between changes of an address, clamped to ``intervals``.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        identity: LocalIdentity?,
        interval: Duration = DevicePrivacy.defaultInterval,
        stackEvents: StackEventSink
    ) {
        self.host = host
        self.loop = loop
        self.random = random
        self.identity = identity
        self.interval = min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
        self.stackEvents = stackEvents
    }

    /// Whether the device uses resolvable private addresses.
    package var isPrivate: Bool { identity != nil }

    /// Sets up the addresses on a controller that has become ready. Called before the advertiser, the scanner and the
    /// connector learn of it; they wait until the controller has its address.
    ///
    /// - Returns: The first address to use.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) -> OwnAddress {
        shared.begin(address)
        list.begin(controller)
        handle(.begin(hasSetAddresses: controller.supportsExtendedAdvertising))
        let first = draw()
        shared.plan(first)
        handle(.need(.address))
        reviewList()
        return first.address
    }

    /// Discards everything that depends on the controller. Called when it is gone.
    package func reset() {
        epoch += 1
        for task in [expiry, retry].compactMap(\.self) { loop.cancel(task) }
        shared.reset()
        known.forgetRecent()
        list = ResolvingListPlan()
        links = LinkAddresses()
        events.removeAll()
        handle(.reset)
    }

    var waitingEvents: Int { events.count }
}

// MARK: - Peers

extension DevicePrivacy {
    /// Returns the bonded peer with this address. Proves nothing until the link is encrypted (AB-G03).
    package func peer(at address: BluetoothAddress) -> PrivatePeer? {
        known.peer(at: address)
    }

    /// Returns the most durable address of the device at `address`: its identity address if it is bonded, otherwise the
    /// address itself.
    package func identity(of address: BluetoothAddress) -> BluetoothAddress {
        known.peer(at: address)?.identity ?? address.plain
    }

    package func bonded(_ identity: BluetoothAddress) -> PrivatePeer? { known[identity] }

    var attempts: UInt64 { known.attempts }

    package func noteAddress(_ identity: BluetoothAddress, at address: BluetoothAddress) {
        known.noteAddress(identity, at: address, loop.now)
    }

    /// Returns the address at which a bonded peer was last seen, unless that is too long ago.
    package func recentAddress(of identity: BluetoothAddress) -> BluetoothAddress? {
        known.recentAddress(of: identity, loop.now)
    }

    /// Whether the host must receive an advertisement from a peer to learn its current address: the peer has a key, and
    /// the controller's list does not hold it; or the peer may use its pairing address, which is never on the list.
    package func isResolvedByHost(_ identity: BluetoothAddress) -> Bool {
        guard let peer = known[identity] else { return false }
        return peer.pairingAddress != nil || peer.key != nil && list.entries[identity]?.key == nil
    }
}

// MARK: - Own addresses

extension DevicePrivacy {
    /// The address of the scanner and the initiator, and without extended advertising also of the advertiser.
    ///
    /// For a peer on its resolving list the controller generates a private address; for other peers it uses this one.
    package var sharedAddress: OwnAddress? {
        guard let current = shared.current else { return nil }
        var address = current.address
        address.isMadeByController = current.kind == .resolvable && list.isInUse
        return address
    }

    /// The shared address if it is a resolvable private address; otherwise nil.
    package var sharedResolvableAddress: BluetoothAddress? {
        shared.current.flatMap { $0.kind == .resolvable ? $0.address.address : nil }
    }

    /// Makes the shared address adopt this resolvable private address, used so far by an advertising set, at the next
    /// change.
    package func keep(_ address: BluetoothAddress) {
        shared.plan(SharedAddress.Drawn(address: OwnAddress(address), kind: .resolvable))
    }

    /// Draws an address for a single advertising set; nil if the device's fixed address is to be used.
    package func drawAddress() -> BluetoothAddress? {
        let drawn = draw()
        return drawn.kind == .fixed ? nil : drawn.address.address
    }

    private func draw() -> SharedAddress.Drawn {
        shared.draw(identity?.key, random)
    }

    /// Records the own address of a new link. Called before the advertiser and the connector learn of the link.
    ///
    /// - Returns: The address that this device used on the air for the link, from which pairing on the link is
    ///   computed. For a peripheral with several connectable sets, ``ownAddress(of:)`` is only final once the
    ///   controller has reported the advertising set, right after the connection.
    @discardableResult
    package func connected(_ connection: HCIConnection) -> BluetoothAddress? {
        let ofSet = connection.role == .peripheral ? advertiser?.connectableAddress : nil
        let shown = shared.current?.address.address
        guard let address = connection.localResolvableAddress ?? ofSet ?? shown else { return nil }
        links.began(connection, at: address)
        return address
    }

    /// The address that this device used on the air when the link was made; nil if ``connected(_:)`` was not called for
    /// the link.
    package func ownAddress(of connection: HCIConnection) -> BluetoothAddress? {
        links.address(of: connection)
    }

    /// Handles the controller's report of the advertising set from which a link was made.
    package func connected(_ handle: ConnectionHandle, toSetAt address: BluetoothAddress) {
        links.began(handle, toSetAt: address)
    }
}

// MARK: - Quiet periods

extension DevicePrivacy {
    /// Handles events strictly one after the other, including those raised by handling one.
    package func handle(_ event: QuietMachine.Event) {
        guard events.add(event) else { return }
        while let next = events.next() {
            for action in quiet.handle(next) { perform(action) }
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        let isPausing = if case .pausing = quiet.state { true } else { false }
        return isPausing == (pauseTimer != nil) ? nil : "the timer does not run exactly while users are being paused"
    }

    private func perform(_ action: QuietMachine.Action) {
        switch action {
        case .pause(let user): if let component = component(user) { component.pause() } else { handle(.quiet(user)) }
        case .resume(let user): component(user)?.resume()
        case .work(let jobs): work(jobs)
        case .startTimer:
            pauseTimer = loop.schedule(after: QuietMachine.limit) { [weak self] in
                self?.pauseTimer = nil
                self?.stackEvents.report(PrivacyEvent.notQuiet)
                self?.handle(.timeOver)
            }
        case .endTimer: if let pauseTimer = pauseTimer.take() { loop.cancel(pauseTimer) }
        }
    }

    private func component(_ user: QuietMachine.User) -> (any RadioUser)? {
        switch user {
        case .advertiser: advertiser
        case .scanner: scanner
        case .connector: connector
        }
    }

    private func work(_ jobs: Set<QuietMachine.Job>) {
        if jobs.contains(.renewal), let renew {
            let epoch = epoch
            return renew { [weak self] controller in
                guard let self, self.epoch == epoch else { return }
                restartWork(jobs, on: controller)
            }
        }
        workInOrder(jobs)
    }

    private func workInOrder(_ jobs: Set<QuietMachine.Job>) {
        let rest: () -> Void = { [weak self] in
            guard let self else { return }
            jobs.contains(.list) ? workOnList() : handle(.done)
        }
        jobs.contains(.address) ? changeAddress(then: rest) : rest()
    }

    /// Continues after the controller was reset, which leaves it with an empty resolving list and no address. A nil
    /// controller means that the reset failed.
    private func restartWork(_ jobs: Set<QuietMachine.Job>, on controller: ControllerInformation?) {
        guard let controller else { return workInOrder(jobs) }
        list.begin(controller)
        list.choose(from: peers)
        handle(.begin(hasSetAddresses: controller.supportsExtendedAdvertising))
        if !jobs.contains(.address) { shared.planAgain() }
        workInOrder([.address, .list])
    }

    private func changeAddress(then done: @escaping () -> Void) {
        let new = shared.takePlanned() ?? draw()
        guard new.address.address.kind.isRandom else {
            addressChanged(to: new)
            return done()
        }
        let epoch = epoch
        host.send(LESetRandomAddress(address: new.address.address)) { [weak self] result in
            guard let self, self.epoch == epoch else { return }
            switch result {
            case .success: addressChanged(to: new)
            case .failure(let error): addressRefused(error, new)
            }
            if self.epoch == epoch { done() }
        }
    }

    private func addressChanged(to new: SharedAddress.Drawn) {
        shared.adopt(new)
        if let expiry = expiry.take() { loop.cancel(expiry) }
        // The needs may have changed in the meantime.
        guard new.kind != .fixed else { return }
        expiry = loop.schedule(after: interval) { [weak self] in self?.handle(.need(.address)) }
    }

    private func addressRefused(_ error: HCICommandError, _ new: SharedAddress.Drawn) {
        guard !error.isOfHost else { return }
        stackEvents.report(PrivacyEvent.addressRefused(error))
        guard shared.current != nil else {
            onFailed?(error)
            return
        }
        retry = loop.schedule(after: Self.retryDelay) { [weak self] in self?.handle(.need(.address)) }
    }
}

// MARK: - The controller's resolving list

extension DevicePrivacy {
    /// Requests an update of the resolving list if the change of bonds or controller requires one.
    private func reviewList() {
        list.choose(from: peers)
        if list.isBehind {
            handle(.need(.list))
        } else {
            connector?.reviewRoutes()
        }
    }

    /// Updates the resolving list. Called while the radio is quiet.
    private func workOnList() {
        perform(list.steps[...])
    }

    private func perform(_ steps: ArraySlice<ResolvingListPlan.Step>) {
        guard let step = steps.first else {
            connector?.reviewRoutes()
            return handle(.done)
        }
        let epoch = epoch
        send(step) { [weak self] error in
            guard let self, self.epoch == epoch else { return }
            if let error { stackEvents.report(PrivacyEvent.listRefused(error)) }
            list.finished(step, isDone: error == nil)
            perform(steps.dropFirst())
        }
    }

    private func send(_ step: ResolvingListPlan.Step, _ completion: @escaping (HCICommandError?) -> Void) {
        switch step {
        case .setTimeout: sendTimeout(completion)
        case .remove(let identity): send(LERemoveDeviceFromResolvingList(peerIdentity: identity), completion)
        case .add(let peer):
            send(
                LEAddDeviceToResolvingList(
                    peerIdentity: peer.identity,
                    peerIRK: PacketBuffer((peer.key ?? .zero).littleEndianBytes),
                    // Zero for a device without private addresses.
                    localIRK: PacketBuffer((identity?.key ?? .zero).littleEndianBytes)
                ),
                completion
            )
        case .showIdentity(let identity): send(LESetPrivacyMode(peerIdentity: identity, mode: .device), completion)
        case .enable: send(LESetAddressResolutionEnable(isEnabled: true), completion)
        }
    }

    /// Sets the interval between address changes.
    ///
    /// If addresses changed in step, their timing would link them to one device. So where the controller supports a
    /// random interval, the minimum is 8/15 of the maximum, the proportion of the specification's own values of 480 s
    /// and 900 s (Core Vol 4 Part E 7.8.45).
    private func sendTimeout(_ completion: @escaping (HCICommandError?) -> Void) {
        let seconds = UInt16(clamping: interval.components.seconds)
        guard list.drawsTimes else {
            return send(LESetResolvablePrivateAddressTimeout(timeout: seconds), completion)
        }
        let least = max(1, UInt16(UInt32(seconds) * 8 / 15))
        send(LESetResolvablePrivateAddressTimeoutV2(timeoutMin: least, timeoutMax: seconds), completion)
    }

    private func send<C: HCICommand>(_ command: C, _ completion: @escaping (HCICommandError?) -> Void) {
        host.send(command) { result in
            if case .failure(let error) = result { completion(error) } else { completion(nil) }
        }
    }
}

/// Events that are handled strictly one after the other, including those raised while one is handled.
struct EventQueue<Event> {
    private var waiting: [Event] = []
    private var isHandling = false

    var count: Int { waiting.count }

    /// Appends an event. Returns whether the caller has to handle the events now, until ``next()`` returns nil.
    mutating func add(_ event: Event) -> Bool {
        waiting.append(event)
        guard !isHandling else { return false }
        isHandling = true
        return true
    }

    /// Removes and returns the next event; nil if all have been handled.
    mutating func next() -> Event? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        isHandling = false
        return nil
    }

    mutating func removeAll() { waiting = [] }
}

/// An event of the device's privacy, for the log and for trouble reports.
package enum PrivacyEvent: StackEvent {
    case listRefused(HCICommandError)
    case addressRefused(HCICommandError)
    /// Advertising, scanning or connecting did not stop in time when the controller was asked to end it.
    case notQuiet

    package static var module: StackModule { .privacy }

    package var weight: EventWeight {
        switch self {
        case .addressRefused: .error
        case .listRefused, .notQuiet: .warning
        }
    }

    package var description: String {
        switch self {
        case .listRefused(let error): "the controller refused a change of its resolving list: \(error)"
        case .addressRefused(let error): "the controller refused the random address: \(error)"
        case .notQuiet: "the controller did not stop using the radio in time; continuing anyway"
        }
    }
}
