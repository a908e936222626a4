import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Security

/// Manages the advertising sets of a device, with legacy or extended commands as suits the controller (Core Vol 4 Part
/// E 7.8.5 to 7.8.9, 7.8.52 to 7.8.60).
package final class HostAdvertiser: AdvertisingUser, HeldRadioUser {
    /// The maximum number of sets, whatever the controller supports. Advertising handles range up to 0xEF (Core Vol 4
    /// Part E 7.8.53).
    package static let maximumSets = 64

    let host: HCIHost
    let loop: any EventLoop
    let stackEvents: StackEventSink
    let privacy: DevicePrivacy?
    private(set) var isPaused = false
    package var onTrouble: ((ControllerTrouble) -> Bool)?
    private var holders = RadioHolders()
    /// The address of the set that ended with a connection which has not been reported yet.
    private var ended: (handle: ConnectionHandle, address: BluetoothAddress)?
    private var sets: [Weak] = []
    private var controller: ControllerInformation?
    private var ownAddress: OwnAddress?

    private struct Weak {
        weak var set: HostAdvertisingSet?
    }

    /// - Parameter privacy: Provides the addresses of the sets; nil to use the address from ``begin(_:on:)``.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        stackEvents: StackEventSink,
        privacy: DevicePrivacy? = nil
    ) {
        self.host = host
        self.loop = loop
        self.stackEvents = stackEvents
        self.privacy = privacy
        host.onEvent(LEAdvertisingSetTerminated.self) { [weak self] in self?.terminated($0) }
    }

    /// Adds a set, which is off. The caller holds the only strong reference.
    package func addSet() -> HostAdvertisingSet {
        sets.removeAll { $0.set == nil }
        let taken = Set(activeSets.map(\.number))
        let number = (0..<UInt8(Self.maximumSets)).first { !taken.contains($0) }
        // Numbers run out only if the caller leaks sets. A set without a number stays off.
        let set = HostAdvertisingSet(number ?? UInt8(Self.maximumSets), of: self)
        sets.append(Weak(set: set))
        return set
    }

    /// Called when the controller is ready.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
    }

    /// Called when the controller's capabilities have been reassessed.
    func renewed(_ controller: ControllerInformation) {
        self.controller = controller
    }

    /// Whether the wanted advertisements require extended commands.
    var needsExtendedCommands: Bool {
        let wanted = activeSets.compactMap(\.wanted)
        return wanted.count > 1 || wanted.contains { $0.packets != .legacy }
    }

    /// The resolvable private address in use, or to be used after a pause; nil if there is none.
    var resolvableAddress: BluetoothAddress? {
        guard let set = activeSets.first(where: { $0.wanted != nil }) else { return nil }
        return generation == .extended ? set.privateAddress : privacy?.sharedResolvableAddress
    }

    /// Keeps using an address that was shared until now.
    func keep(_ address: BluetoothAddress) {
        activeSets.first { $0.wanted != nil }?.keep(address)
    }

    package var isBusy: Bool { activeSets.contains { $0.isOnAir } }

    /// Called when the controller is gone. Discards all wanted advertisements.
    package func reset() {
        holders = RadioHolders()
        ended = nil
        ownAddress = nil
        controller = nil
        isPaused = false
        for set in activeSets { set.reset() }
    }

    /// Called when a central has connected. Legacy commands have no separate event for the end of advertising.
    package func centralConnected() {
        guard generation == .legacy else { return }
        for set in activeSets where set.isConnectable { set.handle(.terminated(.connected)) }
    }

    /// Called when a link has ended, which may make advertising possible.
    package func linkEnded() {
        for set in activeSets { set.handle(.tryAgain) }
    }

    /// Returns and clears the address of a set that ended with the connection `handle`. Some controllers report the end
    /// of the set before the connection (quirk 3).
    func takeAddress(of handle: ConnectionHandle) -> BluetoothAddress? {
        defer { ended = nil }
        return ended?.handle == handle ? ended?.address : nil
    }

    /// The address of the connectable set that is advertising or was last. Without extended advertising all users of
    /// the radio share one address.
    package var connectableAddress: BluetoothAddress? {
        generation == .extended
            ? activeSets.first { $0.isConnectable }?.address : privacy?.sharedAddress?.address
    }

    private var activeSets: [HostAdvertisingSet] { sets.compactMap(\.set) }

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

extension HostAdvertiser {
    package func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        isPaused = true
        for set in activeSets { set.handle(.pause) }
        reviewPause()
    }

    package func resume(_ holder: RadioHolders.Holder) {
        guard holders.remove(holder) else { return }
        isPaused = false
        for set in activeSets { set.handle(.resume) }
    }

    /// Called when a set is off or was removed.
    func reviewPause() {
        if isPaused, activeSets.allSatisfy(\.isQuiet) { privacy?.handle(.quiet(.advertiser)) }
    }

    /// Whether each set has a private address of its own. Otherwise all users of the radio share one.
    var setsHaveAddresses: Bool { privacy?.isPrivate == true && generation == .extended }
}

// MARK: - Support for sets

extension HostAdvertiser {
    /// The number of sets that the controller supports, up to ``HostAdvertiser/maximumSets``.
    var maximumSets: Int {
        generation == .extended ? min(controller?.advertisingSets ?? 1, Self.maximumSets) : 1
    }

    func check(_ advertisement: AdvertisingConfiguration, for set: HostAdvertisingSet) throws(GAPError) {
        guard let controller, let generation else { throw .notReady }
        try advertisement.check(for: generation, maximumLength: controller.maxAdvertisingDataLength)
        let others = activeSets.count { $0 !== set && $0.isActive }
        guard others < maximumSets, set.number < Self.maximumSets else {
            throw .noAdvertisingSetLeft(maximum: maximumSets)
        }
    }

    func commands(
        _ advertisement: AdvertisingConfiguration,
        _ phase: AdvertisingTempo.Phase,
        set: UInt8,
        privateAddress: BluetoothAddress?
    ) -> AdvertisingCommands? {
        guard let ownAddress = privacy?.sharedAddress ?? ownAddress, let controller else { return nil }
        var shown = privateAddress.map { OwnAddress($0) } ?? ownAddress
        shown.isMadeByController = false
        return AdvertisingCommands(
            generation: CommandGeneration(controller),
            version: controller.version,
            set: set,
            advertisement: advertisement,
            phase: phase,
            address: shown
        )
    }

    func stopCommands(set: UInt8) -> [any HCICommand] {
        generation.map { AdvertisingCommands.stop($0, set: set) } ?? []
    }

    func cleanUpCommands(set: UInt8) -> [any HCICommand] {
        guard let controller, CommandGeneration(controller) == .extended else { return [] }
        return controller.supports(LERemoveAdvertisingSet.self) ? [LERemoveAdvertisingSet(set: set)] : []
    }
}
