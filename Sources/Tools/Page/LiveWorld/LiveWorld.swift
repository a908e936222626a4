import Accessories
import Administration
import AppAdvice
import BluetoothService
import BluetoothSimulation
import EventLoops
import RadioEnergy
import ServiceMessages

/// A world with a heart rate sensor and a phone with an app, which a person changes while it runs.
///
/// It does nothing by itself: commands come in, time passes by ``advance(to:)``, and its state can be read. All acts
/// happen at whole milliseconds of the world, between two runs, so that a test which repeats them has the same story.
/// Used by one thread.
final class LiveWorld {
    /// The number of acts that a world remembers. A saved test has no more.
    static let maximumActs = 2_000
    static let maximumWalls = 32
    /// The loss of all packets, with which a link is dropped, and how often to look whether it has ended.
    private static let silence = DeviceFault(.lossy, 1)
    private static let dropPoll: Int64 = 100
    /// The longest time in which a step waits for an event.
    static let longestStep = Duration.seconds(60)
    /// The device whose system the page shows.
    static let phoneName = "Phone"
    static let app = "watch"
    /// The path loss in a building. It makes the range 68 m.
    static let exponent = 3.0
    static let start = Position(x: 40, y: 20)
    static let profile = RadioProfile.nrf52832
    /// The sensor's battery: a coin cell CR2032 with 230 mAh.
    static let battery = Charge.milliampereHours(230)
    /// The faults that the person can choose. Those of the sensor's app would need an app that can be seen.
    static let faults: [DeviceFault.Kind] = [
        .outOfRange, .lossy, .jammedChannel, .lowBattery, .batteryReplaced, .reboot, .newFirmware, .slowAnswers,
        .noAnswers, .malformedAnswers, .shortAnswers, .longAnswers, .attError, .mtuRefused, .notificationFlood,
        .parameterFlood, .airplaneMode,
    ]

    /// An act and its time.
    struct Deed: Hashable, Sendable {
        let milliseconds: Int64
        let act: WorldAct
        /// Whether the act drops the link once.
        var isDrop = false
        /// Whether a later move of the same device at the same instant leaves this one without an effect. Only the story
        /// tells both.
        var isReplaced = false
    }

    let seed: UInt64
    let story = StoryLog()
    let lives = WorldLives()
    private let causes = WorldCauses()
    let phone: SimulatedDevice
    let sensor: SimulatedAccessory
    let screen = Screen()
    /// The charges that the radios of the phone and the sensor have drawn since the beginning.
    let phoneEnergy: DeviceEnergy
    let sensorEnergy: DeviceEnergy
    private(set) var deeds: [Deed] = []
    /// What follows in the history that this world repeats; nil at its last instant.
    private(set) var ahead: WorldRecord?
    private(set) var walls: [Wall] = []
    private(set) var noise: Double?
    /// The faults that last.
    private(set) var begun: [DeviceFault] = []
    /// Whether all packets of the sensor get lost until its link has ended.
    private(set) var isDropping = false
    private let world: SimulatedWorld
    private let air: ShownAir
    /// The numbers of packets so far, and after the present in the history that this world repeats.
    private var counts = PacketCounts()

