import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Privacy

/// Advertises with whichever commands the controller is to be driven with (Core Vol 4 Part E 7.8.5 to 7.8.9, 7.8.52 to
/// 7.8.60): a set for each purpose.
package final class Advertiser: AdvertisingUser {
    /// Sets at a time, whatever the controller can hold. The numbers go up to 0xEF (Core Vol 4 Part E 7.8.53).
    package static let maximumSets = 64

    let host: HCIHost
    let loop: any EventLoop
    let random: RandomSource
    let happenings: HappeningSink
    let privacy: DevicePrivacy?
    private(set) var isPaused = false
    /// Asked when the controller refuses to advertise: whether it is going to be driven otherwise, and the set waits for that.
    var onTrouble: ((ControllerTrouble) -> Bool)?
    private var holders = RadioHolders()
    /// The set that has ended with a connection which is not told yet.
    private var ended: (handle: ConnectionHandle, address: BluetoothAddress)?
    private var sets: [Weak] = []
    private var controller: ControllerInformation?
    private var ownAddress: OwnAddress?

    private struct Weak {
        weak var set: AdvertisingSet?
    }

    /// An advertiser that is off.
    ///
    /// - Parameters:
    ///   - random: For private addresses.
    ///   - privacy: What gives the sets their addresses; nil for those of ``begin(_:on:)``.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        happenings: HappeningSink,
        privacy: DevicePrivacy? = nil
    ) {
        self.host = host
        self.loop = loop
        self.random = random
        self.happenings = happenings
        self.privacy = privacy
        privacy?.advertiser = self
        host.onEvent(LEAdvertisingSetTerminated.self) { [weak self] in self?.terminated($0) }
    }

    /// Adds a set, which is off. It lasts as long as the caller keeps it.
    package func addSet() -> AdvertisingSet {
        sets.removeAll { $0.set == nil }
        let taken = Set(activeSets.map(\.number))
        let number = (0..<UInt8(Self.maximumSets)).first { !taken.contains($0) }
        // One too many stays off: only those that the caller forgot to let go of have no number left.
        let set = AdvertisingSet(number ?? UInt8(Self.maximumSets), of: self)
        sets.append(Weak(set: set))
        return set
    }

    /// The controller is ready.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
    }

    /// The controller is another one than it seemed.
    func renewed(_ controller: ControllerInformation) {
        self.controller = controller
        reviewWishes()
    }

    /// Whether something is wanted on the air that the commands of version 4.0 cannot say.
    var needsExtendedCommands: Bool {
        let wanted = activeSets.compactMap(\.wanted)
        return wanted.count > 1 || wanted.contains { $0.packets != .legacy }
    }

    /// The resolvable private address that is shown, or would be but for a pause; nil when there is none.
    var resolvableAddress: BluetoothAddress? {
        guard let set = activeSets.first(where: { $0.wish?.address == .device }) else { return nil }
        return generation == .extended ? set.resolvableAddress : privacy?.sharedResolvableAddress
    }

    /// Goes on with an address that was shared until now.
    func keep(_ address: BluetoothAddress) {
        activeSets.first { $0.wish?.address == .device }?.keep(address)
    }

    /// Whether a set is on the air, or about to be.
    var isBusy: Bool { activeSets.contains { $0.isOnAir } }

    /// The controller is gone; nothing is wanted any more.
    package func reset() {
        holders = RadioHolders()
        ended = nil
        ownAddress = nil
        controller = nil
        isPaused = false
        for set in activeSets { set.reset() }
    }

    /// A central has connected. The legacy commands have no event of their own for what this ends.
    package func centralConnected() {
        guard generation == .legacy else { return }
        for set in activeSets where set.isConnectable { set.handle(.terminated(.connected)) }
    }

    /// Directed advertising with a high duty cycle has ended without a connection. The legacy commands tell it as a
    /// connection that failed (Core Vol 4 Part E 7.8.9).
    package func directedAdvertisingTimedOut() {
        guard generation == .legacy else { return }
        for set in activeSets where set.isConnectable { set.handle(.terminated(.timeOver)) }
    }

    /// A link has ended, so there may be room to advertise.
    package func linkEnded() {
        for set in activeSets { set.handle(.tryAgain) }
    }

    /// What was on the air when a link began whose set was told of before it (quirk 3). Some controllers tell in that order.
    func takeAddress(of handle: ConnectionHandle) -> BluetoothAddress? {
        defer { ended = nil }
        return ended?.handle == handle ? ended?.address : nil
    }

    /// What the connectable set shows that is on the air, or was last. Without extended advertising all who use the radio show
    /// one address.
    package var connectableAddress: BluetoothAddress? {
        generation == .extended
            ? activeSets.first { $0.isConnectable }?.address : privacy?.sharedAddress?.address
    }

    private var activeSets: [AdvertisingSet] { sets.compactMap(\.set) }

    private var generation: CommandGeneration? { controller.map { CommandGeneration($0) } }

    private func terminated(_ event: LEAdvertisingSetTerminated) {
        guard let set = activeSets.first(where: { $0.number == event.set }) else { return }
        if event.status == .success, let address = set.address {
            privacy?.connected(event.handle, toSetAt: address)
            ended = (event.handle, address)
        }
        set.handle(.terminated(event.status == .success ? .connected : .timeOver))
    }
}

