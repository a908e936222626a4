import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import Synchronization

/// What a simulated app has of a process: its timers and tasks stand still while it is suspended, and end with it. On the loop.
final class SimulatedProcess: AppProcess {
    private enum State {
        case running
        /// With what it would have done meanwhile.
        case suspended([() -> Void])
        case ended
    }

    private let loop: any EventLoop
    private var state = State.running
    /// The line to the service, which is cut with the end of the process.
    weak var connection: InProcessConnection?
    /// What the code of an installed app has made, and where that code runs.
    private let contents = Contents()
    private var main: AppQueue?

    private final class Contents: Sendable {
        let kept = Mutex<(any Sendable)?>(nil)
    }

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Runs a piece of the app, or keeps it until the app runs.
    func run(_ body: @escaping () -> Void) {
        switch state {
        case .running: body()
        case .suspended(let waiting): state = .suspended(waiting + [body])
        case .ended: break
        }
    }

    /// The ticks of a timer that came due while the app did not run are one.
    func everyInterval(_ interval: Duration, on queue: AppQueue, _ tick: @escaping @Sendable () -> Void) {
        loop.schedule(after: interval) { [self] in
            run { [self] in
                loop.deliver(on: queue, tick)
                everyInterval(interval, on: queue, tick)
            }
        }
    }

    /// Runs the code that makes the app's objects.
    func begin(on queue: DispatchQueue, _ body: @escaping @Sendable () -> any Sendable) {
        let queue = AppQueue(queue)
        main = queue
        loop.deliver(on: queue) { [contents] in
            let made = body()
            contents.kept.withLock { $0 = made }
        }
    }

    func suspend() {
        if case .running = state { state = .suspended([]) }
    }

    func resume() {
        guard case .suspended(let waiting) = state else { return }
        state = .running
        for body in waiting { run(body) }
    }

    func end() {
        state = .ended
        connection?.cut()
        guard let main else { return }
        // The app's objects go where its code ran.
        loop.deliver(on: main) { [contents] in
            let kept = contents.kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
            withExtendedLifetime(kept) {}
        }
    }
}
