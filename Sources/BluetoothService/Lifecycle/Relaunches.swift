import BluetoothTypes
import EventLoops

/// The apps whose processes ended early, each with its ``LaunchBackoff`` and the timer of its pause. Lives on the loop.
final class Relaunches {
    /// Apps that are remembered. One more takes the place of the one with the fewest early ends (AB-G05).
    static let maximumApps = 256

    private struct Entry {
        var machine = LaunchBackoff()
        var pause: (timer: ScheduledTask, end: Instant)?
    }

    /// Launches an app now.
    var onLaunch: ((AppIdentity) -> Void)?
    /// Called when a pause of some length begins after processes that ended early.
    var onPause: ((AppIdentity, _ earlyEnds: Int, Duration) -> Void)?

    private let loop: any EventLoop
    private var entries: [AppIdentity: Entry] = [:]

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Something happened to the app or its process.
    func handle(_ event: LaunchBackoff.Event, of app: AppIdentity) {
        var entry = entries[app] ?? Entry()
        if event == .pauseEnded { entry.pause = nil }
        let actions = entry.machine.handle(event)
        if entry.machine == LaunchBackoff() {
            entries[app] = nil
        } else {
            makeRoom(for: app)
            entries[app] = entry
        }
        for action in actions {
            switch action {
            case .launch: onLaunch?(app)
            case .startPause(let time): startPause(of: app, time)
            }
        }
    }

    /// The user has opened the app, or ended it: what was before does not count.
    func forget(_ app: AppIdentity) {
        if let pause = entries.removeValue(forKey: app)?.pause { loop.cancel(pause.timer) }
    }

    /// Launches no app any more.
    func stop() {
        for app in Array(entries.keys) { forget(app) }
    }

    /// How many processes in a row ended early, and how long the next launch waits; nil for an app whose processes do not.
    func state(of app: AppIdentity) -> (earlyEnds: Int, pause: Duration?)? {
        entries[app].map { ($0.machine.earlyEnds, $0.pause.map { $0.end - loop.now }) }
    }

    private func startPause(of app: AppIdentity, _ time: Duration) {
        guard let entry = entries[app] else { return }
        if let pause = entry.pause { loop.cancel(pause.timer) }
        let timer = loop.schedule(after: time) { [weak self] in self?.handle(.pauseEnded, of: app) }
        entries[app]?.pause = (timer, loop.now + time)
        onPause?(app, entry.machine.earlyEnds, time)
    }

    private func makeRoom(for app: AppIdentity) {
        guard entries[app] == nil, entries.count >= Self.maximumApps else { return }
        let mildest = entries.min { $0.value.machine.earlyEnds < $1.value.machine.earlyEnds }
        if let mildest { forget(mildest.key) }
    }
}
