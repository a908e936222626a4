import Foundation

extension Observation.Subject {
    /// The same about a peer, if there is one.
    func about(_ peer: UUID?) -> Observation.Subject {
        var subject = self
        subject.peer = peer ?? self.peer
        return subject
    }
}

extension Request {
    /// The peer that it is about.
    var peer: UUID? {
        switch self {
        case .central(.peer(let peer, _)), .peripheral(.disconnectCentral(let peer)): peer
        case .central, .peripheral, .channel: nil
        }
    }
}

extension Event {
    /// The peer that it is about.
    package var peer: UUID? {
        switch self {
        case .central(.peer(let peer, _)), .central(.answered(let peer, _, _)): peer
        case .central(.connectionChanged(let peer, _)), .central(.lost(let peer)): peer.identifier
        case .peripheral(let event): event.central
        case .stateChanged, .central, .channel: nil
        }
    }
}

extension Event {
    /// Whether an app learns something of a peer by it.
    var isOfPeer: Bool {
        switch self {
        case .stateChanged, .channel(_, .room), .channel(_, .ended): false
        case .channel(_, .received): true
        // What stood when the last process ended is told without peers (``withoutPeers``).
        case .central(.willRestore): false
        case .central: true
        case .peripheral(let event): event.central != nil
        }
    }

    /// The same, with nothing of peers in what is restored.
    var withoutPeers: Event {
        switch self {
        case .central(.willRestore(var state)):
            state.peers = []
            return .central(.willRestore(state))
        case .peripheral(.willRestore(var state)):
            state.subscriptions = []
            return .peripheral(.willRestore(state))
        case .stateChanged, .central, .peripheral, .channel: return self
        }
    }
}

extension Query {
    /// What a central manager is answered whose app may not use Bluetooth.
    var withoutPeers: Result<Reply, ServiceError> {
        switch self {
        case .peripherals: .success(.peripherals([]))
        case .connectedPeripherals: .success(.connectedPeripherals([]))
        case .names: .success(.names(KnownNames()))
        case .scanCounts: .success(.scanCounts(nil))
        case .system: .failure(.noManager)
        }
    }
}

extension PeripheralEvent {
    /// The central that it is about.
    fileprivate var central: UUID? {
        switch self {
        case .subscribed(let central, _), .unsubscribed(let central, _), .readRequested(_, let central, _, _),
            .writeRequested(_, let central, _, _), .centralChanged(let central), .channelOpened(_, let central, _),
            .centralConnected(let central):
            central.identifier
        case .centralDisconnected(let central, _), .centralReleased(let central, _): central
        case .serviceAdded, .advertisingStarted, .updateCreditsReturned, .channelPublished, .channelUnpublished,
            .willRestore:
            nil
        }
    }
}
