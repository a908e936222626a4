import AppAdvice
import BluetoothService
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import Testing

/// The simulated world of the running test.
///
/// Tests with the trait ``Testing/Trait/world`` have one of their own for each test case. In a ``WorldTestCase`` the
/// property of the same name takes the place of this one.
///
/// A test without the trait fails, and has an empty world.
///
/// - Precondition: The code runs in a task of a test.
public var world: TestWorld { TestWorld.slot?.world ?? MissingWorlds.world() }

/// A `SimulatedWorld` of BluetoothSimulation for one test: with time that the test waits for, expectations with
/// deadlines, and a record of what happened for the report of a failure.
///
/// Its methods that let time pass have two forms. The asynchronous ones run the world on a thread of its own, and the
/// others on the thread of the caller, for XCTest. Call methods of one world one after the other.
public final class TestWorld: WorldOfDevices {
    /// The number of calls and misuses of which the world keeps the text.
    static let maximumLines = 1_000
    /// The number of lines of misuse, or of calls without effect, that the text of an issue contains.
    static let maximumIssueLines = 8
    /// The number of departures from a capture that the text of an issue contains.
    private static let maximumDepartures = 20

    @TaskLocal static var slot: WorldSlot?

    /// The simulated world beneath, for everything that this class does not forward.
    public let simulation: SimulatedWorld
    /// The name of the test.
    public let name: String
    /// Records issues, which Swift Testing and XCTest do in different ways.
    let report: @Sendable (WorldIssue) -> Void
    let story = WorldStory()
    let advisors = WorldAdvice()
    let energy = WorldEnergy()
    let executor: WorldExecutor
    let recordings: WorldRecordings?
    let appTime: WorldTrait.AppTime
    /// The arguments of the test program that run this test alone.
    let rerun: [String]
    /// The argument of `swift test --filter` that runs this test alone.
    let filter: String
    private let checked = Mutex(0)
    /// The issues of other worlds, with their explanations.
    private let others = Mutex<[(text: String, explanation: WorldExplanation)]>([])

    /// Creates a world.
    ///
    /// - Parameters:
    ///   - seed: The seed of all randomness in the world.
    ///   - name: The name of the test.
    ///   - appTime: The time that clocks and timers in the code of apps follow.
    ///   - keepsCaptures: Whether to keep captures of the air and of each device for the report of a failure.
    ///   - rerun: The arguments of the test program that run this test alone.
    ///   - filter: The argument of `swift test --filter` that runs this test alone.
    ///   - report: Records an issue.
    init(
        seed: UInt64,
        name: String,
        _ appTime: WorldTrait.AppTime,
        keepsCaptures: Bool,
        rerun: [String] = [],
        filter: String = "",
        report: @escaping @Sendable (WorldIssue) -> Void
    ) {
        let simulation = SimulatedWorld(seed: seed, named: name)
        if appTime == .world { VirtualAppTime.follow(simulation) }
        let recordings = keepsCaptures ? WorldRecordings() : nil
        (self.simulation, self.name, self.report, self.recordings) = (simulation, name, report, recordings)
        executor = WorldExecutor(name)
        (self.appTime, self.rerun, self.filter) = (appTime, rerun, filter)
        // The loop keeps the observer, and this object keeps the loop.
        let loop = simulation.loop
        simulation.watch(WorldStory.kinds) { [story] device, event in
            story.add(WorldStory.Entry(time: loop.now - .zero, device: device, event: event))
        }
        simulation.watch(Advisor.kinds) { [advisors] device, event in
            if case .observed(let observation) = event { advisors.add(observation, of: device) }
        }
        (loop as? VirtualEventLoop)?.whenQueueBlocks { [story] in story.noteBlocked($0.label) }
        if let air = recordings?.air { simulation.captureAir { air.write($0) } }
    }

    /// The seed of all randomness in the world: that of the trait or test case, or `HARALD_SEED` of the environment.
    public var seed: UInt64 { simulation.seed }

    /// The time since the world began.
    public var now: Duration { simulation.now }

    /// The clock of the world, for `Task.sleep(for:clock:)` and other uses of a clock.
    public var clock: SimulatedClock { simulation.clock }

    /// Adds a device to the world and switches it on.
    ///
    /// - Parameters:
    ///   - name: The name of the device, also its GAP device name.
    ///   - position: The position of the device, in metres.
    ///   - options: The kind of the device, such as `.phone`, `.accessory` or `.gateway`.
    /// - Returns: The device.
    @discardableResult
    public func addDevice(
        named name: String,
        at position: Position = Position(),
        _ options: DeviceOptions = .phone
    ) -> SimulatedDevice {
        let packets = capture(ofDevice: name)
        let device = simulation.addDevice(named: name, at: position, options: options, capture: packets)
        followEnergy(of: device)
        return device
    }

