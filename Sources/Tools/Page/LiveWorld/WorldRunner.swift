import Administration
import AppAdvice
import BluetoothService
import BluetoothTypes
import Dispatch
import EventLoops
import Foundation
import RadioEnergy
import ServiceMessages
import Synchronization

/// Runs a ``LiveWorld`` on a thread of its own, at a pace, and tells what it looks like.
///
/// All methods may be called from any thread.
package final class WorldRunner: PageWorld {
    /// Receives the reason why a message was refused, empty if it was not, and a value for the sender alone. Called on
    /// any thread.
    package typealias Reply = @Sendable (_ error: String, PageValue?) -> Void

    static let maximumWaiting = 64
    /// The time between two looks at the clock while the world runs.
    static let tick = Duration.milliseconds(20)

    enum Job: Sendable {
        case message([UInt8], Reply)
        /// Tells the state to a page that has opened.
        case welcome(@Sendable (PageValue) -> Void)
        /// Tells the state again, for pages that have missed it.
        case refresh
        /// Opens the app, and lets the time of the world begin unless it is paused.
        case begin
        case tool(UInt64, WorldTool.Event)
        case stop
    }

    private let jobs = Mutex<[Job]>([])
    private let wake = DispatchSemaphore(value: 0)
    private let lastTool = Atomic<UInt64>(0)

    /// Creates a world. Its app is opened by ``begin()``, and its time stands still until a person lets it pass. That of
    /// each later world passes from ``begin()`` on, or it goes to the instant that was asked for.
    ///
    /// - Parameter publish: Called with each value for all pages, on the thread of the world.
    package init(seed: UInt64, publish: @escaping @Sendable (PageValue) -> Void) {
        Thread.detachNewThread { [self] in
            let loop = WorldLoop(seed: seed, publish: publish)
            while loop.perform(take()) { wait(loop.jobTimeout) }
        }
    }

    package func handle(_ message: [UInt8], answer: @escaping Reply) {
        guard add(.message(message, answer), atMost: Self.maximumWaiting) else {
            return answer("too much is asked of the world; wait a moment", nil)
        }
    }

    package func welcome(_ show: @escaping @Sendable (PageValue) -> Void) { add(.welcome(show)) }

    package func begin() { add(.begin) }

    package func refresh() { add(.refresh, atMost: Self.maximumWaiting) }

    /// Ends the world and its thread.
    package func stop() { add(.stop) }

    func nextTool() -> UInt64 { lastTool.add(1, ordering: .relaxed).newValue }

    @discardableResult
    func add(_ job: Job, atMost maximum: Int = .max) -> Bool {
        let isAdded = jobs.withLock { jobs in
            guard jobs.count < maximum else { return false }
            jobs.append(job)
            return true
        }
        if isAdded { wake.signal() }
        return isAdded
    }

    private func take() -> [Job] {
        jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
    }

    private func wait(_ timeout: Duration?) {
        guard let timeout else { return wake.wait() }
        _ = wake.wait(timeout: .now() + timeout / .seconds(1))
    }
}

/// The thread's side of a ``WorldRunner``.
private final class WorldLoop {
    private static let newsInterval = Duration.milliseconds(100)
    /// The time of the machine after which a run of the world makes way for messages.
    private static let longestRun = Duration.milliseconds(100)
    /// The number of lines of the story in one report, the last ones.
    private static let maximumLines = StoryLog.maximumLines

    private struct Tool {
        let end: LoopBound<WorldTool>
        let outlet: WorldOutlet
    }

    private let publish: @Sendable (PageValue) -> Void
    private let clock = ContinuousClock()
    private var world: LiveWorld
    private var pacer = WorldPacer()
    private let places = PlaceQueue()
    private var generation = 1
    /// Whether time has not begun yet.
    private var isHeld = true
    /// The instant that the world is on its way to, in milliseconds.
    private var target: Int64?
    /// The instant on the way to ``target`` before which pages forget all packets on the air, in milliseconds.
    private var quietEnd: Int64 = 0
    private var tools: [UInt64: Tool] = [:]
    private var lastStep: ContinuousClock.Instant
    private var lastNews: ContinuousClock.Instant
    private var publishedState = ""
    private var publishedLines = 0
    private var publishedLives = -1
    /// The lives of the history that is repeated, those after the present, too.
    private var knownLives: [WorldLife]?
    private var hasNews = true

    init(seed: UInt64, publish: @escaping @Sendable (PageValue) -> Void) {
        self.publish = publish
        world = LiveWorld(seed: seed, opensApp: false)
        (lastStep, lastNews) = (clock.now, clock.now)
        // The first visitor is to see the beginning.
        pacer.isRunning = false
        prepare()
    }

    /// How long to wait for the next job. Nil while only a job makes a difference.
    var jobTimeout: Duration? {
        if target != nil, !isHeld { return isBusy ? .milliseconds(1) : .zero }
        return pacer.isRunning ? WorldRunner.tick : hasNews ? Self.newsInterval : nil
    }

