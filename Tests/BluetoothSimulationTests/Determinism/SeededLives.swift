import BluetoothTesting
import CoreBluetooth
import Dispatch
import EventLoops
import Synchronization

/// A world of random apps whose processes end at arbitrary times and on any thread, and start again.
final class SeededLives: Sendable {
    private struct Resident {
        let device: SimulatedDevice
        let app: String

        /// The app of a belt, unless it is not running or suspended.
        var sensor: Sensor? {
            switch device.app(app)?.phase {
            case .foreground, .background: device.app(app, as: Sensor.self)
            default: nil
            }
        }
    }

    /// The number of lines that apps have added to the story.
    private final class Count: Sendable {
        private let lines = Atomic(0)

        var current: Int { lines.load(ordering: .sequentiallyConsistent) }
        func add() { lines.add(1, ordering: .sequentiallyConsistent) }
    }

    private let world: TestWorld
    private let count = Count()
    private let residents: [Resident]
    private let values = Mutex<UInt8>(0)

    private init(in world: TestWorld) {
        self.world = world
        let random = RandomSource(seed: world.seed).split(9)
        let setup = Setup(world: world, count: count, random: random)
        if random.below(3) == 0 { world.changeAir { $0.lossRate = 0.02 } }
        let sensors = (0..<1 + Int(random.below(2))).map { setup.addBelt($0) }
        residents = sensors + (0..<1 + Int(random.below(2))).flatMap { setup.addPhone($0) }
    }

    /// The scenario. Its worlds have all faults that end, and processes that end in the middle of anything.
    @Sendable static func scenario(_ world: TestWorld) -> Scenario {
        let lives = SeededLives(in: world)
        return Scenario(faults: Set.recoverable.union(Set.rare))
            .step("measure", weight: 8) { lives.measure(1 + $0 % 3) }
            .step("measure much") { _ in lives.measure(12) }
            .step("end at a line", weight: 8) { await lives.endAtALine(RandomSource(seed: UInt64($0))) }
            .step("end between events", weight: 8) { await lives.endBetweenEvents(RandomSource(seed: UInt64($0))) }
            .step("end on another thread", weight: 8) {
                lives.elsewhere(lives.end(RandomSource(seed: UInt64($0))))
            }
    }

    // MARK: Setup

    private struct Setup {
        let world: TestWorld
        let count: Count
        let random: RandomSource

        private func addDevice(_ name: String, at x: Double) -> SimulatedDevice {
            let device = world.addDevice(named: name, at: Position(x: x))
            let note = note(name)
            device.watchApps { app, phase in note("\(app) is \(phase)") }
            return device
        }

        /// Adds the lines of an app to the story.
        private func note(_ name: String) -> @Sendable (String) -> Void {
            // Weak: the world retains the closure.
            { [weak world, count] line in
                world?.note("\(name): \(line)")
                count.add()
            }
        }

        func addBelt(_ number: Int) -> Resident {
            let device = addDevice("Belt \(number)", at: Double(number))
            let note = note(device.name)
            let identifier = random.below(3) > 0 ? Sensor.identifier : nil
            let modes: AppDeclaration.BackgroundModes = random.below(3) > 0 ? .peripheral : []
            device.install("sensor", declaring: AppDeclaration(backgroundModes: modes)) { _, launch in
                note(launch.line)
                return Sensor(Journal(note), identifier: identifier)
            }
            device.open("sensor")
            return Resident(device: device, app: "sensor")
        }

        func addPhone(_ number: Int) -> [Resident] {
            let device = addDevice("Phone \(number)", at: 2 + Double(number))
            return (0..<1 + Int(random.below(2))).map { addCollector("collector \($0)", of: device) }
        }

        private func addCollector(_ name: String, of device: SimulatedDevice) -> Resident {
            let note = note("\(device.name), \(name)")
            let identifier = random.below(4) > 0 ? Collector.identifier : nil
            let modes: AppDeclaration.BackgroundModes = random.below(3) > 0 ? .central : []
            // Some processes end themselves in a callback.
            let faults = ["value [0, 7]", "disconnected", "connected", "restored"]
            let fault = random.below(2) == 0 ? faults[Int(random.below(UInt64(faults.count)))] : nil
            let crashes = 1 + Int(random.below(3))
            let crashed = Count()
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
                    guard let fault, line.hasPrefix(fault) else { return }
                    crashed.add()
                    if crashed.current <= crashes { app.crash() }
                }
                return Collector(journal, identifier: identifier, readsEarly: false)
            }
            device.open(name)
            return Resident(device: device, app: name)
        }
    }

    // MARK: Steps

    private func measure(_ count: Int) {
        for _ in 0..<count {
            let value = values.withLock { value in
                value = (value + 1) % 16
                return value
            }
            for resident in residents { resident.sensor?.measure(value) }
        }
    }

    /// Stops the world after a few more lines, whatever is in progress, and ends a process there.
    private func endAtALine(_ random: RandomSource) async {
        let end = end(random)
        let isElsewhere = random.below(2) == 0
        await stopSoon(random) {}
        isElsewhere ? elsewhere(end) : end()
    }

    private func endBetweenEvents(_ random: RandomSource) async {
        let end = end(random)
        await stopSoon(random, end)
    }

    /// Lets time pass until a few more lines have been added, and calls `body` between two events of the loop.
    private func stopSoon(_ random: RandomSource, _ body: @escaping @Sendable () -> Void) async {
        let last = count.current + 1 + Int(random.below(4))
        measure(2)
        await world.run(for: .seconds(40)) { [count] in
            guard count.current >= last else { return false }
            body()
            return true
        }
    }

    /// Draws an app and a way to end its process.
    private func end(_ random: RandomSource) -> @Sendable () -> Void {
        let resident = residents[Int(random.below(UInt64(residents.count)))]
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
}