    /// - Parameters:
    ///   - opensApp: Whether the app is opened at once, rather than by ``openApp()``.
    ///   - record: The history of an earlier world with this seed, whose acts are repeated at their times.
    ///   - loop: The loop of the world.
    ///   - accessory: The sensor.
    ///   - makeApp: Returns the app of the phone, whose argument shows a line to its user.
    init(
        seed: UInt64,
        opensApp: Bool = true,
        repeating record: WorldRecord? = nil,
        loop: VirtualEventLoop = VirtualEventLoop(),
        accessory: ReadyMadeAccessory = .heartRate,
        app makeApp: @escaping @Sendable (@escaping @Sendable (String) -> Void) -> any Sendable = {
            HeartRateWatch(show: $0)
        }
    ) {
        self.seed = seed
        ahead = record
        if let record { counts = record.counts }
        let (world, story, screen) = (SimulatedWorld(seed: seed, loop: loop), story, screen)
        self.world = world
        Self.watch(world, loop, story, lives, causes)
        world.changeAir { $0.propagation.exponent = LiveWorld.exponent }
        phone = world.addDevice(named: Self.phoneName, options: .phone)
        phoneEnergy = DeviceEnergy(of: phone, Self.profile)
        sensor = world.addAccessory(accessory, at: Self.start)
        sensorEnergy = DeviceEnergy(of: sensor.device, Self.profile)
        air = world.showAir(to: phone)
        let causes = causes
        phone.withSystem { system in
            _ = system.tap.add(for: nil, { causes.add($0) }, amend: { causes.amend($0, $1) })
        }
        phone.install(Self.app, declaring: AppDeclaration(backgroundModes: .central)) { [weak world] _, _ in
            makeApp { [weak world] line in
                screen.show(line)
                story.add(.changed("the app shows: \(line)"), of: "", at: world?.now ?? .zero)
            }
        }
        if opensApp { openApp() }
    }

    /// Lets the story, the lives and the causes follow what happens. The loop keeps the observers.
    private static func watch(
        _ world: SimulatedWorld,
        _ loop: VirtualEventLoop,
        _ story: StoryLog,
        _ lives: WorldLives,
        _ causes: WorldCauses
    ) {
        world.watch(StoryEvent.kinds.union(.practices)) { [weak loop] device, event in
            guard let loop else { return }
            let time = loop.now - Instant.zero
            let told = story.add(event, of: device, at: time)
            causes.add(event, of: device, at: time, told)
            if let told, device == phoneName, case .observed(let observation) = event {
                lives.add(observation, told.text, at: time)
            }
        }
        loop.whenQueueBlocks { [weak loop] queue in
            let time = (loop?.reading ?? Instant.zero) - Instant.zero
            story.add(.changed(causes.noteBlocked(queue.label, at: time)), of: phoneName, at: time)
        }
    }

    /// Opens the app for the first time. A saved test does the same, before time passes.
    func openApp() {
        // Only later changes of an app's phase are events of the phone.
        story.add(.changed("the user opens \(Self.app)"), of: Self.phoneName, at: world.now)
        lives.open(at: world.now)
        phone.open(Self.app)
    }

    var milliseconds: Int64 { Int64(world.now / .milliseconds(1)) }

    // MARK: Time

    /// Lets time pass. Stops early, at a whole millisecond, once `isEnough` is true.
    func advance(by duration: Int64, until isEnough: @escaping @Sendable () -> Bool = { false }) {
        let end = milliseconds + duration
        repeatActs()
        repeat {
            let now = milliseconds
            var next = min(end, ahead?.nextInstant ?? end)
            if isDropping, ahead == nil { next = min(next, now + Self.dropPoll) }
            run(for: next - now, until: isEnough)
        } while milliseconds < end && !isEnough()
    }

    private func run(for milliseconds: Int64, until isEnough: @escaping @Sendable () -> Bool) {
        world.run(for: .milliseconds(milliseconds), until: isEnough)
        finishMillisecond()
        endDrop()
        repeatActs()
        counts.note(phone.withSystem { $0.tap.lastNumber }, at: self.milliseconds)
    }

    /// Returns the latest known instant from which on a number of packets come before another instant, in milliseconds;
    /// nil if there is none.
    func instant(with packets: Int, before milliseconds: Int64) -> Int64? {
        counts.instant(with: UInt64(packets), before: milliseconds)
    }

    /// Leaves out the empty packets of links on which nothing else happens, or shows them again.
    func leaveOutQuietFrames(_ areLeftOut: Bool) { air.leaveOutQuietFrames(areLeftOut) }

    /// Lets time pass until the next event of the story. Returns whether there was one.
    func step() -> Bool {
        let (story, events) = (story, story.events)
        let end = milliseconds + Int64(Self.longestStep / .milliseconds(1))
        repeatActs()
        repeat {
            run(for: min(end, ahead?.nextInstant ?? end) - milliseconds) { story.events > events }
        } while story.events == events && milliseconds < end
        return story.events > events
    }

