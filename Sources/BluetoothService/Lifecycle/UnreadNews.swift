import Foundation

/// The events that a process had not read when it ended, as far as they are news for the next process, and how the manager stood before
/// them: the next process is restored to that, and then told the rest (behaviours 10.7, 10.10). No input or output in here.
struct UnreadNews {
    /// What the next process is told, in order.
    private(set) var events: [Event] = []

    /// Nothing.
    init() {}

    /// - Parameter unread: All that the process had not read, in order.
    init(_ unread: [Event]) {
        for event in unread { add(event) }
    }

    private mutating func add(_ event: Event) {
        switch event {
        // What happened before the radio changed is void, and how things stand since is restored.
        case .stateChanged: events = []
        // The app has let go of the peer itself: what came before is void.
        case .central(.peer(let peer, .disconnected(nil, _, _))): events.removeAll { $0.peer == peer }
        case _ where event.isKeptUnread: events.append(event)
        case .central, .peripheral, .channel: break
        }
    }

    /// Gives up the first event.
    mutating func dropFirst() {
        if !events.isEmpty { events.removeFirst() }
    }

    /// How the manager stood before the events.
    ///
    /// - Parameters:
    ///   - state: How it stands now.
    ///   - ended: Peers as they were when the manager lost them.
    ///   - info: What the system knows of a peer.
    func before(_ state: Event, ended: [UUID: RestoredPeer], info: (UUID) -> PeerInfo?) -> Event {
        switch state {
        case .central(.willRestore(let central)): .central(.willRestore(before(central, ended, info)))
        case .peripheral(.willRestore(let peripheral)): .peripheral(.willRestore(before(peripheral)))
        case .central, .peripheral, .stateChanged, .channel: state
        }
    }

    private func before(_ state: RestoredCentral, _ ended: [UUID: RestoredPeer], _ info: (UUID) -> PeerInfo?)
        -> RestoredCentral
    {
        var peers = Dictionary(state.peers.map { ($0.info.identifier, $0) }) { $1 }
        for case .central(.peer(let peer, let event)) in events.reversed() {
            guard let known = peers[peer]?.info ?? info(peer) else { continue }
            switch event {
            case .connected, .connectionFailed: peers[peer] = RestoredPeer(info: known)
            case .disconnected: peers[peer] = ended[peer] ?? RestoredPeer(info: known, maximumWriteWithoutResponse: 20)
            default: break
            }
        }
        return RestoredCentral(
            scan: state.scan,
            peers: peers.values.sorted { $0.info.identifier.uuidString < $1.info.identifier.uuidString }
        )
    }

    private func before(_ state: RestoredPeripheral) -> RestoredPeripheral {
        var state = state
        for event in events.reversed() {
            switch event {
            case .peripheral(.subscribed(let central, let characteristic)):
                state.subscriptions.removeAll {
                    $0.central.identifier == central.identifier && $0.characteristic == characteristic
                }
            case .peripheral(.unsubscribed(let central, let characteristic)):
                state.subscriptions.append(RestoredSubscription(central: central, characteristic: characteristic))
            default: break
            }
        }
        return state
    }
}

extension Event {
    /// Whether the next process is told it when the one that it was for has not read it. What that one had asked for is for nobody, what
    /// is as it stands is restored, and requests of centrals that wait for an answer are asked again.
    var isKeptUnread: Bool {
        switch self {
        case .central(.discovered), .central(.lost): true
        case .central(.peer(_, .connected)), .central(.peer(_, .connectionFailed)), .central(.peer(_, .disconnected)),
            .central(.peer(_, .valueNotified)):
            true
        case .peripheral(.subscribed), .peripheral(.unsubscribed): true
        case .peripheral(.writeRequested(_, _, _, let needsResponse)): !needsResponse
        case .stateChanged, .central, .peripheral, .channel: false
        }
    }

    /// Whether it is of a channel, which ends with its process and has a window of its own.
    package var isOfChannel: Bool { if case .channel = self { true } else { false } }
}
