import BluetoothTesting
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

/// An app whose manager is created in any place.
private final class ScanningApp: NSObject, CBCentralManagerDelegate, Sendable {
    private let manager = Mutex<CBCentralManager?>(nil)
    let states = Notes<String>()
    let isOn = DispatchSemaphore(value: 0)

    func start() {
        let new = CBCentralManager(delegate: self, queue: DispatchQueue(label: "scanner"))
        manager.withLock { $0 = new }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        states.add("\(central.state.rawValue)")
        if central.state == .poweredOn { isOn.signal() }
    }
}

/// An actor of an app.
private actor Librarian {
    func run(_ body: @Sendable () -> Void) { body() }
}

/// A thread of an app, as libraries with blocking calls have one.
private final class Worker: Thread {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init()
    }

    override func main() { body() }
}

/// The ways in which an app gets code to run elsewhere.
private enum Way: CaseIterable {
    case atOnce, detachedThread, blockThread, threadSubclass, posixThread, threadOfThread, threadOfQueue, threadOfTask
    case globalQueue, queueOfThread, barrier, group, groupNotification, workItem, operationQueue, dependentOperation
    case mainTimer, timerOfThread, dispatchTimer, task, detachedTask, taskOfThread, taskGroup, actor,
        actorOfDetachedTask

    func run(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .atOnce: body()
        case .detachedThread, .blockThread, .threadSubclass, .posixThread, .threadOfThread, .threadOfQueue,
            .threadOfTask:
            runOnThread(body)
        case .task, .detachedTask, .taskOfThread, .taskGroup, .actor, .actorOfDetachedTask: runInTask(body)
        case .mainTimer, .timerOfThread, .dispatchTimer: runInTimer(body)
        case .globalQueue, .queueOfThread, .barrier, .group, .groupNotification, .workItem, .operationQueue,
            .dependentOperation:
            runOnQueue(body)
        }
    }

    private func runOnThread(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .blockThread: Thread(block: body).start()
        case .threadSubclass: Worker(body).start()
        case .posixThread:
            final class Start {
                let body: @Sendable () -> Void; init(_ body: @escaping @Sendable () -> Void) { self.body = body }
            }
            var thread = pthread_t()
            let start = Unmanaged.passRetained(Start(body)).toOpaque()
            pthread_create(
                &thread,
                nil,
                { start in
                    if let start { Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body() }
                    return nil
                },
                start
            )
            pthread_detach(thread)
        case .threadOfThread: Thread.detachNewThread { Thread.detachNewThread(body) }
        case .threadOfQueue: DispatchQueue.global().async { Thread.detachNewThread(body) }
        case .threadOfTask: Task { Thread.detachNewThread(body) }
        default: Thread.detachNewThread(body)
        }
    }

    private func runOnQueue(_ body: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "other", attributes: .concurrent)
        let group = DispatchGroup()
        switch self {
        case .queueOfThread: Thread.detachNewThread { queue.async(execute: body) }
        case .barrier: queue.async(flags: .barrier, execute: body)
        case .group: queue.async(group: group, execute: body)
        case .groupNotification:
            queue.async(group: group) {}
            group.notify(queue: queue, execute: body)
        case .workItem: queue.async(execute: DispatchWorkItem(block: body))
        case .operationQueue: OperationQueue().addOperation(body)
        case .dependentOperation:
            let (first, second) = (BlockOperation {}, BlockOperation(block: body))
            second.addDependency(first)
            OperationQueue().addOperations([first, second], waitUntilFinished: false)
        default: DispatchQueue.global().async(execute: body)
        }
    }

    private func runInTimer(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .timerOfThread:
            Thread.detachNewThread {
                let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in body() }
                RunLoop.current.add(timer, forMode: .default)
                _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            }
        case .dispatchTimer:
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now() + 0.01)
            timer.setEventHandler {
                body()
                timer.cancel()
            }
            timer.resume()
        default:
            RunLoop.main.add(Timer(fire: Date() + 0.01, interval: 0, repeats: false) { _ in body() }, forMode: .common)
        }
    }

    private func runInTask(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .detachedTask: Task.detached { body() }
        case .taskOfThread: Thread.detachNewThread { Task { body() } }
        case .taskGroup: Task { await withTaskGroup { $0.addTask { body() } } }
        case .actor: Task { await Librarian().run(body) }
        case .actorOfDetachedTask: Task.detached { await Librarian().run(body) }
        default: Task { body() }
        }
    }
}

/// The seconds since the world began, as the app's code reads them.
private func seconds() -> String {
    String(format: "%.3f", Date().timeIntervalSince1970 - SimulatedWorld.defaultCalendarStart)
}

