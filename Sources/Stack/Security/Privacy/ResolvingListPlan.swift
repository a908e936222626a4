import BluetoothTypes
import Cryptography
import HCI
import HCIHost

/// The actual and the intended content of the controller's resolving list, and the steps from one to the other (Core
/// Vol 4 Part E 7.8.38 to 7.8.45, 7.8.77). The steps require a quiet radio.
struct ResolvingListPlan {
    /// A command to the controller.
    enum Step: Equatable {
        /// Sets the interval at which the controller generates new addresses.
        case setTimeout
        case remove(BluetoothAddress)
        case add(PrivatePeer)
        /// Selects device privacy mode. The default for an entry is network privacy mode.
        case showIdentity(BluetoothAddress)
        case enable
    }

    /// The capacity of the controller's list; 0 if it has no list, or the list is not used.
    private(set) var capacity = 0
    /// The entries on the controller's list.
    private(set) var entries: [BluetoothAddress: PrivatePeer] = [:]
    private var wanted: [PrivatePeer] = []
    private var isTimed = false
    private var isEnabled = false
    private var hasModes = false
    /// Whether the controller draws the lifetime of each address from a range.
    private(set) var drawsTimes = false

    /// Whether the controller resolves addresses, and generates its own for peers on the list.
    var isInUse: Bool { isEnabled && !entries.isEmpty }
    /// Whether the controller's list differs from the intended one.
    var isBehind: Bool { wanted.count != entries.count || wanted.contains { !Self.isSame($0, entries[$0.identity]) } }

    /// Starts with a freshly reset controller, whose list is empty and disabled.
    mutating func begin(_ controller: ControllerInformation) {
        self = ResolvingListPlan()
        guard controller.leFeatures.contains(.privacy), Self.commands.allSatisfy(controller.supports) else { return }
        capacity = controller.resolvingListSize
        hasModes = controller.supports(LESetPrivacyMode.self)
        drawsTimes = controller.supports(LESetResolvablePrivateAddressTimeoutV2.self)
        isTimed = !drawsTimes && !controller.supports(LESetResolvablePrivateAddressTimeout.self)
    }

    /// Chooses which bonded devices go on the list, up to its capacity: devices with a key first, then the most
    /// recently used.
    ///
    /// A device without an identity address cannot be on the list.
    mutating func choose(from peers: [PrivatePeer]) {
        let able = peers.filter { $0.identity.canStay }
        wanted = Array(able.sorted { Self.rank($0) > Self.rank($1) }.prefix(capacity))
    }

    private static func rank(_ peer: PrivatePeer) -> (UInt8, UInt64, UInt64) {
        (peer.key == nil ? 0 : 1, peer.lastUse, peer.identity.value)
    }

    /// The steps to the intended list. Removals come first, to make space.
    var steps: [Step] {
        let kept = Set(wanted.filter { Self.isSame($0, entries[$0.identity]) }.map(\.identity))
        let new = wanted.filter { !kept.contains($0.identity) }
        let gone = entries.keys.filter { !kept.contains($0) }.sorted { $0.value < $1.value }
        var steps = gone.map { Step.remove($0) }
        guard !new.isEmpty else { return steps }
        if !isTimed { steps.append(.setTimeout) }
        for peer in new {
            steps.append(.add(peer))
            if peer.mayShowIdentity, hasModes { steps.append(.showIdentity(peer.identity)) }
        }
        return isEnabled ? steps : steps + [.enable]
    }

    /// Records the outcome of a step.
    ///
    /// A peer that the controller refuses is left to the host; if the controller refuses to enable resolution, all are.
    mutating func finished(_ step: Step, isDone: Bool) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        switch step {
        case .setTimeout: isTimed = true
        case .remove(let identity): entries[identity] = nil
        case .add(let peer) where isDone: entries[peer.identity] = peer
        case .add(let peer): wanted.removeAll { $0.identity == peer.identity }
        case .showIdentity: break
        case .enable where isDone: isEnabled = true
        case .enable: self = ResolvingListPlan()
        }
    }

    private var brokenInvariant: String? {
        guard wanted.count <= capacity else { return "more peers are intended than the list can hold" }
        guard entries.allSatisfy({ $0 == $1.identity }) else { return "an entry has the identity of another one" }
        return entries.count <= capacity || entries.isEmpty ? nil : "the list holds more peers than it can"
    }

    private static func isSame(_ a: PrivatePeer, _ b: PrivatePeer?) -> Bool {
        a.key == b?.key && a.mayShowIdentity == b?.mayShowIdentity
    }

    private static let commands: [any HCICommand.Type] = [
        LEAddDeviceToResolvingList.self, LERemoveDeviceFromResolvingList.self, LESetAddressResolutionEnable.self,
    ]
}
