import Dispatch
import ServiceMessages
import Synchronization

/// A Live Activity of an app, as its connection to the service sees it.
package protocol ActivityReceiver: AnyObject, Sendable {
    /// Whether the activity has not ended.
    var isOngoing: Bool { get }
    /// Called when the system has ended the activity, or it or the user has removed it.
    func end(isRemoved: Bool)
}

/// The connection of the Live Activities of one process to the service, and the list of them.
///
/// The connection of the process owns it, so that activities last that the app holds no object of.
package final class ActivityLink: Sendable {
    private struct Core {
        weak var connection: (any AnyObject & ServiceConnection)?
        var manager = ManagerID.none
        var last: UInt32 = 0
        var receivers: [UInt32: any ActivityReceiver] = [:]
    }

    private struct Reference {
        weak var link: ActivityLink?
    }

    private static let links = Mutex<[Reference]>([])

    private let core: Mutex<Core>

    private init(_ connection: any AnyObject & ServiceConnection) {
        core = Mutex(Core(connection: connection))
    }

    /// The link of the app that the running code belongs to; nil if its process has ended.
    package static var current: ActivityLink? {
        let found = ServiceLocator.connect(otherwise: ProcessService.connection, warn: Misuse.warnOfOutsider)
        guard let connection = found as? any AnyObject & ServiceConnection, !connection.hasEnded else { return nil }
        return links.withLock { links in
            links.removeAll { $0.link == nil }
            if let link = links.lazy.compactMap(\.link).first(where: { $0.connection === connection }) { return link }
            let link = ActivityLink(connection)
            link.open(connection)
            links.append(Reference(link: link))
            return link
        }
    }

    private var connection: (any AnyObject & ServiceConnection)? { core.withLock { $0.connection } }

    private func open(_ connection: any ServiceConnection) {
        let queue = AppQueue(DispatchQueue(label: "ActivityKit"))
        // The connection keeps the handler, and with it this link, until the end of the process.
        let id = connection.openManager(.activities, options: ManagerOptions(showsPowerAlert: false), queue: queue) {
            self.receive($0)
        }
        core.withLock { $0.manager = id }
    }

    private func receive(_ event: Event) {
        guard case .activity(let number, let isRemoved) = event else { return }
        core.withLock { $0.receivers[number] }?.end(isRemoved: isRemoved)
    }

    /// Whether the app may start an activity, and one more than it has (behaviour 9.22).
    package func check() -> (access: ActivityAccess, hasRoom: Bool) {
        guard case .success(.system(let info)) = connection?.ask(.system, from: .none) else {
            return (.unsupported, false)
        }
        let ongoing = core.withLock { $0.receivers.values.count(where: \.isOngoing) }
        return (info.activityAccess, ongoing < ServiceLimits.activities)
    }

    /// The activities that are still shown, the oldest first.
    package var receivers: [any ActivityReceiver] {
        core.withLock { $0.receivers.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Returns a number that no activity has had.
    package func next() -> UInt32 {
        core.withLock { core in
            core.last += 1
            return core.last
        }
    }

    package func begin(_ receiver: any ActivityReceiver, as number: UInt32) {
        core.withLock { $0.receivers[number] = receiver }
        send(.activity(number, begins: true))
    }

    package func end(_ number: UInt32) { send(.activity(number, begins: false)) }

    /// Removes an activity from the list, since it is no longer shown.
    package func remove(_ number: UInt32) { core.withLock { $0.receivers[number] = nil } }

    private func send(_ request: Request) {
        let (connection, manager) = core.withLock { ($0.connection, $0.manager) }
        connection?.send(request, from: manager)
    }

    /// Calls `body` in the app after a delay, by the clock of the service.
    ///
    /// - Returns: A function that cancels the call.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let (connection, manager) = core.withLock { ($0.connection, $0.manager) }
        guard let connection else { return {} }
        return connection.callBack(manager, after: delay, body)
    }
}
