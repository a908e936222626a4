import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// The pending calls and open streams of a peripheral manager. It is released with the manager.
final class PeripheralExtras: PeripheralManagerObserver {
    /// The maximum number of pending calls of one kind. A further one fails at once.
    static let maximumCalls = 1_024

    struct State: Sendable {
        var lastNumber: UInt32 = 0
        var additions: [LocalAttributeID: Wait<Void>] = [:]
        var starts: [UInt32: Wait<Void>] = [:]
        var publications: [UInt32: Wait<CBL2CAPPSM>] = [:]
        var releases: [UUID: [Wait<Void>]] = [:]
        var powerWaits: [UInt32: Wait<Void>] = [:]

        var states = Broadcast<CBManagerState>()
        /// The state that the streams have reported last.
        var lastState: CBManagerState?
        var subscriptions = Broadcast<SubscriptionChange>()
        var channels = Broadcast<CBL2CAPChannel>()
        var connections = Broadcast<CentralConnectionEvent>()
        /// The connected centrals, while there is a stream of connections.
        var connected: [UUID: CBCentral] = [:]
        var requests: EventStream<AttributeRequest>.Source?

        /// Returns a number that no call has. It is never 0, which stands for the calls of Core Bluetooth.
        mutating func nextNumber() -> UInt32 {
            lastNumber = lastNumber == .max ? 1 : lastNumber + 1
            return lastNumber
        }
    }

    let state = Mutex(State())
    let updates = UpdateQueue()

    /// The manager was released: its streams end.
    deinit {
        let streams = state.withLock { state in
            (
                state.states.sources, state.subscriptions.sources, state.channels.sources, state.connections.sources,
                state.requests
            )
        }
        for (_, source) in streams.0 { source.finish() }
        for (_, source) in streams.1 { source.finish() }
        for (_, source) in streams.2 { source.finish() }
        for (_, source) in streams.3 { source.finish() }
        streams.4?.finish()
    }

    /// Adds a pending call to a table, and returns its number.
    func add<Value>(_ call: Wait<Value>, to calls: WritableKeyPath<State, [UInt32: Wait<Value>]>) -> UInt32 {
        state.withLock { state in
            let number = state.nextNumber()
            state[keyPath: calls][number] = call
            return number
        }
    }

    // MARK: Events of the manager

    func accept(_ requests: [CBATTRequest], isRead: Bool, of manager: CBPeripheralManager) -> Bool {
        guard let source = state.withLock({ $0.requests }) else { return false }
        // A request without room in the stream is released, and thereby refused.
        source.send(AttributeRequest(requests, isRead: isRead, of: manager))
        return true
    }

    func hasUpdateRoom(_ manager: CBPeripheralManager) { updates.send(by: manager) }

    func receive(_ news: PeripheralManagerReport, of manager: CBPeripheralManager) {
        switch news {
        case .stateChanged(let new): stateChanged(new, of: manager)
        case .serviceAdded(let id, let error):
            state.withLock { $0.additions.removeValue(forKey: id) }?.end(error)
        case .advertisingStarted(let number, let error):
            state.withLock { $0.starts.removeValue(forKey: number) }?.end(error)
        case .channelPublished(let number, let psm, let error): published(number, psm, error, of: manager)
        case .channelOpened(let channel): send(channel, to: \.channels)
        case .subscriptionChanged(let central, let characteristic, let isSubscribed):
            let change = SubscriptionChange(
                central: central,
                characteristic: characteristic,
                isSubscribed: isSubscribed
            )
            send(change, to: \.subscriptions)
        case .centralConnected(let central): connected(central)
        case .centralDisconnected(let identifier, let error): disconnected(identifier, error)
        case .centralReleased(let identifier, let error):
            for call in state.withLock({ $0.releases.removeValue(forKey: identifier) }) ?? [] { call.end(error) }
        }
    }

    /// Sends an element to all streams of a kind. Outside the lock, since a stream that overflows ends and calls back.
    private func send<Element: Sendable>(_ element: Element, to streams: KeyPath<State, Broadcast<Element>>) {
        for (_, source) in state.withLock({ $0[keyPath: streams].sources }) { source.send(element) }
    }

    private func published(_ number: UInt32, _ psm: CBL2CAPPSM, _ error: (any Error)?, of manager: CBPeripheralManager)
    {
        guard number != 0 else { return }
        let call = state.withLock { $0.publications.removeValue(forKey: number) }
        let isWanted = call?.end(error.map { .failure($0) } ?? .success(psm)) ?? false
        // Nothing would ever use the channel.
        if error == nil, !isWanted { _ = manager.ask(.unpublishChannel(psm: psm)) }
    }

    private func connected(_ central: CBCentral) {
        let isNew = state.withLock {
            guard !$0.connections.isEmpty else { return false }
            return $0.connected.updateValue(central, forKey: central.identifier) == nil
        }
        if isNew { send(.connected(central), to: \.connections) }
    }

    private func disconnected(_ identifier: UUID, _ error: (any Error)?) {
        guard let central = state.withLock({ $0.connected.removeValue(forKey: identifier) }) else { return }
        send(.disconnected(central, error), to: \.connections)
    }

    private func stateChanged(_ new: CBManagerState, of manager: CBPeripheralManager) {
        let isNews = state.withLock { state in
            defer { state.lastState = new }
            return state.lastState != new
        }
        if isNews { send(new, to: \.states) }
        if new == .poweredOn {
            let waiting = state.withLock { state in
                defer { state.powerWaits = [:] }
                if !state.connections.isEmpty { _ = manager.ask(.watchCentrals(true)) }
                return state.powerWaits.inOrder
            }
            for call in waiting { call.end(nil) }
        } else {
            endAll(ExtrasError.notPoweredOn(new))
        }
    }

    /// Ends all pending calls, since their responses will not arrive (behaviour 1.13).
    private func endAll(_ error: ExtrasError) {
        let (calls, publications, left) = state.withLock { state in
            defer {
                state.additions = [:]
                state.starts = [:]
                state.publications = [:]
                state.releases = [:]
                state.connected = [:]
            }
            let additions = state.additions.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
            let releases = state.releases.sorted { $0.key.uuidString < $1.key.uuidString }.flatMap(\.value)
            let connected = state.connected.sorted { $0.key.uuidString < $1.key.uuidString }.map(\.value)
            return (additions + state.starts.inOrder + releases, state.publications.inOrder, connected)
        }
        for call in calls { call.end(error) }
        for call in publications { call.end(.failure(error)) }
        for central in left { send(.disconnected(central, error), to: \.connections) }
        updates.endAll(error)
    }
}

extension CBPeripheralManager {
    var extras: PeripheralExtras {
        let observer = observer { PeripheralExtras() }
        guard let extras = observer as? PeripheralExtras else {
            preconditionFailure("only this module observes peripheral managers")
        }
        return extras
    }
}

extension Dictionary where Key == UInt32 {
    /// The calls in the order in which they began.
    fileprivate var inOrder: [Value] { sorted { $0.key < $1.key }.map(\.value) }
}
