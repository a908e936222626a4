import BluetoothTypes
import EventLoops
import Foundation
import Security
import ServiceMessages
import StateExplorer

@testable import BluetoothService

/// An app with preserved connections whose process lives and dies, and whose record is saved on a slow disk, while the
/// service may stop at any write.
struct ExploredApp: Explorable {
    enum Move: Hashable {
        case open, leave
        case task(Bool)
        case activity(Bool)
        case activityTimeIsUp
        /// An event for the app: the result of a connection that it wants.
        case event
        case timeIsUp, pauseEnds
        case end(AppEnd)
        case connect(Int), cancel(Int)
        case writeEnds(Bool), retry
        case serviceStops(isWritten: Bool)
    }

    struct Bounds {
        var events = 0
        var ends = 0
        var opens = 1
        var tasks = false
        /// The Live Activities that the app starts.
        var activities = 0
        /// The changes of what the app wants.
        var changes = 0
        /// The writes that fail, and the stops of the service.
        var failures = 0
        var stops = 0
    }

    private static let app = AppIdentity(name: "app")
    private static let peers = (0..<2).map { UUID(uuidString: "00000000-0000-4000-8000-00000000000\($0)") ?? UUID() }

    private let loop = VirtualEventLoop()
    private let storage = HeldStorage()
    private let receipts = Receipts()
    private var keeper: RecordKeeper

    private var lifecycle = AppLifecycle()
    private var hasTimer = false
    private var hasActivityTimer = false
    /// Whether the app was left with a Live Activity that has lasted since.
    private var isPrivileged = false
    private var isSuspended = false
    private var hasTask = false
    /// Whether an event is known to the service, and the process does not run.
    private var owesEvent = false
    private var backoff = LaunchBackoff()
    private var hasPause = false
    private var owesLaunch = false
    private var left: Bounds
    private let bounds: Bounds
    /// All that the app wanted, in order; the last is what it wants now.
    private var intents = [Intent()]
    private var broken: String?

    /// The intents whose saves have ended, by their places; those that are durable, and those that failed.
    private final class Receipts {
        var ended: Set<Int> = [0]
        var hasFailed = false
    }

    init(_ bounds: Bounds) {
        self.bounds = bounds
        left = bounds
        keeper = RecordKeeper(loop: loop)
        _ = keeper.open(storage)
        handle(.hasManager(true))
    }

    private var intent: Intent { intents[intents.count - 1] }
    private var isRunning: Bool { if case .notRunning = lifecycle.phase { false } else { true } }

    // MARK: Moves

    var moves: [Move] {
        var moves: [Move] = lifeMoves
        if hasTimer { moves.append(.timeIsUp) }
        if hasActivityTimer { moves.append(.activityTimeIsUp) }
        if hasPause { moves.append(.pauseEnds) }
        if left.events > 0, bounds.changes == 0 || !intent.connections.isEmpty { moves.append(.event) }
        if isRunning, !isSuspended, left.changes > 0 {
            moves += Self.peers.indices.map { intent.connections[Self.peers[$0]] == nil ? .connect($0) : .cancel($0) }
        }
        if storage.isChanging {
            moves.append(.writeEnds(true))
            if left.failures > 0 { moves.append(.writeEnds(false)) }
        } else if receipts.hasFailed {
            moves.append(.retry)
        }
        if left.stops > 0, intents.count > 1 {
            moves.append(.serviceStops(isWritten: false))
            if storage.isChanging { moves.append(.serviceStops(isWritten: true)) }
        }
        return moves
    }

    private var lifeMoves: [Move] {
        var moves: [Move] = []
        if left.opens > 0, lifecycle.phase != .foreground { moves.append(.open) }
        guard isRunning else { return moves }
        if lifecycle.phase == .foreground { moves.append(.leave) }
        if bounds.tasks, !isSuspended { moves.append(.task(!hasTask)) }
        if left.activities > 0 { moves.append(.activity(true)) }
        if hasActivityTimer { moves.append(.activity(false)) }
        if left.ends > 0 {
            moves += [.end(.crashed), .end(.forceQuit)]
            if isSuspended { moves.append(.end(.removedFromMemory)) }
        }
        return moves
    }

    mutating func perform(_ move: Move) {
        switch move {
        case .open: open()
        case .leave:
            isPrivileged = hasActivityTimer
            handle(.left)
        case .activity(let begins):
            if begins { left.activities -= 1 } else { isPrivileged = false }
            handle(.liveActivity(begins))
        case .activityTimeIsUp:
            (hasActivityTimer, isPrivileged) = (false, false)
            handle(.liveActivity(false))
        case .task(let begins):
            hasTask = begins
            handle(.asksForTime(begins))
        case .event:
            left.events -= 1
            report()
        case .timeIsUp:
            hasTimer = false
            handle(.timeIsUp)
        case .pauseEnds:
            hasPause = false
            handle(.pauseEnded)
        case .end(let end):
            left.ends -= 1
            self.end(end)
        case .connect(let peer): apply(.central(.peer(Self.peers[peer], .connect(ConnectOptions()))))
        case .cancel(let peer): apply(.central(.peer(Self.peers[peer], .cancelConnection)))
        case .writeEnds(let succeeds):
            if !succeeds { left.failures -= 1 }
            receipts.hasFailed = !succeeds
            storage.endChange(succeeds)
        case .retry:
            receipts.hasFailed = false
            loop.run(for: RecordKeeper.retryPause)
            if !storage.isChanging { broken = "a failed save is not repeated" }
        case .serviceStops(let isWritten):
            left.stops -= 1
            stop(afterWriting: isWritten)
        }
    }

