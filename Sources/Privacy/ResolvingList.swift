import BluetoothTypes
import Cryptography
import HCI
import HCIHost

/// What the controller's resolving list holds, what it should, and the steps from one to the other (Core Vol 4 Part E 7.8.38
/// to 7.8.45, 7.8.77). They are taken in the quiet.
struct ResolvingList {
    /// One command.
    enum Step: Equatable {
        /// After which time the controller makes new addresses.
        case setTimeout
        case remove(BluetoothAddress)
        case add(PrivatePeer)
        /// Device privacy mode; without it an entry is in network privacy mode.
        case showIdentity(BluetoothAddress)
        case enable
    }

    /// Entries that the controller has room for; 0 when it has no such list, or makes no use of it.
    private(set) var capacity = 0
    /// What it holds.
    private(set) var entries: [BluetoothAddress: PrivatePeer] = [:]
    private var wanted: [PrivatePeer] = []
    private var isTimed = false
    private var isEnabled = false
    private var hasModes = false
    /// Whether it draws the time of each address from a range.
    private(set) var drawsTimes = false

    /// Whether the controller resolves addresses, and makes its own for those on the list.
    var isInUse: Bool { isEnabled && !entries.isEmpty }
    /// Whether the controller has to be told something.
    var isBehind: Bool { wanted.count != entries.count || wanted.contains { !Self.isSame($0, entries[$0.identity]) } }

    /// A controller that is new: its list is empty, and it resolves nothing.
    mutating func begin(_ controller: ControllerInformation) {
        self = ResolvingList()
        guard controller.leFeatures.contains(.privacy), Self.commands.allSatisfy(controller.supports) else { return }
        capacity = controller.resolvingListSize
        hasModes = controller.supports(LESetPrivacyMode.self)
        drawsTimes = controller.supports(LESetResolvablePrivateAddressTimeoutV2.self)
        isTimed = !drawsTimes && !controller.supports(LESetResolvablePrivateAddressTimeout.self)
    }

    /// Chooses from the bonded devices as many as there is room for: those with a key before those without, those used last
    /// before others. One that has no identity address cannot be on the list.
    mutating func choose(from peers: [PrivatePeer]) {
        let able = peers.filter { $0.identity.canStay }
        wanted = Array(able.sorted { Self.rank($0) > Self.rank($1) }.prefix(capacity))
    }

    private static func rank(_ peer: PrivatePeer) -> (UInt8, UInt64, UInt64) {
        (peer.key == nil ? 0 : 1, peer.lastUse, peer.identity.value)
    }

    /// What leads to what is wanted. What goes makes room first.
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

    /// A step has been taken. A peer that the controller does not take is left to the host, and so are all when it does not
    /// resolve addresses.
    mutating func finished(_ step: Step, isDone: Bool) {
        switch step {
        case .setTimeout: isTimed = true
        case .remove(let identity): entries[identity] = nil
        case .add(let peer) where isDone: entries[peer.identity] = peer
        case .add(let peer): wanted.removeAll { $0.identity == peer.identity }
        case .showIdentity: break
        case .enable where isDone: isEnabled = true
        case .enable: self = ResolvingList()
        }
    }

    private static func isSame(_ a: PrivatePeer, _ b: PrivatePeer?) -> Bool {
        a.key == b?.key && a.mayShowIdentity == b?.mayShowIdentity
    }

    private static let commands: [any HCICommand.Type] = [
        LEAddDeviceToResolvingList.self, LERemoveDeviceFromResolvingList.self, LESetAddressResolutionEnable.self,
    ]
}
