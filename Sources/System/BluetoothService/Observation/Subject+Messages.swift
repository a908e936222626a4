import Foundation
import ServiceMessages

extension Observation.Subject {
    /// Returns the subject with this peer, or unchanged if `peer` is nil.
    func about(_ peer: UUID?) -> Observation.Subject {
        var subject = self
        subject.peer = peer ?? self.peer
        return subject
    }
}

extension Request {
    var peer: UUID? {
        switch self {
        case .central(.peer(let peer, _)), .peripheral(.disconnectCentral(let peer)): peer
        case .setup(_, let request): request.peer
        case .central, .peripheral, .channel, .activity: nil
        }
    }
}

extension Event {
    package var peer: UUID? {
        switch self {
        case .central(.peer(let peer, _)), .central(.answered(let peer, _, _)): peer
        case .central(.connectionChanged(let peer, _)), .central(.lost(let peer)): peer.identifier
        case .peripheral(let event): event.central
        case .stateChanged, .central, .channel, .setup, .activity: nil
        }
    }
}

extension Event {
    /// Whether the event tells the app something about a peer.
    var isOfPeer: Bool {
        switch self {
        // The user has allowed what a session of AccessorySetupKit receives.
        case .stateChanged, .channel(_, .room), .channel(_, .ended), .setup, .activity: false
        case .channel(_, .received): true
        // State restored after the end of a process is reported without its peers (``withoutPeers``).
        case .central(.willRestore): false
        case .central: true
        case .peripheral(let event): event.central != nil
        }
    }

    /// The event without the peers in restored state.
    var withoutPeers: Event {
        switch self {
        case .central(.willRestore(var state)):
            state.peers = []
            return .central(.willRestore(state))
        case .peripheral(.willRestore(var state)):
            state.subscriptions = []
            return .peripheral(.willRestore(state))
        case .stateChanged, .central, .peripheral, .channel, .setup, .activity: return self
        }
    }
}

extension SetupRequest {
    fileprivate var peer: UUID? {
        switch self {
        case .rename(let peer), .remove(let peer), .finishAuthorization(let peer), .failAuthorization(let peer),
            .updateAuthorization(let peer, _):
            peer
        case .showPicker: nil
        }
    }
}

extension Query {
    /// The answer to a central manager whose app may not use Bluetooth.
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
