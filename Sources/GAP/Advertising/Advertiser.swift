import BluetoothTypes
import EventLoops
import HCI
import Logging

/// Advertises with whichever commands the controller is to be driven with (Core Vol 4 Part E 7.8.5 to 7.8.9, 7.8.52 to
/// 7.8.60): a set for each purpose.
public final class Advertiser {
    /// Sets at a time, whatever the controller can hold. The numbers go up to 0xEF (Core Vol 4 Part E 7.8.53).
    public static let maximumSets = 64

    let host: HCIHost
    let loop: any EventLoop
    let random: RandomSource
    let logger: Logger
    private var sets: [Weak] = []
    private var controller: ControllerInformation?
    private var ownAddress: OwnAddress?

    private struct Weak {
        weak var set: AdvertisingSet?
    }

    /// An advertiser that is off.
    ///
    /// - Parameter random: For private addresses.
    public init(host: HCIHost, loop: any EventLoop, random: RandomSource, logger: Logger) {
        self.host = host
        self.loop = loop
        self.random = random
        self.logger = logger
        host.onEvent(LEAdvertisingSetTerminated.self) { [weak self] in self?.terminated($0) }
    }

    /// Adds a set, which is off. It lasts as long as the caller keeps it.
    public func addSet() -> AdvertisingSet {
        sets.removeAll { $0.set == nil }
        let taken = Set(activeSets.map(\.number))
        let number = (0..<UInt8(Self.maximumSets)).first { !taken.contains($0) }
        // One too many stays off: only those that the caller forgot to let go of have no number left.
        let set = AdvertisingSet(number ?? UInt8(Self.maximumSets), of: self)
        sets.append(Weak(set: set))
        return set
    }

    /// The controller is ready.
    public func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
    }

    /// The controller is gone; nothing is wanted any more.
    public func reset() {
        ownAddress = nil
        controller = nil
        for set in activeSets { set.reset() }
    }

    /// A central has connected. The legacy commands have no event of their own for what this ends.
    public func centralConnected() {
        guard generation == .legacy else { return }
        for set in activeSets where set.isConnectable { set.handle(.terminated(.connected)) }
    }

    /// Directed advertising with a high duty cycle has ended without a connection. The legacy commands tell it as a
    /// connection that failed (Core Vol 4 Part E 7.8.9).
    public func directedAdvertisingTimedOut() {
        guard generation == .legacy else { return }
        for set in activeSets where set.isConnectable { set.handle(.terminated(.timeOver)) }
    }

    /// A link has ended, so there may be room to advertise.
    public func linkEnded() {
        for set in activeSets { set.handle(.tryAgain) }
    }

    private var activeSets: [AdvertisingSet] { sets.compactMap(\.set) }

    private var generation: CommandGeneration? { controller.map { CommandGeneration($0) } }

    private func terminated(_ event: LEAdvertisingSetTerminated) {
        guard let set = activeSets.first(where: { $0.number == event.set }) else { return }
        set.handle(.terminated(event.status == .success ? .connected : .timeOver))
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
        guard others < maximumSets, set.number < Self.maximumSets else { throw .noAdvertisingSetLeft(maximum: maximumSets) }
    }

    /// What puts an advertisement on the air; nil without a controller.
    func commands(
        _ advertisement: Advertisement,
        _ phase: AdvertisingTempo.Phase,
        set: UInt8,
        privateAddress: BluetoothAddress?
    ) -> AdvertisingCommands? {
        guard let ownAddress, let controller else { return nil }
        return AdvertisingCommands(
            generation: CommandGeneration(controller),
            version: controller.version,
            set: set,
            advertisement: advertisement,
            phase: phase,
            ownAddress: ownAddress,
            privateAddress: privateAddress
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
