import EventLoops
import ServiceMessages

/// The Live Activities of one process of an app. The first one begins what the life cycle knows as the app's Live
/// Activity, and the end of the last one ends it (behaviours 9.17, 9.24).
final class ActivitySession: ManagerSession {
    private struct Activity {
        var isOngoing = true
        /// When the system ends the activity, or after that, removes it.
        var until: Instant
    }

    /// How long an activity that the system has ended is shown (behaviour 9.25).
    private static let remainder = Duration.seconds(4 * 3_600)

    let manager: AppManager
    private let loop: any EventLoop
    /// The activities that the app has not ended, by its numbers.
    private var activities: [UInt32: Activity] = [:]
    private var timer: ScheduledTask?

    init(of manager: AppManager) {
        self.manager = manager
        loop = manager.lifecycle.loop
    }

    /// Nil once the process has ended.
    private var process: ProcessLifecycle? { manager.lifecycle as? ProcessLifecycle }
    private var ongoing: Int { activities.values.count(where: \.isOngoing) }

    func handle(_ request: Request) {
        switch request {
        case .activity(let number, begins: true): begin(number)
        case .activity(let number, begins: false): end(number)
        default: manager.misuse("Live Activities do not support \(request.name)")
        }
    }

    /// Begins an activity. The app has checked its access before, which may have changed since.
    private func begin(_ number: UInt32) {
        guard let process, process.activityAccess == .allowed, ongoing < ServiceLimits.activities else {
            return report(number, isRemoved: true)
        }
        activities[number] = Activity(until: loop.now + AppLifecycle.activityTime)
        process.handle(.liveActivity(true))
        startTimer()
    }

    private func end(_ number: UInt32) {
        if activities.removeValue(forKey: number)?.isOngoing == true { endedOne() }
    }

    private func endedOne() {
        startTimer()
        if ongoing == 0 { process?.handle(.liveActivity(false)) }
    }

    private func report(_ number: UInt32, isRemoved: Bool) {
        manager.deliver(.activity(number, isRemoved: isRemoved), on: loop)
    }

    private func startTimer() {
        if let timer = timer.take() { loop.cancel(timer) }
        guard let next = activities.values.map(\.until).min() else { return }
        timer = loop.schedule(after: next - loop.now) { [weak self] in
            self?.timer = nil
            self?.timeIsUp()
        }
    }

    private func timeIsUp() {
        let over = activities.filter { $0.value.until <= loop.now }.sorted { $0.key < $1.key }
        for (number, activity) in over {
            activities[number] =
                activity.isOngoing ? Activity(isOngoing: false, until: loop.now + Self.remainder) : nil
            report(number, isRemoved: !activity.isOngoing)
        }
        if over.contains(where: \.value.isOngoing) { endedOne() } else { startTimer() }
    }

    /// Called when the life cycle has changed. If the app's Live Activity is over, its time has passed just now, or the
    /// user has removed all activities (behaviour 9.25).
    func rulesChanged() {
        guard let process, process.hasProcess, process.declaration.isManaged, !process.hasActivity else { return }
        guard ongoing > 0 else { return }
        for (number, activity) in activities.sorted(by: { $0.key < $1.key }) where activity.until > loop.now {
            guard activity.isOngoing else { continue }
            activities[number] = nil
            report(number, isRemoved: true)
        }
        timeIsUp()
    }

    func close() {
        activities = [:]
        endedOne()
    }

    // MARK: A session like any other manager

    func stateChanged(to state: ManagerState) { _ = manager.report(state, on: loop) }
    func stateToRestore() -> Event { .activity(0, isRemoved: true) }
    func carryOutIntent() {}
    var holdings: Holdings { Holdings() }

    func answer(_ query: Query) -> Result<Reply, ServiceError> {
        .failure(ServiceError(.invalidParameters, reason: "Live Activities have no queries"))
    }
}
