import BluetoothService
import EventLoops
import Foundation
import ServiceMessages
import Synchronization

/// Follows what all apps of a world ask for and are told, and finds what is wrong in any world: calls without an
/// answer, credits that do not come back, and subscriptions that only one side knows.
final class SystemLedger: Sendable {
    /// The time for which a call may stay unanswered: longer than an ATT transaction may last (behaviour 5.23).
    static let answerTimeout = Duration.seconds(40)

    fileprivate struct ManagerKey: Hashable, Sendable {
        let app: AppKey
        let manager: UInt32
    }

    fileprivate struct Call: Hashable {
        let peer: UUID
        let number: UInt32
    }

    /// The kind of answer to a call without a number, such as those of delegates. Answers of one kind come in the order
    /// of the calls.
    fileprivate enum Answer: Hashable {
        case services, rssi, linkInformation
        case includedServices(AttributeHandle)
        case characteristics(AttributeHandle)
        case descriptors(AttributeHandle)
        case value(AttributeHandle)
        case descriptor(AttributeHandle)
        case written(AttributeHandle)
        case descriptorWritten(AttributeHandle)
        case notifyState(AttributeHandle)
        case channel(psm: UInt16)
    }

    fileprivate struct PlainCall: Hashable {
        let peer: UUID
        let answer: Answer
    }

    fileprivate struct Subscription: Hashable {
        let peer: UUID
        let attribute: UInt64
    }

    /// The open accounts of one manager.
    fileprivate struct Account {
        var calls: [Call: (name: String, since: Instant)] = [:]
        /// Calls without a number, the oldest first.
        var plainCalls: [PlainCall: [(name: String, since: Instant)]] = [:]
        /// The peers that the app has been told are connected. The loss of a connection answers calls that cross it.
        var connected: Set<UUID> = []
        var updates = 0
        var writes: [UUID: Int] = [:]
        var subscribedTo: Set<Subscription> = []
        var subscribers: Set<Subscription> = []

        mutating func forget(_ peer: UUID) {
            calls = calls.filter { $0.key.peer != peer }
            plainCalls = plainCalls.filter { $0.key.peer != peer }
            connected.remove(peer)
            writes[peer] = nil
            subscribedTo = subscribedTo.filter { $0.peer != peer }
        }
    }

    fileprivate struct AppKey: Hashable, Sendable {
        let device: String
        let app: String

        var text: String { "\(device): \(app)" }
    }

    fileprivate struct State {
        var accounts: [ManagerKey: Account] = [:]
        /// The times from which apps have been awake. An app that was not in this list runs from its first manager on:
        /// the start of a process is no change of its phase.
        var awake: [AppKey: Instant] = [:]
        var suspended: Set<AppKey> = []
        var late: Instant?
    }

    private let state = Mutex(State())
    private let loop: any EventLoop

    init(_ world: TestWorld) {
        loop = world.simulation.loop
        world.simulation.watch([.managers, .messages]) { [weak self] device, event in
            if case .observed(let observation) = event { self?.note(observation, of: device) }
        }
    }

    private func note(_ observation: Observation, of device: String) {
        guard let name = observation.subject.app?.name else { return }
        let app = AppKey(device: device, app: name)
        if case .appMoved(let phase) = observation.content {
            return state.withLock { $0.move(app, to: phase, now: observation.time) }
        }
        guard let manager = observation.subject.manager else { return }
        let key = ManagerKey(app: app, manager: manager.rawValue)
        state.withLock { state in
            switch observation.content {
            case .managerClosed: state.accounts[key] = nil
            case .managerOpened:
                state.accounts[key] = Account()
                state.begin(app, now: observation.time)
            case .requested(let request): state.accounts[key]?.note(request, now: observation.time)
            case .delivered(let event): state.accounts[key, default: Account()].note(event)
            default: break
            }
        }
    }

