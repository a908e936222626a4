import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// An app in the central role: scans for the services of its targets, connects, subscribes, reads and writes.
final class WorldCentral {
    struct Found {
        let target: WorldName
        let uuid: BluetoothUUID
    }

    /// A peripheral in use.
    struct Use {
        var isConnected = false
        var isCancelling = false
        var services: [AttributeHandle: WorldName] = [:]
        var characteristics: [AttributeHandle: Found] = [:]
        var notifying: Set<AttributeHandle> = []
        var lastLook: Instant?

        var isComplete: Bool { !services.isEmpty && notifying.count == services.count }
    }

    static let firstNumber: UInt32 = 100_000

    let name: WorldName
    let targets: [WorldName]
    let memory: CentralMemory
    private(set) var manager: TestManager
    private(set) var isOn = false
    var scan: ScanRequest?
    var uses: [UUID: Use] = [:]
    /// The targets whose notifications are turned off.
    var muted: Set<WorldName> = []
    var ledger: OpenRequests
    var witness = StateWitness()
    /// The first event to expect; removed when it arrives.
    var expected: RestorationModel.Kept?
    private(set) var hasBegun = false
    private unowned let world: RandomWorld

    init(_ app: WorldShape.App, _ memory: CentralMemory, _ manager: TestManager, in world: RandomWorld) {
        name = app.name
        targets = app.targets
        self.memory = memory
        self.manager = manager
        self.world = world
        ledger = OpenRequests(first: Self.firstNumber * UInt32(name.device * 10 + name.app + 1))
    }

    var now: Instant { world.now }

    private func fault(_ text: String) { world.fault("\(name) as central: \(text)") }

    func send(_ request: CentralRequest) {
        manager.send(.central(request))
    }

    func ask(
        _ request: LinkRequest,
        _ kind: OpenRequests.Kind,
        at attribute: AttributeHandle? = nil,
        of peer: UUID
    ) {
        let number = ledger.add(kind, of: peer, at: attribute, now: now)
        send(.peer(peer, .ask(number, request)))
    }

    /// The service has ended, and a new one is running.
    func reopened(_ manager: TestManager) {
        react(.stateChanged(.resetting), isOfLine: true)
        self.manager = manager
        expected = nil
        hasBegun = false
    }

    // MARK: Events

    func react(_ event: Event, isOfLine: Bool = false) {
        if !isOfLine, !hasBegun { begin(with: event) }
        switch event {
        case .stateChanged(let state): stateChanged(state, isOfLine)
        case .central(.willRestore(let state)): restore(state)
        case .central(.discovered(let peer, let advertisement, _)): discovered(peer.identifier, advertisement)
        case .central(.peer(let peer, let event)): react(event, of: peer)
        case .central(.answered(let peer, let number, let event)):
            if let wrong = ledger.take(event, number: number, of: peer) { fault(wrong) }
            answered(event, of: peer)
        case .central, .peripheral, .channel, .setup, .activity: fault("nobody asked for \(event)")
        }
    }

    private func begin(with event: Event) {
        hasBegun = true
        if let wrong = expected?.fault(in: event) { fault(wrong) }
        if case .central(.willRestore) = event {
            if expected == nil { fault("restored although nothing was kept") }
        } else {
            memory.lostAll()
            if case .stateChanged = event {} else { fault("began with \(event)") }
        }
        expected = nil
    }

    private func stateChanged(_ state: ManagerState, _ isOfLine: Bool) {
        if isOfLine { witness.lineIsLost() } else if let wrong = witness.note(state) { fault(wrong) }
        isOn = state == .poweredOn
        guard !isOn else { return reconnect() }
        (uses, scan) = ([:], nil)
        ledger.forgetAll()
        memory.lostAll()
    }

    /// Reconnects to all known peers.
    private func reconnect() {
        for peer in Set(memory.peers.values).sorted(by: { $0.uuidString < $1.uuidString }) { connect(peer) }
    }

    private func restore(_ state: RestoredCentral) {
        scan = state.scan
        for peer in state.peers {
            var use = Use(isConnected: peer.maximumWriteWithoutResponse != nil)
            for service in peer.services {
                guard let target = target(service.service.uuid) else {
                    fault("restored a service of another's")
                    continue
                }
                use.services[service.service.handle] = target
                for found in service.characteristics {
                    let (handle, uuid) = (found.characteristic.handle, found.characteristic.uuid)
                    use.characteristics[handle] = Found(target: target, uuid: uuid)
                    if found.isNotifying { use.notifying.insert(handle) }
                }
            }
            uses[peer.info.identifier] = use
        }
        let notifying = uses.values.flatMap { use in use.notifying.compactMap { use.characteristics[$0]?.target } }
        for target in memory.subscriptions where !notifying.contains(target) { memory.lost(target) }
        for target in notifying { memory.subscribed(to: target) }
    }

