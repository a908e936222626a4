import Foundation
import ServiceMessages

/// The unread events of a process that ended that are news for the next process, and the state of the manager before
/// them. The next process is restored to that state and then receives the events (behaviours 10.7, 10.10). Performs no
/// I/O.
struct UnreadEvents {
    /// The events for the next process, in order.
    private(set) var events: [Event] = []

    init() {}

    /// - Parameter unread: All events that the process had not read, in order.
    init(_ unread: [Event]) {
        for event in unread { add(event) }
    }

    private mutating func add(_ event: Event) {
        switch event {
        // Events before a change of the radio state are void, and the state since then is restored.
        case .stateChanged: events = []
        // The app itself released the peer, so events before that are void.
        case .central(.peer(let peer, .disconnected(nil, _, _))): events.removeAll { $0.peer == peer }
        case _ where event.isKeptUnread: events.append(event)
        case .central, .peripheral, .channel, .setup, .activity: break
        }
    }

    mutating func dropFirst() {
        if !events.isEmpty { events.removeFirst() }
    }

    /// Returns the state of the manager before the events.
    ///
    /// - Parameters:
    ///   - state: The current state.
    ///   - ended: Peers as they were when the manager lost them.
    ///   - info: Looks up what the system has stored about a peer.
    func before(_ state: Event, ended: [UUID: RestoredPeer], info: (UUID) -> PeerInfo?) -> Event {
        switch state {
        case .central(.willRestore(let central)): .central(.willRestore(before(central, ended, info)))
        case .peripheral(.willRestore(let peripheral)): .peripheral(.willRestore(before(peripheral)))
        case .central, .peripheral, .stateChanged, .channel, .setup, .activity: state
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
    /// Whether the next process receives the event if the one it was meant for has not read it. Answers to the requests
    /// of a process are void without it, current state is restored, and centrals repeat requests that await a response.
    var isKeptUnread: Bool {
        switch self {
        case .central(.discovered), .central(.lost): true
        case .central(.peer(_, .connected)), .central(.peer(_, .connectionFailed)), .central(.peer(_, .disconnected)),
            .central(.peer(_, .valueNotified)):
            true
        case .peripheral(.subscribed), .peripheral(.unsubscribed): true
        case .peripheral(.writeRequested(_, _, _, let needsResponse)): !needsResponse
        case .stateChanged, .central, .peripheral, .channel, .setup, .activity: false
        }
    }

    /// Whether the event belongs to a channel. A channel ends with its process and has its own window.
    package var isOfChannel: Bool { if case .channel = self { true } else { false } }
}
