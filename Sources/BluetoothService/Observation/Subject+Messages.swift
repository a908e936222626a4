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