    /// The calls that have not been answered in time, in words.
    ///
    /// - Parameter answersAreLate: Whether a device answers late. A call may take many transactions, and then any time.
    func overdueCalls(answersAreLate: Bool) -> [String] {
        loop.waitFor { [self] in
            let now = loop.now
            return state.withLock { state in
                if answersAreLate { state.late = now }
                let late = state.late
                return state.accounts.flatMap { key, account -> [String] in
                    guard let awake = state.awake[key.app] else { return [] }
                    let calls = [_](account.calls.values) + account.plainCalls.values.compactMap(\.first)
                    return calls.filter { now - max($0.since, awake, late ?? .zero) > Self.answerTimeout }.map {
                        "\(key.app.text) has waited for the answer to \"\($0.name)\" for more than 40 s"
                    }
                }.sorted()
            }
        }
    }

    /// The credits of idle apps that have not come back, in words.
    func missingCredits() -> [String] {
        state.withLock { state in
            state.accounts.flatMap { key, account -> [String] in
                let writes = account.writes.values.reduce(0, +)
                let name = key.app.text
                return (account.updates > 0 ? ["\(name) has not got back \(account.updates) credits for updates"] : [])
                    + (writes > 0 ? ["\(name) has not got back \(writes) credits for writes"] : [])
            }.sorted()
        }
    }

    /// The differences between the subscriptions of central apps and those of peripheral apps, in words.
    ///
    /// Apps of one device share a subscription, so only devices that have one app in the central role are compared.
    func oneSidedSubscriptions() -> [String] {
        state.withLock { state in
            let known = state.accounts.values.reduce(0) { $0 + $1.subscribedTo.count }
            let served = state.accounts.values.reduce(0) { $0 + $1.subscribers.count }
            let centrals = state.accounts.filter { !$0.value.subscribedTo.isEmpty }.map(\.key.app.device)
            guard known != served, Set(centrals).count == centrals.count else { return [] }
            return ["apps consider themselves subscribed to \(known) characteristics, which have \(served) subscribers"]
        }
    }
}

extension SystemLedger.State {
    mutating func begin(_ app: SystemLedger.AppKey, now: Instant) {
        if !suspended.contains(app) { awake[app] = awake[app] ?? now }
    }

    mutating func move(_ app: SystemLedger.AppKey, to phase: AppPhase, now: Instant) {
        suspended.remove(app)
        switch phase {
        case .foreground, .background: awake[app] = awake[app] ?? now
        case .suspended:
            awake[app] = nil
            suspended.insert(app)
        case .notRunning:
            awake[app] = nil
            accounts = accounts.filter { $0.key.app != app }
        }
    }
}

extension SystemLedger.Account {
    mutating func note(_ request: Request, now: Instant) {
        switch request {
        case .central(.peer(let peer, .ask(let number, let request))):
            if case .writeWithoutResponse = request { return writes[peer, default: 0] += 1 }
            guard request.answer != nil else { return }
            calls[SystemLedger.Call(peer: peer, number: number)] = (request.name, now)
        case .central(.peer(let peer, .link(.writeWithoutResponse))): writes[peer, default: 0] += 1
        case .central(.peer(let peer, .link(let request))):
            guard connected.contains(peer), let answer = request.answer else { return }
            plainCalls[SystemLedger.PlainCall(peer: peer, answer: answer), default: []].append((request.name, now))
        case .peripheral(.updateValue): updates += 1
        case .peripheral(.removeAllServices): subscribers = []
        default: break
        }
    }

    mutating func note(_ event: Event) {
        switch event {
        case .stateChanged(let state): if state != .poweredOn { self = SystemLedger.Account() }
        case .central(.answered(let peer, let number, let event)):
            calls[SystemLedger.Call(peer: peer, number: number)] = nil
            note(event, of: peer)
        case .central(.peer(let peer, let event)):
            if let answer = event.answer { finish(SystemLedger.PlainCall(peer: peer, answer: answer)) }
            note(event, of: peer)
        case .central(.willRestore(let restored)): for peer in restored.peers { note(peer) }
        case .peripheral(let event): note(event)
        case .central, .channel, .setup, .activity: break
        }
    }

    private mutating func finish(_ call: SystemLedger.PlainCall) {
        guard var waiting = plainCalls[call] else { return }
        waiting.removeFirst()
        plainCalls[call] = waiting.isEmpty ? nil : waiting
    }

