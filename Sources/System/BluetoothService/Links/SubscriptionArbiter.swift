import DequeModule
import ServiceMessages

/// Shares one client characteristic configuration among managers. It is written when the first manager subscribes and
/// when the last one unsubscribes; changes in between cause no traffic (behaviours 5.17, 5.18).
///
/// Requests are processed in order, one write at a time.
struct SubscriptionArbiter<Subscriber: Hashable> {
    enum Event {
        /// A subscriber subscribes or unsubscribes. The outcome is reported with `number`.
        case request(Subscriber, enabled: Bool, number: UInt32 = 0)
        /// The subscriber is gone, and gets no further reports.
        case leave(Subscriber)
        case written(Result<Void, ServiceError>)
        /// The pending write is impossible, because the peer has no client configuration. Its subscriber listens from
        /// then on: peers without a configuration may send values all the same (behaviour 4.21).
        case absent(ServiceError)
        /// The characteristic is gone. Pending requests fail with this error, and all subscriptions end.
        case gone(ServiceError)
    }

    enum Action: Equatable {
        case write(enabled: Bool)
        case report(Subscriber, isNotifying: Bool, ServiceError?, number: UInt32 = 0)
    }

    private struct Entry {
        var subscriber: Subscriber
        var enabled: Bool
        var number: UInt32 = 0
        var isSilent = false
    }

    /// The managers that are subscribed, in the order of subscribing.
    private(set) var subscribers: [Subscriber] = []
    /// The managers that asked for the values of a peer without a client configuration.
    private var listeners: Set<Subscriber> = []
    private var queue = Deque<Entry>()
    private var inFlight: Entry?

    var isIdle: Bool { subscribers.isEmpty && listeners.isEmpty && inFlight == nil && queue.isEmpty }
    var hasListeners: Bool { !listeners.isEmpty }

    /// Whether a manager receives the values that arrive now: from its request to subscribe, since a value may overtake
    /// the response to the write (behaviour 5.28), until the end of its unsubscription.
    func delivers(to subscriber: Subscriber) -> Bool {
        let asks = { (entry: Entry) in entry.enabled && entry.subscriber == subscriber }
        return subscribers.contains(subscriber) || listeners.contains(subscriber) || inFlight.map(asks) ?? false
            || queue.contains(where: asks)
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each event.
    var brokenInvariant: String? {
        guard inFlight != nil || queue.isEmpty else { return "a change of the subscription waits for nothing" }
        guard Set(subscribers).count == subscribers.count else { return "a manager is subscribed twice" }
        return listeners.isDisjoint(with: subscribers) ? nil : "a subscriber listens without a subscription"
    }

    mutating func handle(_ event: Event) -> [Action] {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        var actions: [Action] = []
        switch event {
        case .request(let subscriber, let enabled, let number):
            let own = queue.count { $0.subscriber == subscriber }
            guard queue.count < ServiceLimits.subscriptionChanges, own < ServiceLimits.subscriptionChangesOfManager
            else {
                let error = ServiceError(.outOfSpace, reason: "too many changes of this subscription are pending")
                return [.report(subscriber, isNotifying: subscribers.contains(subscriber), error, number: number)]
            }
            queue.append(Entry(subscriber: subscriber, enabled: enabled, number: number))
        case .leave(let subscriber):
            queue.removeAll { $0.subscriber == subscriber }
            if inFlight?.subscriber == subscriber { inFlight?.isSilent = true }
            queue.append(Entry(subscriber: subscriber, enabled: false, isSilent: true))
        case .written(let result):
            guard let entry = inFlight.take() else { return [] }
            actions += end(entry, result)
        case .absent(let error):
            guard let entry = inFlight.take() else { return [] }
            if entry.enabled, !entry.isSilent { listeners.insert(entry.subscriber) }
            actions += end(entry, .failure(error))
        case .gone(let error):
            let waiting = [inFlight].compactMap { $0 } + queue
            (subscribers, listeners, queue, inFlight) = ([], [], [], nil)
            return waiting.flatMap { report($0, error) }
        }
        return actions + next()
    }

    private mutating func end(_ entry: Entry, _ result: Result<Void, ServiceError>) -> [Action] {
        var failure: ServiceError?
        switch result {
        case .success: apply(entry)
        // If the peer refuses the last unsubscription, it keeps sending values, which are dropped.
        case .failure where entry.isSilent: apply(Entry(subscriber: entry.subscriber, enabled: false))
        case .failure(let error): failure = error
        }
        return report(entry, failure)
    }

    /// Processes requests until one needs a write.
    private mutating func next() -> [Action] {
        var actions: [Action] = []
        while inFlight == nil, let entry = queue.popFirst() {
            let isSubscribed = subscribers.contains(entry.subscriber)
            let others = subscribers.count - (isSubscribed ? 1 : 0)
            if entry.enabled == isSubscribed || others > 0 {
                apply(entry)
                actions += report(entry, nil)
            } else {
                inFlight = entry
                actions.append(.write(enabled: entry.enabled))
            }
        }
        return actions
    }

    private mutating func apply(_ entry: Entry) {
        listeners.remove(entry.subscriber)
        if !entry.enabled {
            subscribers.removeAll { $0 == entry.subscriber }
        } else if !subscribers.contains(entry.subscriber) {
            subscribers.append(entry.subscriber)
        }
    }

    private func report(_ entry: Entry, _ error: ServiceError?) -> [Action] {
        guard !entry.isSilent else { return [] }
        let isNotifying = subscribers.contains(entry.subscriber)
        return [.report(entry.subscriber, isNotifying: isNotifying, error, number: entry.number)]
    }
}
