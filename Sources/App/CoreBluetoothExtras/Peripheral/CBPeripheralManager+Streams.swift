import CoreBluetooth
import Foundation
import Synchronization

/// A central has subscribed to a characteristic or unsubscribed from it (behaviour 7.40).
public struct SubscriptionChange: Sendable {
    /// The central that has subscribed or unsubscribed.
    public let central: CBCentral
    /// The published characteristic whose subscribers have changed.
    public let characteristic: CBMutableCharacteristic
    /// Whether the central is subscribed now.
    public let isSubscribed: Bool
}

// Each of these properties opens a new stream of the events from then on. The delegate is called first. A stream ends
// with the manager and does not retain it.
extension CBPeripheralManager {
    /// A new stream of the manager's states: the current one, and each that follows.
    public var states: EventStream<CBManagerState> {
        begin(\.states) { state in
            let now = state.lastState ?? self.state
            state.lastState = now
            return [now]
        }
    }

    /// A new stream of subscriptions and their ends. Centrals that disconnect, or lose their link because Bluetooth is
    /// switched off, have unsubscribed.
    public var subscriptions: EventStream<SubscriptionChange> { begin(\.subscriptions) { _ in [] } }

    /// A new stream of the L2CAP channels that centrals open. Keep each channel as long as it is to stay open
    /// (behaviour 8.7).
    public var channels: EventStream<CBL2CAPChannel> { begin(\.channels) { _ in [] } }

    /// A new stream of the centrals' reads and writes, which are then not passed to the delegate.
    ///
    /// Each request has one receiver: a second stream ends at once with ``ExtrasError/requestsTaken``. When the stream
    /// ends, the requests that it still holds are refused.
    public var requests: EventStream<AttributeRequest> {
        let (stream, source) = EventStream<AttributeRequest>.make()
        let isFirst = extras.state.withLock {
            guard $0.requests == nil else { return false }
            $0.requests = source
            return true
        }
        guard isFirst else {
            Misuse.report("\(self): another stream already receives the requests of centrals")
            source.finish(ExtrasError.requestsTaken)
            return stream
        }
        source.onEnd { [weak extras] in
            // Released outside the lock, together with the requests that it holds.
            _ = extras?.state.withLock { state in
                defer { state.requests = nil }
                return state.requests
            }
        }
        return stream
    }

    /// Opens a stream of one kind, beginning with the elements that `first` returns.
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

/// The open streams that receive the same elements, the oldest first.
struct Broadcast<Element: Sendable>: Sendable {
    /// The maximum number of open streams of one kind. A further one ends at once.
    static var maximumStreams: Int { 64 }

    private(set) var sources: [(number: UInt64, source: EventStream<Element>.Source)] = []
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { sources.isEmpty }

    /// Adds a stream that begins with the given elements. If there are too many, the stream has ended and there is no
    /// writing end.
    mutating func open(
        with first: [Element]
    ) -> (stream: EventStream<Element>, opened: (number: UInt64, source: EventStream<Element>.Source)?) {
        let (stream, source) = EventStream<Element>.make()
        guard sources.count < Self.maximumStreams else {
            source.finish(ExtrasError.overflow)
            return (stream, nil)
        }
        for element in first { source.send(element) }
        lastNumber += 1
        sources.append((lastNumber, source))
        return (stream, (lastNumber, source))
    }

    mutating func remove(_ number: UInt64) { sources.removeAll { $0.number == number } }
}
