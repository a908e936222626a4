import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// The process of a simulated app. Its timers and tasks stand still while it is suspended, and end with it. Used on the
/// loop only.
final class SimulatedProcess: AppProcess {
    private enum State {
        case running
        /// Suspended, with the work that has become due meanwhile.
        case suspended([() -> Void])
        case ended
    }

    private let loop: any EventLoop
    private var state = State.running
    /// The connection to the service, which ends with the process.
    weak var connection: InProcessConnection?
    private let contents = Contents()
    /// The queue on which that code runs.
    private var main: AppQueue?

    private final class Contents: Sendable {
        let kept = Mutex<(any Sendable)?>(nil)

        func release() {
            let released = kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
            withExtendedLifetime(released) {}
        }
    }

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Runs work of the app now or, if it is suspended, when it is resumed.
    func run(_ body: @escaping () -> Void) {
        switch state {
        case .running: body()
        case .suspended(let waiting): state = .suspended(waiting + [body])
        case .ended: break
        }
    }

    /// Calls `tick` repeatedly. The ticks that become due while the app is suspended count as one.
    func everyInterval(_ interval: Duration, on queue: AppQueue, _ tick: @escaping @Sendable () -> Void) {
        loop.schedule(after: interval) { [self] in
            run { [self] in
                loop.deliver(on: queue, tick)
                everyInterval(interval, on: queue, tick)
            }
        }
    }

    /// Calls `body` once, unless the process has ended by then.
    func after(_ delay: Duration, on queue: AppQueue, _ body: @escaping @Sendable () -> Void) {
        loop.schedule(after: delay) { [self] in
            run { [self] in loop.deliver(on: queue, body) }
        }
    }

    func begin(on queue: DispatchQueue, _ body: @escaping @Sendable () -> any Sendable) {
        let queue = AppQueue(queue)
        main = queue
        loop.deliver(on: queue) { [contents] in
            let made = body()
            contents.kept.withLock { $0 = made }
        }
    }

    /// Keeps the objects of an app that was launched from outside of the world, until the process ends.
    func keep(_ objects: LoopBound<Any>) {
        if case .ended = state { return }
        contents.kept.withLock { $0 = objects }
    }

    func objects<Objects>(as type: Objects.Type) -> Objects? {
        let kept = contents.kept.withLock { $0 }
        return kept as? Objects ?? (kept as? LoopBound<Any>)?.value as? Objects
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
        // What the objects report while they are released belongs to the process, which has ended.
        let release: @Sendable () -> Void = { [contents, connection] in
            ServiceLocator.$current.withValue(connection) { contents.release() }
        }
        // The app's objects are released where its code ran.
        if let main { loop.deliver(on: main, release) } else { release() }
    }
}