    private mutating func note(_ event: PeerEvent, of peer: UUID) {
        switch event {
        case .connected: connected.insert(peer)
        case .disconnected, .connectionFailed: forget(peer)
        case .writeCreditsReturned(let count): writes[peer] = (writes[peer] ?? 0) - count
        case .notifyStateChanged(let attribute, let isNotifying, let error):
            guard error == nil else { return }
            let subscription = SystemLedger.Subscription(peer: peer, attribute: UInt64(attribute))
            if isNotifying { subscribedTo.insert(subscription) } else { subscribedTo.remove(subscription) }
        case .servicesModified(let invalidated):
            // A subscription ends with its service, whose handle is not known here.
            if !invalidated.isEmpty { subscribedTo = subscribedTo.filter { $0.peer != peer } }
        default: break
        }
    }

    private mutating func note(_ peer: RestoredPeer) {
        if peer.maximumWriteWithoutResponse != nil { connected.insert(peer.info.identifier) }
        for characteristic in peer.services.flatMap(\.characteristics) where characteristic.isNotifying {
            let handle = UInt64(characteristic.characteristic.handle)
            subscribedTo.insert(SystemLedger.Subscription(peer: peer.info.identifier, attribute: handle))
        }
    }

    private mutating func note(_ event: PeripheralEvent) {
        switch event {
        case .subscribed(let central, let id):
            subscribers.insert(SystemLedger.Subscription(peer: central.identifier, attribute: UInt64(id.rawValue)))
        case .unsubscribed(let central, let id):
            subscribers.remove(SystemLedger.Subscription(peer: central.identifier, attribute: UInt64(id.rawValue)))
        case .updateCreditsReturned(let count): updates -= count
        case .willRestore(let restored):
            for each in restored.subscriptions {
                let id = UInt64(each.characteristic.rawValue)
                subscribers.insert(SystemLedger.Subscription(peer: each.central.identifier, attribute: id))
            }
        default: break
        }
    }
}

extension LinkRequest {
    /// The kind of the answer; nil if the service need not answer, even while the link lasts.
    fileprivate var answer: SystemLedger.Answer? {
        switch self {
        case .discoverServices: .services
        case .discoverIncludedServices(of: let service, _): .includedServices(service)
        case .discoverCharacteristics(of: let service, _): .characteristics(service)
        case .discoverDescriptors(of: let handle): .descriptors(handle)
        case .readCharacteristic(let handle): .value(handle)
        case .readDescriptor(let handle): .descriptor(handle)
        case .writeCharacteristic(let handle, value: _): .written(handle)
        case .writeDescriptor(let handle, value: _): .descriptorWritten(handle)
        case .setNotify(let handle, isEnabled: _): .notifyState(handle)
        case .readRSSI: .rssi
        case .openChannel(psm: let psm): .channel(psm: psm)
        case .readLinkInformation: .linkInformation
        case .writeWithoutResponse, .startChannelSounding, .cancelChannelSounding, .refreshServices, .watchLink,
            .preferLink:
            nil
        }
    }
}

extension PeerEvent {
    /// The kind of answer that the event is; nil for one that no call asks for.
    fileprivate var answer: SystemLedger.Answer? {
        switch self {
        case .servicesDiscovered: .services
        case .includedServicesDiscovered(of: let service, _): .includedServices(service)
        case .characteristicsDiscovered(of: let service, _): .characteristics(service)
        case .descriptorsDiscovered(of: let handle, _): .descriptors(handle)
        case .valueRead(let handle, _): .value(handle)
        case .descriptorUpdated(let handle, _): .descriptor(handle)
        case .valueWritten(let handle, _): .written(handle)
        case .descriptorWritten(let handle, _): .descriptorWritten(handle)
        case .notifyStateChanged(let handle, isNotifying: _, _): .notifyState(handle)
        case .rssiRead: .rssi
        case .channelOpened(psm: let psm, _): .channel(psm: psm)
        case .linkInformation: .linkInformation
        case .connected, .connectionFailed, .disconnected, .valueNotified, .nameChanged, .servicesModified,
            .maximumWriteLengthChanged, .writeCreditsReturned, .notificationsAuthorized, .channelSoundingMeasured,
            .channelSoundingEnded:
            nil
        }
    }
}