// ThreadSanitizer leaves apps the clock and the threads of the machine.
@Suite(.world, .enabled(if: VirtualAppTime.isSupported)) struct AppThreadTests {
    @Test("a manager belongs to its app wherever code of the app creates it", arguments: Way.allCases)
    fileprivate func managersBelongToTheirApp(way: Way) async {
        let scanner = ScanningApp()
        world.addDevice(named: "Phone").launch("app") { _ in
            way.run { scanner.start() }
            return scanner
        }
        await world.until(within: .seconds(2)) { scanner.states.all == ["5"] }
    }

    @Test("a blocking library works on a thread of its own")
    func aBlockingLibraryWorks() async {
        let (scanner, notes) = (ScanningApp(), Notes<String>())
        world.addDevice(named: "Phone").launch("app") { _ in
            Thread.detachNewThread {
                scanner.start()
                notes.add(scanner.isOn.wait(timeout: .now() + 10) == .success ? "on" : "never on")
                Thread.sleep(forTimeInterval: 3)
                notes.add("slept \(Date().timeIntervalSince1970 - SimulatedWorld.defaultCalendarStart >= 3)")
            }
            return scanner
        }
        await world.run(for: .seconds(5))
        #expect(notes.all == ["on", "slept true"])
    }

    @Test("time-outs and sleeps on a thread of the app's own end in the time of the world, to the millisecond")
    func waitsEndInTheTimeOfTheWorld() async {
        let notes = Notes<String>()
        world.addDevice(named: "Phone").launch("app") { _ in
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 3)
                notes.add("sleep \(seconds())")
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 10)
                notes.add("semaphore \(seconds())")
                let group = DispatchGroup()
                group.enter()
                _ = group.wait(wallTimeout: .now() + 20)
                group.leave()
                notes.add("group \(seconds())")
                usleep(500_000)
                notes.add("usleep \(seconds())")
            }
            return notes
        }
        await world.run(for: .seconds(60))
        #expect(notes.all == ["sleep 3.000", "semaphore 13.000", "group 33.000", "usleep 33.500"])
    }

    @Test("timers on the run loop of a thread of the app's own fire by the world")
    func timersOfThreads() async {
        let notes = Notes<String>()
        world.addDevice(named: "Phone").launch("app") { _ in
            Thread.detachNewThread {
                let count = Mutex(0)
                let again = Timer(fire: Date() + 4, interval: 4, repeats: true) { timer in
                    notes.add("again \(seconds())")
                    let times = count.withLock { count in
                        count += 1
                        return count
                    }
                    if times == 3 { timer.invalidate() }
                }
                let moved = Timer(fire: Date() + 3_000, interval: 0, repeats: false) { _ in
                    notes.add("moved \(seconds())")
                }
                for timer in [again, moved] { RunLoop.current.add(timer, forMode: .default) }
                moved.fireDate = Date() + 10
                // The run loop ends with its last timer.
                RunLoop.current.run(until: Date() + 30)
                notes.add("ended \(seconds())")
            }
            return notes
        }
        await world.run(for: .seconds(60))
        #expect(notes.all == ["again 4.000", "again 8.000", "moved 10.000", "again 12.000", "ended 12.000"])
    }

    @Test("the clock does not pass a thread that works")
    func theClockWaitsForThreads() async {
        let notes = Notes<String>()
        world.addDevice(named: "Phone").launch("app") { _ in
            Thread.detachNewThread {
                var hasher = Hasher()
                for number in 0..<300_000 { hasher.combine(number) }
                notes.add("computed \(seconds()) \(hasher.finalize() == 0 ? "" : "")")
            }
            return notes
        }
        await world.run(for: .seconds(60))
        #expect(notes.all == ["computed 0.000 "])
    }

    @Test("a semaphore with a time-out on a queue waits by the clock of the machine")
    func queuesWaitByTheMachine() async {
        let notes = Notes<String>()
        world.addDevice(named: "Phone").launch("app") { _ in
            DispatchQueue.global().async {
                let began = DispatchTime.now()
                let result = DispatchSemaphore(value: 0).wait(timeout: began + .milliseconds(30))
                notes.add("\(result) \(DispatchTime.now() >= began + .milliseconds(30))")
            }
            return notes
        }
        let began = ContinuousClock.now
        await world.run(for: .seconds(1))
        #expect(notes.all == ["timedOut true"])
        #expect(ContinuousClock.now - began >= .milliseconds(30))
    }

    @Test("AB-G05: a thread of an app that has ended wakes up, and has no Bluetooth")
    func aThreadOfAnEndedAppHasNoBluetooth() async {
        let (scanner, ended) = (ScanningApp(), DispatchSemaphore(value: 0))
        let app = Mutex<SimulatedApp?>(nil)
        world.addDevice(named: "Phone").launch("app") { launched in
            app.withLock { $0 = launched }
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 3_600)
                scanner.start()
                ended.signal()
            }
            return scanner
        }
        await world.run(for: .seconds(5))
        app.withLock { $0 }?.crash()
        await world.run(for: .seconds(1))
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                ended.wait()
                done.resume()
            }
        }
        await world.run(for: .seconds(1))
        #expect(!scanner.states.all.contains("5"))
    }
}
