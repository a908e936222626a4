import EventLoops
import Foundation
import HCIHost

/// Those who are told what happens in a system. Where nobody wants to know, nothing is put together for them.
///
/// Lives on the loop of its system.
package final class Observers {
    /// Listeners at a time.
    package static let maximumListeners = 64

    /// Names a listener.
    package struct Registration: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Listener {
        let registration: Registration
        let kinds: Observation.Kinds
        let user: UInt32?
        let take: (Observation) -> Void
    }

    /// The peer that something in the host stack is about, as apps name it; asked only where somebody wants to know.
    var nameOfPeer: (any StackHappening) -> UUID? = { _ in nil }

    private let loop: any EventLoop
    private var listeners: [Listener] = []
    private var wanted: Observation.Kinds = []
    private var lastRegistration: UInt64 = 0
    private var lastNumber: UInt64 = 0
    private var cause: UInt64?

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Adds a listener: `take` is called for each observation of these kinds, when it is made, in the order of the listeners.
    ///
    /// - Parameter user: The user for whom a tool listens; nil for the service itself. Users share ``ServiceLimits/monitors``.
    /// - Returns: What ``remove(_:)`` takes; nil when there are ``maximumListeners`` already, or the user has its share.
    @discardableResult
    package func add(
        _ kinds: Observation.Kinds,
        for user: UInt32? = nil,
        _ take: @escaping (Observation) -> Void
    ) -> Registration? {
        guard listeners.count < Self.maximumListeners, hasRoom(for: user) else { return nil }
        lastRegistration += 1
        let registration = Registration(number: lastRegistration)
        listeners.append(Listener(registration: registration, kinds: kinds, user: user, take: take))
        wanted.formUnion(kinds)
        return registration
    }

    private func hasRoom(for user: UInt32?) -> Bool {
        guard let user else { return true }
        let held = listeners.compactMap(\.user).map { (app: AppIdentity(name: "", owner: $0), count: 1) }
        return ServiceLimits.monitors.room(for: AppIdentity(name: "", owner: user), beside: held).count > 0
    }

    /// Takes a listener out. It hears nothing more, even of what others are being told.
    package func remove(_ registration: Registration) {
        listeners.removeAll { $0.registration == registration }
        wanted = listeners.reduce(into: []) { $0.formUnion($1.kinds) }
    }

    /// Takes what the rooms of the host stack tell, for those who listen here.
    var sink: HappeningSink {
        HappeningSink(
            wants: { [weak self] room in self.map { !$0.wanted.isDisjoint(with: Observation.Kinds(room)) } ?? false },
            take: { [weak self] happening in
                guard let self else { return }
                tell(.below(happening), Observation.Subject(peer: nameOfPeer(happening), link: happening.link))
            }
        )
    }

    /// Tells that something has happened. Neither argument is looked at where nobody wants observations of this kind.
    func tell(
        _ kind: Observation.Kinds,
        _ happening: @autoclosure () -> Observation.Happening,
        of subject: @autoclosure () -> Observation.Subject = Observation.Subject()
    ) {
        guard !wanted.isDisjoint(with: kind) else { return }
        tell(happening(), subject())
    }

    /// Tells that something has happened, and does what comes of it: what is told meanwhile has this for its cause.
    func tell<Result>(
        _ kind: Observation.Kinds,
        _ happening: @autoclosure () -> Observation.Happening,
        of subject: @autoclosure () -> Observation.Subject,
        andThen body: () -> Result
    ) -> Result {
        guard !wanted.isDisjoint(with: kind) else { return body() }
        let outer = cause
        cause = tell(happening(), subject())
        defer { cause = outer }
        return body()
    }

    @discardableResult
    private func tell(_ happening: Observation.Happening, _ subject: Observation.Subject) -> UInt64 {
        lastNumber += 1
        let observation = Observation(
            number: lastNumber,
            time: loop.now,
            cause: cause,
            subject: subject,
            happening: happening
        )
        for listener in listeners where listener.kinds.contains(happening.kind) {
            guard listeners.contains(where: { $0.registration == listener.registration }) else { continue }
            listener.take(observation)
        }
        return observation.number
    }
}
