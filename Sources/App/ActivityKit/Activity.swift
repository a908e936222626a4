import CoreBluetooth
import ServiceMessages
import Synchronization

/// A Live Activity of the app.
///
/// It begins in the foreground, and lasts while the app is suspended. From iOS 26 on, an app with a manager of Core
/// Bluetooth keeps the privileges of the foreground in the background while it has one (behaviours 9.17, 9.24). All
/// members may be used from any thread.
public final class Activity<Attributes: ActivityAttributes>: Identifiable, ActivityReceiver, @unchecked Sendable {
    // Safe: all mutable state is in a mutex, and the app does not change its attributes and content.

    /// The content that changes.
    public typealias ContentState = Attributes.ContentState

    fileprivate struct Core: @unchecked Sendable {
        var content: ActivityContent<ContentState>
        var state = ActivityState.active
        weak var link: ActivityLink?
        /// The simulated app; nil outside simulations.
        weak var app: (any AnyObject & ServiceConnection)?
        /// Cancels the timer for the stale date, or for the dismissal.
        var cancel: (@Sendable () -> Void)?
        var states = UpdateStreams<ActivityState>()
        var contents = UpdateStreams<ActivityContent<ContentState>>()

        var isOngoing: Bool { state == .active || state == .stale }
    }

    /// The identifier of the activity.
    public let id = UUID().uuidString
    /// The content that stays as it is.
    public let attributes: Attributes
    private let number: UInt32
    fileprivate let core: Mutex<Core>

    private init(_ attributes: Attributes, _ content: ActivityContent<ContentState>, _ link: ActivityLink) {
        self.attributes = attributes
        number = link.next()
        let app = ServiceLocator.found as? any AnyObject & ServiceConnection
        core = Mutex(Core(content: content, link: link, app: app))
    }

    private var current: Core { core.withLock { $0 } }

    /// The content as of the last update.
    public final var content: ActivityContent<ContentState> { current.content }

    /// The current state.
    public final var activityState: ActivityState { current.state }

    /// The changes of the state. The sequence ends after ``ActivityState/dismissed``.
    public final var activityStateUpdates: ActivityStateUpdates { ActivityStateUpdates(activity: self) }

    /// The changes of the content.
    public final var contentUpdates: ContentUpdates { ContentUpdates(activity: self) }

    /// The activities of the app with these attributes that are still shown, the oldest first.
    public static var activities: [Activity<Attributes>] {
        ActivityLink.current?.receivers.compactMap { $0 as? Activity<Attributes> } ?? []
    }

    package var isOngoing: Bool { current.isOngoing }
}

// MARK: - Requests

extension Activity {
    /// Starts a Live Activity (behaviour 9.22).
    ///
    /// - Parameters:
    ///   - attributes: The content that stays as it is.
    ///   - content: The content that changes.
    ///   - pushType: How the activity receives push notifications; here nil.
    /// - Returns: The activity.
    /// - Throws: ``ActivityAuthorizationError`` if the app is not in the foreground, or may have no activity.
    public static func request(
        attributes: Attributes,
        content: ActivityContent<ContentState>,
        pushType: PushType? = nil
    ) throws -> Activity<Attributes> {
        guard let link = ActivityLink.current else { throw ActivityAuthorizationError.missingProcessIdentifier }
        let (access, hasRoom) = link.check()
        switch access {
        case .unsupported: throw ActivityAuthorizationError.unsupported
        case .undeclared: throw ActivityAuthorizationError.unsupportedTarget
        case .notVisible: throw ActivityAuthorizationError.visibility
        case .allowed: break
        }
        guard pushType == nil else { throw ActivityAuthorizationError.unentitled }
        let encoder = JSONEncoder()
        let size = try encoder.encode(attributes).count + encoder.encode(content.state).count
        guard size <= 4_096 else { throw ActivityAuthorizationError.attributesTooLarge }
        guard hasRoom else { throw ActivityAuthorizationError.targetMaximumExceeded }
        let activity = Activity(attributes, content, link)
        link.begin(activity, as: activity.number)
        activity.startStaleTimer()
        return activity
    }

