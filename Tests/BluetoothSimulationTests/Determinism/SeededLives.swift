import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import Dispatch
import EventLoops
import Radio
import ServiceMessages
import Synchronization

/// A world of random apps whose processes end at arbitrary times and on any thread, and start again. Each seed must
/// produce one story and one set of captures, on every machine.
final class SeededLives {
    /// Digests that identify a run.
    struct Digests: Equatable, CustomStringConvertible {
        /// The callbacks and phases of all apps in order, with their times.
        let story: String
        /// The packets between hosts and controllers.
        let packets: String
        /// The packets on the air.
        let air: String

        var description: String { "story=\(story) packets=\(packets) air=\(air)" }
    }

    private enum Step: CaseIterable {
        case wait, measure, measureMany, endAtAWord, endBetweenSteps, endOnAnotherThread, end, open, leave, move, power,
            plug, restart
    }

    private struct Resident {
        let device: SimulatedDevice
        let app: String
    }

    /// The current instances of the belts' apps.
    private final class Belts: Sendable {
        private let sensors = Mutex<[Int: Sensor]>([:])

        func set(_ sensor: Sensor, at number: Int) { sensors.withLock { $0[number] = sensor } }
        func measure(_ value: UInt8) {
            for (_, sensor) in sensors.withLock({ $0 }).sorted(by: { $0.key < $1.key }) { sensor.measure(value) }
        }
        func letGo() { sensors.withLock { $0 = [:] } }
    }

    private let world: SimulatedWorld
    private let random: RandomSource
    private let story = StoryDigest()
    private let packets = StoryDigest()
    private let air = StoryDigest()
    private let belts = Belts()
    private var residents: [Resident] = []
    private var isAway: Set<String> = []
    private var isOff: Set<String> = []
    private var isUnplugged: Set<String> = []
    private var values: UInt8 = 0

    private init(seed: UInt64) {
        random = RandomSource(seed: seed).split(9)
        var radio = Radio.Configuration()
        radio.lossRate = random.below(3) == 0 ? 0.02 : 0
        world = SimulatedWorld(seed: seed, radio: radio)
        world.captureAir { [air] in air.add($0) }
        for number in 0..<1 + Int(random.below(2)) { addBelt(number) }
        for number in 0..<1 + Int(random.below(2)) { addPhone(number) }
    }

    /// Runs a world with this seed for a number of steps.
    static func digests(seed: UInt64, steps: Int = 24) -> (digests: Digests, story: [String]) {
        let lives = SeededLives(seed: seed)
        for _ in 0..<steps { lives.step() }
        lives.endAll()
        let digests = Digests(story: lives.story.text, packets: lives.packets.text, air: lives.air.text)
        return (digests, lives.story.lines)
    }

    // MARK: Setup

    private func addDevice(_ name: String, at x: Double) -> SimulatedDevice {
        let device = world.addDevice(named: name, at: Position(x: x)) { [packets] in packets.add($0) }
        let note = note(name)
        device.watchApps { app, phase in note("\(app) is \(phase)") }
        return device
    }

    /// Adds a device's lines to the story, with their time.
    private func note(_ name: String) -> @Sendable (String) -> Void {
        // Weak: the loop retains the closure.
        { [weak loop = world.loop, story] line in
            guard let loop else { return }
            story.add("\(loop.waitFor { loop.now.nanoseconds }) \(name): \(line)")
        }
    }

    private func addBelt(_ number: Int) {
        let device = addDevice("Belt \(number)", at: Double(number))
        let note = note(device.name)
        let identifier = random.below(3) > 0 ? Sensor.identifier : nil
        let modes: AppDeclaration.BackgroundModes = random.below(3) > 0 ? .peripheral : []
        device.install("sensor", declaring: AppDeclaration(backgroundModes: modes)) { [belts] _, launch in
            note(launch.line)
            let sensor = Sensor(Journal(note), identifier: identifier)
            belts.set(sensor, at: number)
            return sensor
        }
        residents.append(Resident(device: device, app: "sensor"))
        device.open("sensor")
    }

    private func addPhone(_ number: Int) {
        let device = addDevice("Phone \(number)", at: 2 + Double(number))
        for app in 0..<1 + Int(random.below(2)) {
            addCollector("collector \(app)", of: device)
            device.open("collector \(app)")
        }
    }

