import CoreBluetooth
import Foundation
import Synchronization

/// A central has subscribed to a characteristic, or not any more.
public struct SubscriptionChange: Sendable {
    /// Who.
    public let central: CBCentral
    /// To what.
    public let characteristic: CBMutableCharacteristic
    /// Whether it is a subscriber now.
    public let isSubscribed: Bool
}

// Each of these begins a stream of its own, which gets what comes from then on, after the delegate has heard of it, and ends with the
// manager. It does not keep the manager alive.
extension CBPeripheralManager {
    /// The state, and each new one.
    public var states: EventStream<CBManagerState> {
        begin(\.states) { state in
            let now = state.lastState ?? self.state
            state.lastState = now
            return [now]
        }
    }

    /// Centrals that subscribe and unsubscribe. Those that leave with their link, or with the power, have unsubscribed.
    public var subscriptions: EventStream<SubscriptionChange> { begin(\.subscriptions) { _ in [] } }

    /// The channels that centrals open. Keep each as long as it is to stay open.
    public var channels: EventStream<CBL2CAPChannel> { begin(\.channels) { _ in [] } }

    /// What centrals read and write. As long as this stream is open its requests are for it, and the delegate is not asked: each has
    /// one who answers. A second stream ends at once, with ``ExtrasError/requestsTaken``.
    ///
    /// The requests that nobody has taken when the stream ends are refused.
    public var requests: EventStream<AttributeRequest> {
        let (stream, source) = EventStream<AttributeRequest>.make()
        let isFirst = extras.state.withLock {
            guard $0.requests == nil else { return false }
            $0.requests = source
            return true
        }
        guard isFirst else {
            Misuse.report("\(self): another stream has the requests of centrals already")
            source.finish(ExtrasError.requestsTaken)
            return stream
        }
        source.onEnd { [weak extras] in
            // Let go of outside of the lock, with the requests that are in it.
            _ = extras?.state.withLock { state in
                defer { state.requests = nil }
                return state.requests
            }
        }
        return stream
    }

    /// Opens a stream of a kind, beginning with what `first` says.
    func begin<Element: Sendable>(
        _ kind: any WritableKeyPath<PeripheralExtras.State, Broadcast<Element>> & Sendable,
        _ first: (inout PeripheralExtras.State) -> [Element],
        onEnd: @escaping @Sendable (inout PeripheralExtras.State) -> Void = { _ in }
    ) -> EventStream<Element> {
        let extras = extras
        let (stream, opened) = extras.state.withLock { state in
            let elements = first(&state)
            return state[keyPath: kind].open(with: elements)
        }
        opened?.source.onEnd { [weak extras, number = opened?.number] in
            extras?.state.withLock { state in
                if let number { state[keyPath: kind].remove(number) }
                onEnd(&state)
            }
        }
        return stream
    }
}