    /// Runs everything that is due within the present millisecond, as a test does that lets whole milliseconds pass.
    private func finishMillisecond() {
        let part = world.now.components.attoseconds % 1_000_000_000_000_000
        world.run(for: part == 0 ? .zero : .nanoseconds(1_000_000 - part / 1_000_000_000))
    }

    /// The time of day at the beginning of the world, in seconds since the beginning of 1970.
    var calendarStart: Double { world.calendarStart }

    /// Runs a closure with the phone's system, as a task of the world.
    func withPhone(_ body: @escaping @Sendable (BluetoothSystem) -> Void) { phone.withSystem(body) }

    func bind<Value>(_ value: Value) -> LoopBound<Value> { LoopBound(value, loop: world.loop) }

    func end() {
        world.end()
        world.run(for: .zero)
    }

    /// Returns why something happened, as far as the world remembers.
    func why(_ subject: WorldCauses.Subject) -> WorldWhy {
        let chain = causes.chain(of: subject, deeds, at: world.now, story.words)
        return WorldWhy(subject, chain, effects: causes.effects(of: subject))
    }

    // MARK: Acts

    /// Drops the link once: all packets get lost until the supervision timeout has ended it. A saved test repeats both.
    func dropLink() throws(WorldRefusal) {
        guard hasLink else { throw WorldRefusal("there is no link to drop") }
        guard !begun.contains(where: { $0.kind == .lossy }) else {
            throw WorldRefusal("the sensor loses packets already; end that first")
        }
        try perform(.begin(Self.silence))
        deeds[deeds.count - 1].isDrop = true
        isDropping = true
    }

    private var hasLink: Bool { phone.withSystem { !$0.status.links.isEmpty } }

    /// Lets packets through again, once the link that was to be dropped has ended. A history that is repeated has the end.
    private func endDrop() {
        guard isDropping, ahead == nil, !hasLink, let index = begun.firstIndex(of: Self.silence) else { return }
        end(at: index)
        // Beyond the bound of acts, too: the sensor must not stay silent.
        remember(.end(Self.silence))
    }

    /// Performs an act, unless it would have no effect. What followed in a history that is repeated is discarded.
    func perform(_ act: WorldAct) throws(WorldRefusal) {
        guard deeds.count < Self.maximumActs else {
            throw WorldRefusal("a test has at most \(Self.maximumActs) acts; save it, and restart the world")
        }
        try apply(act)
        ahead = nil
        counts.forget(after: milliseconds)
        remember(act)
    }

    /// Performs the acts of the history that are due. They had an effect before, so none is refused.
    private func repeatActs() {
        while let deed = ahead?.takeDeed(at: milliseconds) {
            try? apply(deed.act)
            if deed.isDrop { isDropping = true }
            deeds.append(deed)
        }
        if let end = ahead?.end, end <= milliseconds { ahead = nil }
    }

    /// The history of the world, with what follows in the one that it repeats.
    var record: WorldRecord {
        WorldRecord(deeds + (ahead?.deeds ?? []), end: max(milliseconds, ahead?.end ?? 0), counts)
    }

    private func apply(_ act: WorldAct) throws(WorldRefusal) {
        switch act {
        case .move(let device, let position): move(device, to: position)
        case .begin(let fault): try begin(fault)
        case .end(let fault): try end(fault)
        case .app(let verb): try perform(verb)
        case .setNoise(let noise): set(noise)
        case .addWall(let wall):
            guard walls.count < Self.maximumWalls else {
                throw WorldRefusal("a world has at most \(Self.maximumWalls) walls; remove one")
            }
            walls.append(wall)
            world.changeAir { $0.walls.append(wall) }
        case .removeWall(let index):
            guard walls.indices.contains(index) else { throw WorldRefusal("there is no such wall any more") }
            walls.remove(at: index)
            world.changeAir { $0.walls.remove(at: index) }
        }
    }