    /// Performs what has come, and lets time pass. Returns false at the end.
    func perform(_ jobs: [WorldRunner.Job]) -> Bool {
        for job in jobs {
            switch job {
            case .message(let octets, let reply): handle(octets, reply)
            case .welcome(let show): welcome(show)
            case .refresh: (publishedState, publishedLives, hasNews) = ("", -1, true)
            case .begin: begin()
            case .tool(let number, let event): handle(event, of: number)
            case .stop:
                end()
                return false
            }
        }
        let now = clock.now
        let due = pacer.due(after: now - lastStep)
        lastStep = now
        if let target, !isHeld {
            leap(to: target)
        } else if due > 0, !isHeld {
            advance(by: due)
            hasNews = true
        }
        if hasNews, target == nil, clock.now - lastNews >= Self.newsInterval { publishNews() }
        return true
    }

    // MARK: Other instants

    /// Goes to an instant of the history. To go back, the world begins again, and repeats its acts.
    private func goTo(_ milliseconds: Int64) throws(WorldRefusal) {
        let record = world.record
        guard milliseconds <= record.end else {
            throw WorldRefusal("the world has been up to \(WorldWords.time(.milliseconds(record.end))) so far")
        }
        pacer.isRunning = false
        target = milliseconds
        publish(.leap(true))
        if knownLives == nil { knownLives = world.lives.all }
        if milliseconds < world.milliseconds { beginAgain(seed: world.seed, repeating: record) }
        quietEnd = world.instant(with: PagePackets.maximumPackets, before: milliseconds) ?? 0
    }

    /// Lets time pass as fast as possible.
    private func leap(to target: Int64) {
        let left = target - world.milliseconds
        if left > 0, !isBusy {
            let quiet = quietEnd - world.milliseconds
            world.leaveOutQuietFrames(quiet > 0)
            for tool in tools.values { world.withPhone { _ in tool.end.value.hurry(showsAir: quiet <= 0) } }
            advance(by: quiet > 0 ? quiet : left)
        }
        if world.milliseconds >= target { arrive() }
    }

    /// Lets time pass while the tools keep up, and not for long: a message is not to wait behind either.
    private func advance(by milliseconds: Int64) {
        let end = clock.now + Self.longestRun
        let (clock, outlets) = (clock, tools.values.map(\.outlet))
        world.advance(by: milliseconds) { clock.now >= end || outlets.contains(where: \.isBusy) }
    }

    private var isBusy: Bool { tools.values.contains { $0.outlet.isBusy } }

    private func arrive() {
        guard target != nil else { return }
        (target, publishedState, hasNews) = (nil, "", true)
        world.leaveOutQuietFrames(false)
        flush()
        publishNews()
        // After all that the tools were sent.
        publish(.leap(false))
    }

    private func flush() {
        for tool in tools.values { world.withPhone { _ in tool.end.value.flush() } }
    }

    // MARK: Messages

    private func handle(_ octets: [UInt8], _ reply: @escaping WorldRunner.Reply) {
        hasNews = true
        do throws(WorldRefusal) {
            guard let message = try? JSONDecoder().decode(WorldMessage.self, from: Data(octets)) else {
                throw WorldRefusal("the message cannot be read; reload the page")
            }
            let command = try message.command
            if case .why(let subject) = command { return try explain(subject, reply) }
            reply("", try perform(command))
        } catch {
            reply(error.description, nil)
        }
    }

    private func perform(_ command: WorldCommand) throws(WorldRefusal) -> PageValue? {
        switch command {
        case .run: pacer.isRunning = true
        case .pause:
            pacer.isRunning = false
            arrive()
            flush()
        case .setSpeed(let speed): pacer.speed = speed
        case .restart(let seed): restart(seed: seed ?? world.seed)
        case .goTo(let milliseconds): try goTo(milliseconds)
        case .why: break
        case .step, .act, .dropLink, .writeTest:
            guard target == nil else { throw WorldRefusal("the world is on its way to another instant; wait a moment") }
            return try performHere(command)
        }
        return nil
    }

    /// Performs a command that is about the present.
    private func performHere(_ command: WorldCommand) throws(WorldRefusal) -> PageValue? {
        switch command {
        case .step:
            pacer.isRunning = false
            defer { flush() }
            guard world.step() else { throw WorldRefusal("nothing happened within \(LiveWorld.longestStep)") }
        case .act(let act): try world.perform(act)
        case .dropLink: try world.dropLink()
        case .writeTest:
            return PageValue(name: "worldTest", json: JSON.of(WorldTestText.text(of: world)), isReplaced: false)
        case .run, .pause, .setSpeed, .restart, .goTo, .why: break
        }
        return nil
    }