    /// Updates the content, in the foreground or in the background. An activity that has ended ignores it.
    ///
    /// - Parameter content: The new content.
    public final func update(_ content: ActivityContent<ContentState>) async {
        let isOngoing = core.withLock { core in
            guard core.isOngoing else { return false }
            core.set(content)
            core.move(to: .active)
            return true
        }
        if isOngoing { startStaleTimer() }
    }

    /// Ends the activity, in the foreground or in the background (behaviour 9.23).
    ///
    /// - Parameters:
    ///   - content: The last content; nil to leave it as it is.
    ///   - dismissalPolicy: When the system removes the activity.
    public final func end(
        _ content: ActivityContent<ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {
        let link: ActivityLink? = core.withLock { core in
            guard core.isOngoing else { return nil }
            if let content { core.set(content) }
            return core.link
        }
        guard let link else { return }
        link.end(number)
        let delay = dismissalPolicy.delay
        guard delay > 0 else { return dismiss() }
        core.withLock { $0.move(to: .ended) }
        startTimer(delay) { $0.dismiss() }
    }

    /// Called when the system has ended the activity (behaviour 9.25).
    package func end(isRemoved: Bool) {
        inApp {
            guard !isRemoved else { return dismiss() }
            core.withLock { $0.move(to: .ended) }
            startTimer(nil) { _ in }
        }
    }

    /// Calls `body` as code of the app, so that its world waits for the tasks that continue.
    private func inApp(_ body: () -> Void) {
        guard let app = current.app else { return body() }
        ServiceLocator.$current.withValue(app, operation: body)
    }

    private func dismiss() {
        let link = core.withLock { core in
            core.move(to: .dismissed)
            core.states.finish()
            core.contents.finish()
            return core.link
        }
        startTimer(nil) { _ in }
        link?.remove(number)
    }

    private func startStaleTimer() {
        // No activity lasts as long as eight hours after an update.
        let delay = content.staleDate.map { max($0.timeIntervalSinceNow, 0) }.flatMap { $0 < 8 * 3_600 ? $0 : nil }
        startTimer(delay) { activity in activity.core.withLock { if $0.isOngoing { $0.move(to: .stale) } } }
    }

    /// Starts a timer in place of the last one; nil only ends that.
    private func startTimer(_ delay: TimeInterval?, _ body: @escaping @Sendable (Activity) -> Void) {
        let timer = delay.flatMap { delay in
            current.link?.callBack(after: .seconds(delay)) { [weak self] in
                if let self { inApp { body(self) } }
            }
        }
        let old = core.withLock { core in
            defer { core.cancel = timer }
            return core.cancel
        }
        old?()
    }
}

extension Activity.Core {
    fileprivate mutating func set(_ content: ActivityContent<Attributes.ContentState>) {
        self.content = content
        contents.send(content)
    }

    fileprivate mutating func move(to state: ActivityState) {
        guard state != self.state else { return }
        self.state = state
        states.send(state)
    }
}

// MARK: - Sequences

extension Activity {
    /// The changes of the state of an activity, from the creation of an iterator on.
    public struct ActivityStateUpdates: AsyncSequence, Sendable {
        /// The state after a change.
        public typealias Element = ActivityState

        fileprivate let activity: Activity

        /// The iterator of the sequence.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<ActivityState>.Iterator

            /// The next state; nil after ``ActivityState/dismissed``.
            public mutating func next() async -> ActivityState? { await base.next() }
        }

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator {
            let stream = activity.core.withLock { $0.states.add(isOver: $0.state == .dismissed) }
            return Iterator(base: stream.makeAsyncIterator())
        }
    }

    /// The changes of the content of an activity, from the creation of an iterator on.
    public struct ContentUpdates: AsyncSequence, Sendable {
        /// The content after a change.
        public typealias Element = ActivityContent<ContentState>

        fileprivate let activity: Activity

        /// The iterator of the sequence.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<ActivityContent<ContentState>>.Iterator

            /// The next content; nil after the activity was dismissed.
            public mutating func next() async -> ActivityContent<ContentState>? { await base.next() }
        }

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator {
            let stream = activity.core.withLock { $0.contents.add(isOver: $0.state == .dismissed) }
            return Iterator(base: stream.makeAsyncIterator())
        }
    }
}
