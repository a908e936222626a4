import BluetoothTypes
import EventLoops
import ServiceMessages

/// The apps whose processes ended early, each with its ``LaunchBackoff`` and pause timer. Used on the loop only.
final class Relaunches {
    /// The number of apps that are remembered. A further app replaces the one with the fewest early ends (AB-G05).
    static let maximumApps = 256

    private struct Entry {
        var machine = LaunchBackoff()
        var pause: (timer: ScheduledTask, end: Instant)?
    }

    var onLaunch: ((AppIdentity) -> Void)?
    var onPause: ((AppIdentity, _ earlyEnds: Int, Duration) -> Void)?

    private let loop: any EventLoop
    private var entries: [AppIdentity: Entry] = [:]

    init(loop: any EventLoop) {
        self.loop = loop
    }

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

    /// Clears the count of an app because the user opened or force-quit it.
    func forget(_ app: AppIdentity) {
        if let pause = entries.removeValue(forKey: app)?.pause { loop.cancel(pause.timer) }
    }

    func stop() {
        for app in Array(entries.keys) { forget(app) }
    }

    /// Returns the number of consecutive early ends, nil without any, and how long the next launch waits.
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