    /// Answers why something happened, as soon as the places of calls are known. The world goes on meanwhile.
    private func explain(_ subject: WorldCauses.Subject, _ reply: @escaping WorldRunner.Reply) throws(WorldRefusal) {
        guard places.count < PlaceQueue.maximum else {
            throw WorldRefusal("too much is asked of the world; wait a moment")
        }
        let answer = world.why(subject)
        places.add { reply("", PageValue(name: "why", json: JSON.of(answer.located()), isReplaced: false)) }
    }

    private func restart(seed: UInt64) {
        arrive()
        (pacer.isRunning, knownLives) = (true, nil)
        beginAgain(seed: seed)
    }

    /// Ends the world, and begins another one, which waits for ``begin()``.
    private func beginAgain(seed: UInt64, repeating record: WorldRecord? = nil) {
        end()
        world = LiveWorld(seed: seed, opensApp: false, repeating: record)
        generation += 1
        (publishedLines, publishedLives, isHeld) = (0, -1, true)
        prepare()
    }

    private func end() {
        tools.values.forEach { $0.end.value.end() }
        tools = [:]
        world.end()
    }

    private func begin() {
        guard isHeld else { return }
        isHeld = false
        world.openApp()
    }

    private func prepare() {
        let energy = world.phoneEnergy
        world.withPhone { system in
            system.energySource = energy
            system.adviceSource = { AdviceStream { energy.report.cost(of: $0) } }
        }
    }

    // MARK: Tools

    private func handle(_ event: WorldTool.Event, of number: UInt64) {
        switch event {
        case .began(let outlet): tools[number] = Tool(end: world.bind(WorldTool(outlet)), outlet: outlet)
        case .ended: tools.removeValue(forKey: number)?.end.value.end()
        case .received, .hasRoom:
            guard let tool = tools[number]?.end else { return }
            world.withPhone { tool.value.handle(event, $0) }
        }
    }

    // MARK: News

    private struct Lines: Encodable {
        let generation: Int
        let first: Int
        let lines: [Line]
    }

    /// A line as the page gets it: a text, a time in microseconds, and the number of an event.
    private struct Line: Encodable {
        let line: StoryLog.Line

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.unkeyedContainer()
            try fields.encode(line.text)
            try fields.encode(line.time)
            try fields.encode(line.event)
        }
    }

    private func welcome(_ show: (PageValue) -> Void) {
        show(state)
        show(lives)
        let (first, lines) = world.story.lines(from: publishedLines - Self.maximumLines)
        show(story(first, lines.prefix(max(0, publishedLines - first))))
    }

    private var state: PageValue {
        let json = JSON.of(WorldSnapshot(world, pacer, generation: generation, target: target))
        return PageValue(name: "world", json: json, isReplaced: true)
    }

    private func story(_ first: Int, _ lines: some Sequence<StoryLog.Line>) -> PageValue {
        let value = Lines(generation: generation, first: first, lines: lines.map(Line.init))
        return PageValue(name: "story", json: JSON.of(value), isReplaced: false)
    }

    /// The lives of the world: while a history is repeated, of all of it.
    private var lives: PageValue {
        let lives = world.ahead == nil ? world.lives.all : knownLives ?? world.lives.all
        return PageValue(name: "lives", json: JSON.of(lives), isReplaced: true)
    }

    private func publishNews() {
        (lastNews, hasNews) = (clock.now, false)
        if world.ahead == nil, knownLives != nil { (knownLives, publishedLives) = (nil, -1) }
        if world.lives.changes != publishedLives {
            publishedLives = world.lives.changes
            publish(lives)
        }
        let state = state
        if state.json != publishedState {
            publishedState = state.json
            publish(state)
        }
        let (first, lines) = world.story.takeChanges()
        guard !lines.isEmpty else { return }
        publishedLines = first + lines.count
        publish(story(first, lines))
    }
}

/// How much time of the world is due, in whole milliseconds.
///
/// A machine that cannot keep up loses time, rather than falling behind more and more.
struct WorldPacer: Sendable {
    /// The longest time of the wall clock that is made up for.
    static let maximumLag = Duration.milliseconds(200)

    var isRunning = true
    /// The seconds of the world in a second of the wall clock.
    var speed = 1.0
    private var left = 0.0

    /// Returns the milliseconds of the world that are due after a time of the wall clock.
    mutating func due(after wall: Duration) -> Int64 {
        guard isRunning else {
            left = 0
            return 0
        }
        let due = left + min(max(wall, .zero), Self.maximumLag) / .milliseconds(1) * speed
        left = due - due.rounded(.down)
        return Int64(due.rounded(.down))
    }
}

/// Answers that wait until the places of calls are looked up, which takes up to a second each.
private final class PlaceQueue: Sendable {
    static let maximum = 16

    private let queue = DispatchQueue(label: "harald.page.places")
    private let pending = Atomic(0)

    var count: Int { pending.load(ordering: .relaxed) }

    func add(_ work: @escaping @Sendable () -> Void) {
        pending.add(1, ordering: .relaxed)
        queue.async { [self] in
            work()
            pending.subtract(1, ordering: .relaxed)
        }
    }
}