    private func target(_ service: BluetoothUUID) -> WorldName? { targets.first { $0.service == service } }

    private func discovered(_ peer: UUID, _ advertisement: Advertisement) {
        let services = advertisement.serviceUUIDs + advertisement.overflowServiceUUIDs
        guard targets.contains(where: { services.contains($0.service) }) else {
            return fault("told of \(services), whom it did not look for")
        }
        guard isOn else { return fault("told of a peripheral without power") }
        if uses[peer]?.isConnected == true { look(at: peer) } else { connect(peer) }
    }

    private func react(_ event: PeerEvent, of peer: UUID) {
        guard let use = uses[peer] else { return fault("\(event) of a peripheral that it does not want") }
        switch event {
        case .connected:
            if use.isConnected { fault("connected twice") }
            uses[peer]?.isConnected = true
            look(at: peer)
        case .disconnected(let error, _, _):
            if error == nil, !use.isCancelling { fault("disconnected as if it had wanted that") }
            ended(peer)
            if !use.isCancelling { connect(peer) }
        case .connectionFailed:
            if use.isConnected { fault("a connection failed that there was") }
            ended(peer)
        case .servicesModified(let handles):
            invalidate(handles, of: peer)
            look(at: peer)
        case .valueNotified(let handle, let value): heard(value, at: handle, of: peer)
        case .notifyStateChanged(let handle, false, _): notify(handle, false, of: peer)
        case .nameChanged, .maximumWriteLengthChanged: break
        default: fault("nobody asked for \(event)")
        }
    }

    private func ended(_ peer: UUID) {
        for found in uses[peer]?.characteristics.values ?? [:].values { memory.lost(found.target) }
        uses[peer] = nil
        ledger.forget(peer)
    }

    private func invalidate(_ handles: [AttributeHandle], of peer: UUID) {
        for handle in handles {
            notify(handle, false, of: peer)
            uses[peer]?.services[handle] = nil
            uses[peer]?.characteristics[handle] = nil
        }
    }

    private func notify(_ handle: AttributeHandle, _ isNotifying: Bool, of peer: UUID) {
        guard let found = uses[peer]?.characteristics[handle] else { return }
        if isNotifying {
            uses[peer]?.notifying.insert(handle)
            memory.subscribed(to: found.target)
        } else if uses[peer]?.notifying.remove(handle) != nil {
            memory.lost(found.target)
        }
    }

    private func heard(_ value: PacketBuffer, at handle: AttributeHandle, of peer: UUID) {
        guard let use = uses[peer], use.isConnected, let found = use.characteristics[handle] else {
            return fault("a value of nothing that it knows")
        }
        guard use.notifying.contains(handle) || ledger.changesNotification(of: handle, of: peer) else {
            return fault("a value that it did not subscribe to")
        }
        let octets = Array(value)
        guard octets.count == 4, Array(octets[..<2]) == found.target.signature else {
            return fault("\(octets) is not of \(found.target)")
        }
        let number = Int(octets[2]) | Int(octets[3]) << 8
        if let wrong = memory.heard(number, of: found.target, sent: world.sent(by: found.target)) { fault(wrong) }
    }

    private func answered(_ event: PeerEvent, of peer: UUID) {
        guard uses[peer]?.isConnected == true else { return fault("an answer of one that is not connected") }
        switch event {
        case .servicesDiscovered(.success(let services)):
            for service in services {
                guard let target = target(service.uuid) else { return fault("found a service of another's") }
                uses[peer]?.services[service.handle] = target
                memory.peers[target] = peer
                ask(.discoverCharacteristics(of: service.handle, nil), .characteristics, at: service.handle, of: peer)
            }
        case .characteristicsDiscovered(let service, .success(let found)):
            guard let target = uses[peer]?.services[service] else { return }
            for found in found { self.found(found, of: target, of: peer) }
        case .notifyStateChanged(let handle, let isNotifying, _): notify(handle, isNotifying, of: peer)
        case .valueRead(let handle, .success(let value)):
            guard let found = uses[peer]?.characteristics[handle] else { return }
            if Array(value.prefix(2)) != found.target.signature { fault("read \(Array(value)) of \(found.target)") }
        default: break
        }
    }

    private func found(_ found: RemoteCharacteristic, of target: WorldName, of peer: UUID) {
        guard [target.measurement, target.reading, target.note].contains(found.uuid) else {
            return fault("found a characteristic of another's")
        }
        uses[peer]?.characteristics[found.handle] = Found(target: target, uuid: found.uuid)
        guard found.uuid == target.measurement, !muted.contains(target) else { return }
        if uses[peer]?.notifying.contains(found.handle) == false { setNotify(true, found.handle, of: peer) }
    }
}