    // MARK: The process

    private mutating func open() {
        left.opens -= 1
        isPrivileged = false
        if isRunning { return handle(.entered) }
        // The user's launch counts as a new beginning.
        (backoff, hasPause, owesLaunch) = (LaunchBackoff(), false, false)
        start(AppLifecycle())
    }

    private mutating func start(_ lifecycle: AppLifecycle) {
        if isRunning { broken = "a second process is launched" }
        self.lifecycle = lifecycle
        (isSuspended, hasTask, hasTimer, owesEvent, owesLaunch) = (false, false, false, false, false)
        perform(lifecycle.firstActions)
        handle(.hasManager(true))
    }

    private mutating func report() {
        if isRunning {
            owesEvent = isSuspended
            return handle(.eventDelivered)
        }
        guard lifecycle.phase != .notRunning(.forceQuit) else { return }
        owesLaunch = true
        handle(.wanted)
    }

    private mutating func end(_ end: AppEnd) {
        handle(.ended(end))
        owesEvent = false
        switch end {
        case .forceQuit:
            (backoff, hasPause) = (LaunchBackoff(), false)
            for peer in intent.peers { apply(.central(.peer(peer, .cancelConnection))) }
        // A process that ends soon after its launch.
        case .crashed: handle(.processEnded(after: .seconds(1)))
        case .removedFromMemory, .deviceRestarted: break
        }
    }

    private mutating func handle(_ event: AppLifecycle.Event) { perform(lifecycle.handle(event)) }

    private mutating func perform(_ actions: [AppLifecycle.Action]) {
        for action in actions {
            switch action {
            case .startTimer: hasTimer = true
            case .endTimer: hasTimer = false
            case .startActivityTimer: hasActivityTimer = true
            case .endActivityTimer: hasActivityTimer = false
            case .suspend: (isSuspended, hasTask) = (true, false)
            case .resume: (isSuspended, owesEvent) = (false, false)
            case .end: (isSuspended, hasTask, isPrivileged) = (false, false, false)
            }
        }
    }

    private mutating func handle(_ event: LaunchBackoff.Event) {
        for action in backoff.handle(event) {
            switch action {
            case .launch: if owesLaunch { start(AppLifecycle(inBackground: true)) }
            case .startPause: hasPause = true
            }
        }
    }

    // MARK: The record

    private mutating func apply(_ request: Request) {
        left.changes -= 1
        var new = intent
        new.apply(request)
        intents.append(new)
        let (place, receipts) = (intents.count - 1, receipts)
        keeper.keep(record(new), of: Self.app) { receipts.ended.insert(place) }
    }

    private func record(_ intent: Intent) -> AppRecord? {
        guard intent != Intent() else { return nil }
        let options = ManagerOptions(showsPowerAlert: true, restoreIdentifier: "central")
        let manager = ManagerRecord(role: .central, options: options, intent: intent)
        return AppRecord(app: Self.app, declaration: AppDeclaration(), managers: [manager])
    }

    /// The service stops and starts again, with what the storage contains.
    private mutating func stop(afterWriting isWritten: Bool) {
        keeper.close()
        storage.crash(afterWriting: isWritten)
        keeper = RecordKeeper(loop: loop)
        let found = keeper.open(storage)?.apps.first?.managers.first?.intent ?? Intent()
        let oldest = bounds.failures > left.failures ? 0 : receipts.ended.max() ?? 0
        if !intents[oldest...].contains(found) { broken = "the record has lost what was kept" }
        intents = [found]
        (receipts.ended, receipts.hasFailed) = ([0], false)
        if isRunning { handle(.ended(.deviceRestarted)) }
        (backoff, hasPause, owesLaunch, owesEvent) = (LaunchBackoff(), false, false, false)
    }

    // MARK: Rules

    var fault: String? {
        if let broken { return broken }
        if isSuspended != (lifecycle.phase == .suspended) {
            return "the process is suspended, or runs, against its phase"
        }
        if lifecycle.phase == .background, !hasTimer { return "the app runs in the background for ever" }
        if lifecycle.phase == .foreground, hasTimer { return "a timer runs for an app in front" }
        if hasActivityTimer != lifecycle.hasActivity { return "a Live Activity has no end, or a timer no activity" }
        if lifecycle.isPrivileged != isPrivileged { return "the privileges are not those of the Live Activity" }
        if owesEvent, !hasTimer { return "an event never reaches the suspended app" }
        if owesLaunch, !hasPause { return "an event never launches the app" }
        guard !storage.isChanging, !receipts.hasFailed else { return nil }
        if receipts.ended.count != intents.count { return "a save has no outcome" }
        return record(intent)?.encoded().bytes == storage.slots.values.first ? nil : "the storage has an older record"
    }

    var key: String {
        """
        \(wholeDescription(lifecycle))\(wholeDescription(backoff))\(hasTimer)\(hasActivityTimer)\
        \(isPrivileged)\(isSuspended)\(hasTask)\(owesEvent)\
        \(hasPause)\(owesLaunch)\(wholeDescription(left))\(intents.map { Self.name($0) })\(receipts.ended.sorted())\
        \(receipts.hasFailed)\(storage.isChanging)\(storage.slots.values.map { $0.hashValue })\(broken ?? "")
        """
    }

    private static func name(_ intent: Intent) -> String {
        peers.map { intent.connections[$0] == nil ? "-" : "+" }.joined()
    }
}