    /// Notes an act.
    private func remember(_ act: WorldAct) {
        let deed = Deed(milliseconds: milliseconds, act: act)
        if case .move(let device, _) = act, let last = deeds.last, last.milliseconds == deed.milliseconds,
            case .move(device, _) = last.act
        {
            deeds[deeds.count - 1].isReplaced = true
        }
        deeds.append(deed)
    }

    /// Moves a device. A sensor that was taken out of range is brought back first.
    private func move(_ device: WorldAct.Device, to position: Position) {
        if device == .sensor, let index = begun.firstIndex(where: { $0.kind == .outOfRange }) {
            let fault = begun[index]
            end(at: index)
            remember(.end(fault))
        }
        self[device].move(to: position)
    }

    private subscript(device: WorldAct.Device) -> SimulatedDevice {
        switch device {
        case .phone: phone
        case .sensor: sensor.device
        }
    }

    private func begin(_ fault: DeviceFault) throws(WorldRefusal) {
        guard Self.faults.contains(fault.kind) else { throw WorldRefusal("the sensor cannot have this fault") }
        guard !begun.contains(fault) else { throw WorldRefusal("the sensor has this fault already") }
        sensor.begin(fault)
        if fault.kind == .lossy { isDropping = false }
        guard fault.kind.lasts else { return }
        // Jammed channels add up; of others, the last one counts.
        begun.removeAll { $0.kind == fault.kind && fault.kind != .jammedChannel }
        if fault.isOfAnswers { begun.removeAll(where: \.isOfAnswers) }
        begun.append(fault)
    }

    private func end(_ fault: DeviceFault) throws(WorldRefusal) {
        guard let index = begun.firstIndex(of: fault) else { throw WorldRefusal("the sensor has no such fault now") }
        end(at: index)
    }

    private func end(at index: Int) {
        let fault = begun.remove(at: index)
        sensor.end(fault)
        if fault.kind == .lossy { isDropping = false }
    }

    private func perform(_ verb: WorldAct.AppVerb) throws(WorldRefusal) {
        let app = phone.app(Self.app)
        let isRunning = if let app, case .notRunning = app.phase { false } else { app != nil }
        guard isRunning || verb == .open || verb == .forceQuit else {
            throw WorldRefusal("the app is not running; open it first")
        }
        switch verb {
        case .open: if isRunning { phone.open(Self.app) } else { openApp() }
        case .leave: app?.leave()
        case .suspend: app?.suspend()
        case .crash: app?.crash()
        case .removeFromMemory: app?.removeFromMemory()
        case .forceQuit: app?.forceQuit()
        case .startLiveActivity:
            guard app?.startLiveActivity() == true else {
                throw WorldRefusal("a Live Activity starts only while the app is in the foreground")
            }
        case .endLiveActivity:
            guard app?.hasLiveActivity == true else { throw WorldRefusal("the app has no Live Activity") }
            app?.endLiveActivity()
        }
    }

    private func set(_ noise: Double?) {
        self.noise = noise
        let channels = (0..<40).map { UInt8($0) }
        world.changeAir {
            $0.channelNoise = noise.map { noise in channels.reduce(into: [:]) { $0[$1] = noise } } ?? [:]
        }
    }
}

extension DeviceFault {
    /// Whether it is a fault of answers to requests, of which a device has one at a time.
    fileprivate var isOfAnswers: Bool {
        switch kind {
        case .slowAnswers, .noAnswers, .malformedAnswers, .shortAnswers, .longAnswers, .attError, .mtuRefused: true
        default: false
        }
    }
}

extension DeviceFault.Kind {
    /// Whether the fault goes on until it is ended.
    var lasts: Bool {
        switch self {
        case .lowBattery, .batteryReplaced, .reboot, .factoryReset, .newFirmware, .bondLost, .newAddress, .appUpgraded:
            false
        default: true
        }
    }
}