    private func addCollector(_ name: String, of device: SimulatedDevice) {
        let note = note("\(device.name), \(name)")
        let identifier = random.below(4) > 0 ? Collector.identifier : nil
        let modes: AppDeclaration.BackgroundModes = random.below(3) > 0 ? .central : []
        // Some processes end themselves in a callback.
        let faults = ["value [0, 7]", "disconnected", "connected", "restored"]
        let fault = random.below(2) == 0 ? faults[Int(random.below(UInt64(faults.count)))] : nil
        let crashes = 1 + Int(random.below(3))
        let count = Mutex(0)
        device.install(name, declaring: AppDeclaration(backgroundModes: modes)) { app, launch in
            note(launch.line)
            let clock = app.device.world.clock
            app.task {
                while true {
                    try await Task.sleep(for: .seconds(7), clock: clock)
                    note("wakes")
                }
            }
            let journal = Journal { line in
                note(line)
                guard let fault, line.hasPrefix(fault),
                    count.withLock({
                        $0 += 1; return $0 <= crashes
                    })
                else { return }
                app.crash()
            }
            return Collector(journal, identifier: identifier)
        }
        residents.append(Resident(device: device, app: name))
    }

    // MARK: Steps

    private func step() {
        let step = Step.allCases[Int(random.below(UInt64(Step.allCases.count)))]
        let resident = residents[Int(random.below(UInt64(residents.count)))]
        switch step {
        case .wait: pass(.milliseconds(Int64(random.below(20_000))))
        case .measure: measure(1 + Int(random.below(3)))
        case .measureMany: measure(12)
        case .endAtAWord: endAtAWord(resident)
        case .endBetweenSteps: endBetweenSteps(resident)
        case .endOnAnotherThread: elsewhere(end(of: resident))
        case .end: end(of: resident)()
        case .open: resident.device.open(resident.app)
        case .leave: resident.device.app(resident.app)?.leave()
        case .move:
            let name = resident.device.name
            let isBack = isAway.remove(name) != nil
            if !isBack { isAway.insert(name) }
            resident.device.move(to: Position(x: isBack ? 1 : 5_000))
        case .power:
            let isOn = isOff.remove(resident.device.name) != nil
            if !isOn { isOff.insert(resident.device.name) }
            resident.device.setPower(isOn, by: random.below(2) == 0 ? .settings : .controlCentre)
        case .plug:
            let isBack = isUnplugged.remove(resident.device.name) != nil
            if !isBack { isUnplugged.insert(resident.device.name) }
            resident.device.setController(isPluggedIn: isBack)
        case .restart: if random.below(2) == 0 { resident.device.restart() }
        }
        pass(.milliseconds(Int64(random.below(4_000))))
    }

    private func pass(_ duration: Duration) { world.run(for: duration) }

    private func measure(_ count: Int) {
        for _ in 0..<count {
            values = (values + 1) % 16
            belts.measure(values)
        }
    }

    /// Stops the world after a few more lines, whatever is in progress, and ends a process there.
    private func endAtAWord(_ resident: Resident) {
        let end = end(of: resident)
        let isElsewhere = random.below(2) == 0
        stopSoon {}
        isElsewhere ? elsewhere(end) : end()
    }

    private func endBetweenSteps(_ resident: Resident) { stopSoon(end(of: resident)) }

    /// Runs until a few more lines have been added, and calls `body` between two steps of the loop.
    private func stopSoon(_ body: @Sendable () -> Void) {
        let count = story.count + 1 + Int(random.below(4))
        measure(2)
        world.run(for: .seconds(40)) { [story] in
            guard story.count >= count else { return false }
            body()
            return true
        }
    }

    private func end(of resident: Resident) -> @Sendable () -> Void {
        let (app, choice) = (resident.device.app(resident.app), random.below(5))
        return {
            switch choice {
            case 0: app?.forceQuit()
            case 1, 2: app?.removeFromMemory()
            default: app?.crash()
            }
        }
    }

    /// Calls `body` on another thread, and waits for it.
    private func elsewhere(_ body: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        DispatchQueue(label: "elsewhere").async(group: group, execute: body)
        group.wait()
    }

    private func endAll() {
        pass(.seconds(10))
        for resident in residents { resident.device.app(resident.app)?.forceQuit() }
        belts.letGo()
        pass(.seconds(1))
    }
}