    /// Adds a device whose controller plays back a capture.
    ///
    /// - Parameters:
    ///   - name: The name of the device, also its GAP device name.
    ///   - recording: The capture to play.
    ///   - number: The place of the recorded device among the devices of its world, from 1 on; by default the place of
    ///     the new device in this one.
    ///   - options: The kind of the device, such as `.phone`, `.accessory` or `.gateway`.
    /// - Returns: The device.
    @discardableResult
    public func addDevice(
        named name: String,
        playing recording: CapturedController,
        as number: Int? = nil,
        _ options: DeviceOptions = .phone
    ) -> SimulatedDevice {
        let packets = capture(ofDevice: name)
        return simulation.addDevice(named: name, playing: recording, as: number, options: options, capture: packets)
    }

    /// Expects that a device has sent what the capture contains that its controller plays back.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether there was no departure.
    @discardableResult
    public func expectNoDepartures(
        of device: SimulatedDevice,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        let departures = device.departures
        guard !departures.isEmpty else { return true }
        let title =
            "\(device.name) departs from the capture \(departures.count == 1 ? "once" : "\(departures.count) times")"
        let lines = departures.prefix(Self.maximumDepartures).map(\.description)
        report(WorldIssue(text: ([title] + lines).joined(separator: "\n"), place: sourceLocation))
        return false
    }

    /// Changes the radio channel for all devices: range, packet loss, noise and sources of interference.
    ///
    /// - Parameter change: Changes the configuration.
    public func changeAir(_ change: @escaping @Sendable (inout Radio.Configuration) -> Void) {
        simulation.changeAir(change)
    }

    /// Sets the quality of reception from one device to another.
    ///
    /// - Parameters:
    ///   - quality: The quality, or nil for that of the radio channel.
    ///   - sender: The sending device. The opposite direction is not affected.
    ///   - receiver: The receiving device.
    public func setQuality(_ quality: AirQuality?, from sender: SimulatedDevice, to receiver: SimulatedDevice) {
        simulation.setQuality(quality, from: sender, to: receiver)
    }

    /// Adds a line to the story, such as what an app shows its user. From any thread.
    ///
    /// - Parameter text: The line, without the time.
    public func note(_ text: String) {
        story.add(WorldStory.Entry(time: now, device: "", event: .changed(text)))
    }

    /// The misuse of the API by apps so far: the world's time, the device, the app, and why the call had no effect.
    ///
    /// A thousand of them are kept.
    public var misuse: [String] { story.misuse.map(WorldTime.line) }

    /// Receives the packets of a device that an extension of `WorldOfDevices` adds, such as an accessory: they are
    /// attached to a failure. Nil if there are no captures.
    public func capture(ofDevice name: String) -> (@Sendable ([UInt8]) -> Void)? {
        recordings?.addDevice(named: name).map { $0.write }
    }

    /// Reports an issue of another world, with the explanation of that one.
    func report(_ issue: WorldIssue, _ explanation: WorldExplanation) {
        others.withLock { $0.append((issue.text, explanation)) }
        report(issue)
    }

    /// Returns the explanation of an issue of another world; nil for issues of this one.
    func explanation(of text: String) -> WorldExplanation? {
        others.withLock { $0.first { $0.text == text }?.explanation }
    }

    /// The files of the issues of other worlds.
    var filesOfOthers: [WorldFile] { others.withLock { $0.flatMap(\.explanation.files) } }

    /// Ends everything in the world, and lets the apps release their objects.
    func end() {
        simulation.end()
        simulation.run(for: .zero)
    }

    /// Returns the misuse since the last call of this method.
    func takeMisuse() -> [StoryEvent] {
        let all = story.misuse
        return checked.withLock { checked in
            defer { checked = all.count }
            return [StoryEvent](all.dropFirst(checked))
        }
    }
}

/// An issue of a test in a world.
struct WorldIssue: Sendable {
    let text: String
    /// The place in the test; nil for the test as a whole.
    let place: SourceLocation?
}

/// Holds the world of a test until the test has ended. A task that survives the test keeps this object, but not the
/// world.
final class WorldSlot: Sendable {
    private let content: Mutex<TestWorld?>
    /// The number of lines of the story that the reports of failures cover; nil before the first failure.
    private let shown = Mutex<Int?>(nil)
    /// Whether a trait closer to the test has replaced this world by its own.
    private let replaced = Flag()

    init(_ world: TestWorld) {
        content = Mutex(world)
    }

    var world: TestWorld? { content.withLock { $0 } }

    var hasFailed: Bool { shown.withLock { $0 != nil } }

    var isReplaced: Bool { replaced.isSet }

    func replace() { _ = replaced.set() }

    func clear() { content.withLock { $0 = nil } }

    func withWorld<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        try await TestWorld.$slot.withValue(self) { try await notingOutsiders(body) }
    }

    // Swift 6.3 compiles a task-local function in an async function to code that crashes, if it optimizes it.
    @_optimize(none)
    private func notingOutsiders<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async rethrows -> Result {
        try await ServiceLocator.$onOutsider.withValue(noteOutsider, operation: body)
    }

    private var noteOutsider: @Sendable () -> Void { { [weak self] in self?.world?.story.noteOutsider() } }

    /// Returns the explanation of a failure with this text.
    func explain(_ failure: String = "", by report: FailureReport) -> [String] {
        shown.withLock { report.comments(after: &$0, to: failure) }
    }
}
