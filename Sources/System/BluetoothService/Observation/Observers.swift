import BluetoothTypes
import EventLoops
import Foundation
import HCIHost
import ServiceMessages

/// The observers of a system. An observation that no observer has registered for is not constructed.
///
/// Used on the loop of its system only.
package final class Observers {
    package static let maximumListeners = 64

    /// Identifies a listener until it is removed.
    package struct Registration: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Listener {
        let registration: Registration
        let kinds: Observation.Kinds
        let user: UInt32?
        let count: ((ValueArrival) -> Void)?
        let receive: (Observation) -> Void
    }

    /// Returns the peer that an event of the host stack is about. Called only if there is a listener for the event.
    var nameOfPeer: (any StackEvent) -> UUID? = { _ in nil }

    var onWanted: ((Observation.Kinds) -> Void)?

    private let loop: any EventLoop
    private var listeners: [Listener] = []
    /// The listeners that count values, instead of receiving an observation of each.
    private var counters: [(ValueArrival) -> Void] = []
    private var observesValues = false
    private var wanted: Observation.Kinds = [] {
        didSet { if wanted != oldValue { onWanted?(wanted) } }
    }
    private var lastRegistration: UInt64 = 0
    private(set) var lastNumber: UInt64 = 0
    /// The observation that causes what happens now.
    private(set) var cause: UInt64?

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Adds a listener. `receive` is called synchronously for each observation of these kinds, in the order of the
    /// listeners.
    ///
    /// - Parameters:
    ///   - user: The user whose tool listens, or nil for the service itself. Users share ``ServiceLimits/monitors``.
    ///   - count: Called for each value that an app is notified of, instead of `receive`.
    /// - Returns: The registration to pass to ``remove(_:)``. Nil if there are ``maximumListeners`` already, or the
    ///   user's share is exhausted.
    @discardableResult
    package func add(
        _ kinds: Observation.Kinds,
        for user: UInt32? = nil,
        counting count: ((ValueArrival) -> Void)? = nil,
        _ receive: @escaping (Observation) -> Void
    ) -> Registration? {
        guard refusal(for: user) == nil else { return nil }
        lastRegistration += 1
        let registration = Registration(number: lastRegistration)
        listeners.append(
            Listener(registration: registration, kinds: kinds, user: user, count: count, receive: receive)
        )
        listenersChanged()
        return registration
    }

    private func listenersChanged() {
        wanted = listeners.reduce(into: []) { $0.formUnion($1.kinds) }
        let ofMessages = listeners.filter { $0.kinds.contains(.messages) }
        counters = ofMessages.compactMap(\.count)
        observesValues = counters.count < ofMessages.count
    }

    /// Returns why there is no place for another listener of a user, or nil if there is.
    package func refusal(for user: UInt32?) -> ServiceError? {
        guard listeners.count < Self.maximumListeners else {
            return ServiceError(.outOfSpace, reason: "\(Self.maximumListeners) event streams are open; end one first")
        }
        guard let user else { return nil }
        return ServiceLimits.monitors.refusal("event streams", forUser: user, beside: listeners.compactMap(\.user))
    }

    /// Removes a listener. It receives nothing more, even of an observation that is being delivered.
    package func remove(_ registration: Registration) {
        listeners.removeAll { $0.registration == registration }
        listenersChanged()
    }

    var sink: StackEventSink {
        StackEventSink(
            wants: { [weak self] module in self.map { !$0.wanted.isDisjoint(with: Observation.Kinds(module)) } ?? false
            },
            receive: { [weak self] event in
                guard let self else { return }
                report(.below(event), Observation.Subject(peer: nameOfPeer(event), link: event.link))
            }
        )
    }

    /// Reports an observation. Neither argument is evaluated without a listener for this kind.
    func report(
        _ kind: Observation.Kinds,
        _ content: @autoclosure () -> Observation.Content,
        of subject: @autoclosure () -> Observation.Subject = Observation.Subject()
    ) {
        guard !wanted.isDisjoint(with: kind) else { return }
        report(content(), subject())
    }

    /// Reports an event to a manager of an app. A value costs little where listeners only count it.
    func report(_ event: Event, of subject: @autoclosure () -> Observation.Subject) {
        guard !wanted.isDisjoint(with: .messages) else { return }
        let subject = subject()
        var isCounted = false
        if !counters.isEmpty, case .central(.peer(let peer, .valueNotified(let handle, let value))) = event,
            let app = subject.app, let manager = subject.manager
        {
            let arrival = ValueArrival(
                app: app,
                manager: manager,
                peer: peer,
                handle: handle,
                octets: value.count,
                time: loop.now
            )
            for count in counters { count(arrival) }
            guard observesValues else { return }
            isCounted = true
        }
        report(.delivered(event), subject.about(event.peer), isCounted: isCounted)
    }

    /// Reports an observation and performs `body`. Observations made by `body` have this one as their cause.
    func report<Result>(
        _ kind: Observation.Kinds,
        _ content: @autoclosure () -> Observation.Content,
        of subject: @autoclosure () -> Observation.Subject,
        at site: CallSite? = nil,
        andThen body: () -> Result
    ) -> Result {
        guard !wanted.isDisjoint(with: kind) else { return body() }
        let outer = cause
        cause = report(content(), subject(), site)
        defer { cause = outer }
        return body()
    }

    @discardableResult
    private func report(
        _ content: Observation.Content,
        _ subject: Observation.Subject,
        _ site: CallSite? = nil,
        isCounted: Bool = false
    ) -> UInt64 {
        lastNumber += 1
        let observation = Observation(
            number: lastNumber,
            time: loop.now,
            cause: cause,
            subject: subject,
            content: content,
            site: site
        )
        for listener in listeners where listener.kinds.contains(content.kind) {
            if isCounted, listener.count != nil { continue }
            guard listeners.contains(where: { $0.registration == listener.registration }) else { continue }
            listener.receive(observation)
        }
        return observation.number
    }
}

// MARK: - Common reports

extension Observers {
    package func report(_ notice: SystemNotice) {
        report(.notices, .noticed(notice))
    }

    /// Reports a mistake to the developer of an app (behaviour 1.26).
    func misuse(_ text: String, by subject: Observation.Subject) {
        report(.misuse, .misused(text, isToldToApp: false), of: subject)
    }

    /// Reports a problem that apps do not notice.
    package func trouble(_ text: @autoclosure () -> String, _ weight: EventWeight = .warning) {
        report(.trouble, .trouble(text(), weight))
    }
}