// MARK: - Private addresses

extension Advertiser {
    /// Takes all sets off the air for a while, and tells the privacy when that is done.
    package func pause() { pause(.privacy) }

    /// Puts them on the air again.
    package func resume() { resume(.privacy) }

    func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        isPaused = true
        for set in activeSets { set.handle(.pause) }
        reviewPause()
    }

    func resume(_ holder: RadioHolders.Holder) {
        guard holders.remove(holder) else { return }
        isPaused = false
        for set in activeSets { set.handle(.resume) }
    }

    /// A set is off the air, or gone.
    func reviewPause() {
        if isPaused, activeSets.allSatisfy(\.isQuiet) { privacy?.handle(.quiet(.advertiser)) }
    }

    /// What the sets ask of addresses. Those of a controller with extended advertising have one each, others share one.
    func reviewWishes() {
        guard let privacy else { return }
        let wishes = activeSets.compactMap(\.wish)
        privacy.setTargets(wishes.compactMap(\.target))
        guard generation == .legacy else { return privacy.declare(.none, of: .advertiser) }
        switch wishes.first?.address {
        case .device?: privacy.declare(.recognisable, of: .advertiser)
        case .nonResolvablePrivate?: privacy.declare(.nonResolvable, of: .advertiser)
        case nil: privacy.declare(.none, of: .advertiser)
        }
    }

    /// What a set shows, of addresses of its own; nil for one that it shares with others.
    func ownKind(of advertisement: Advertisement) -> SharedAddress.Kind? {
        switch advertisement.address {
        case .nonResolvablePrivate: privacy != nil && generation == .legacy ? nil : .nonResolvable
        case .device: privacy?.isPrivate == true && generation == .extended ? .resolvable : nil
        }
    }
}

// MARK: - For the sets

extension Advertiser {
    /// The sets that the controller holds at a time.
    var maximumSets: Int {
        generation == .extended ? min(controller?.advertisingSets ?? 1, Self.maximumSets) : 1
    }

    /// Whether a set may put something on the air.
    func check(_ advertisement: Advertisement, for set: AdvertisingSet) throws(GAPError) {
        guard let controller, let generation else { throw .notReady }
        try advertisement.check(for: generation, maximumLength: controller.maxAdvertisingDataLength)
        let others = activeSets.count { $0 !== set && $0.isActive }
        guard others < maximumSets, set.number < Self.maximumSets else {
            throw .noAdvertisingSetLeft(maximum: maximumSets)
        }
    }

    /// What puts an advertisement on the air; nil without a controller.
    func commands(
        _ advertisement: Advertisement,
        _ phase: AdvertisingTempo.Phase,
        set: UInt8,
        privateAddress: BluetoothAddress?
    ) -> AdvertisingCommands? {
        guard let ownAddress = privacy?.sharedAddress ?? ownAddress, let controller else { return nil }
        var shown = privateAddress.map { OwnAddress($0) } ?? ownAddress
        shown.isMadeByController = false
        var target = BluetoothAddress.none
        if let peer = advertisement.kind.target {
            (target, shown.isMadeByController) = privacy?.target(peer) ?? (peer, false)
        }
        return AdvertisingCommands(
            generation: CommandGeneration(controller),
            version: controller.version,
            set: set,
            advertisement: advertisement,
            phase: phase,
            address: shown,
            target: target,
            setsAddress: privateAddress != nil
        )
    }

    /// What takes a set off the air.
    func stopCommands(set: UInt8) -> [any HCICommand] {
        generation.map { AdvertisingCommands.stop($0, set: set) } ?? []
    }

    /// What leaves the controller as it was before the set was on the air.
    func cleanUpCommands(set: UInt8, hadPrivateAddress: Bool) -> [any HCICommand] {
        guard let controller, let ownAddress else { return [] }
        if CommandGeneration(controller) == .legacy {
            // The one random address of the controller is the device's own again.
            let restores = hadPrivateAddress && ownAddress.address.kind.isRandom
            return restores ? [LESetRandomAddress(address: ownAddress.address)] : []
        }
        return controller.supports(LERemoveAdvertisingSet.self) ? [LERemoveAdvertisingSet(set: set)] : []
    }
}
