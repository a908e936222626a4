import EventLoops
import Foundation
import ServiceMessages

@testable import BluetoothService

/// Devices with random apps whose lifecycle follows the steps. Records each condition that does not hold.
final class RandomWorld {
    /// The number of faults recorded per world.
    private static let maximumFaults = 8

    let test = ServiceWorld()
    let shape: WorldShape
    private(set) var devices: [WorldDevice] = []
    /// Descriptions of the conditions that do not hold.
    private(set) var faults: [String] = []
    /// The number of values that each app has sent.
    private var sent: [WorldName: Int] = [:]

    /// Creates a world.
    ///
    /// - Parameters:
    ///   - seed: The seed of its devices, apps and random numbers.
    ///   - radio: Creates the radio of a device, by its number; by default on the air without loss.
    init(seed: UInt64, radio: ((Int, VirtualEventLoop) -> any WorldRadio)? = nil) {
        shape = WorldShape(seed: seed)
        devices = shape.devices.enumerated().map { number, device in
            let radio = radio?(number, test.loop) ?? QuickRadio(on: test.air)
            return WorldDevice(device, number, seed: seed, with: radio, in: self)
        }
        for app in apps { app.launch(inBackground: false) }
        settle()
    }

    var now: Instant { test.loop.now }
    var apps: [WorldApp] { devices.flatMap(\.apps) }

    func fault(_ text: String) {
        if faults.count < Self.maximumFaults { faults.append("\(text), at \(now - .zero)") }
    }

    func sent(by name: WorldName) -> Int { sent[name] ?? 0 }

    // MARK: Time

    /// Lets time pass and apps react.
    func pass(_ duration: Duration) {
        let end = now + duration
        while now < end {
            test.run(min(end - now, .seconds(2)))
            settle()
        }
    }

    /// Lets the apps react until no events are left.
    func settle() {
        for _ in 0..<40 {
            test.run(.milliseconds(100))
            for device in devices { device.launchWanted() }
            let hasReacted = apps.map { $0.look() }
            if !hasReacted.contains(true) { break }
        }
        for app in apps { app.checkDeadlines() }
        for device in devices {
            device.checkStates(after: .seconds(5))
            device.checkRadio(after: .seconds(5))
        }
    }

    // MARK: Steps

    /// Performs a step, and lets the apps react.
    func take(_ step: WorldStep) {
        let random = RandomSource(seed: step.lot)
        if step.kind.endsLinks { for device in devices { device.model.linksMayEnd() } }
        let device = devices[Int(random.below(UInt64(devices.count)))]
        let app = device.apps[Int(random.below(UInt64(device.apps.count)))]
        switch step.kind {
        case .wait: pass(.milliseconds(Int64(random.below(2_000))))
        case .sleep: pass(.seconds(Int64(random.below(45))))
        case .measure: measure(random)
        case .ask: ask(random)
        case .lookAgain: for app in apps where app.isRunning { app.central?.lookAgain() }
        case .leave: leave(app, random)
        case .enter: app.enter()
        case .crash: app.end(.crashed)
        case .removeFromMemory: app.end(.removedFromMemory)
        case .forceQuit: app.end(.forceQuit)
        case .relaunch:
            app.end(random.below(2) == 0 ? .crashed : .removedFromMemory)
            pass(.milliseconds(Int64(random.below(3_000))))
            app.enter()
        case .switchPower: switchPower(of: device, random)
        case .unplug: unplug(device, random)
        case .killService: device.killService()
        case .restart: device.restart()
        case .moveAway:
            device.setInRange(!device.isInRange)
            if random.below(2) == 0 { pass(.seconds(1)) }
            if random.below(3) > 0 { device.setInRange(true) }
        case .permission:
            device.setPermission(device.denied.contains(app.shape.name.app), app)
            if random.below(3) > 0 {
                pass(.milliseconds(Int64(random.below(2_000))))
                device.setPermission(true, app)
            }
        }
        settle()
    }

    /// The user leaves an app, which may get suspended. Other apps may interact with it then, and the user may open it
    /// again.
    private func leave(_ app: WorldApp, _ random: RandomSource) {
        app.leave()
        guard random.below(2) == 0 else { return }
        pass(AppLifecycle.grace)
        guard random.below(2) == 0 else { return }
        measure(random)
        for other in apps where other.isRunning { other.central?.exchange() }
        // At random, long enough for unanswered requests to become overdue.
        pass(random.below(3) == 0 ? OpenRequests.timeout + .seconds(2) : .seconds(1))
        if random.below(2) == 0 { app.enter() }
    }

    private func switchPower(of device: WorldDevice, _ random: RandomSource) {
        let powerSwitch = random.below(2) == 0 ? PowerSwitch.settings : .controlCentre
        guard device.isSwitchedOn else { return device.setPower(true, by: powerSwitch) }
        device.setPower(false, by: powerSwitch)
        settle()
        // Apps are notified at once that the radio is off.
        device.checkStates(after: .zero)
        guard random.below(4) > 0 else { return }
        pass(.milliseconds(Int64(random.below(1_500))))
        device.setPower(true, by: powerSwitch)
    }

    private func unplug(_ device: WorldDevice, _ random: RandomSource) {
        guard device.isPlugged else { return device.setPlugged(true) }
        device.setPlugged(false)
        settle()
        pass(.milliseconds(Int64(random.below(1_500))))
        guard random.below(4) > 0 else { return }
        device.setPlugged(true)
    }

    private func ask(_ random: RandomSource) {
        for app in apps where app.isRunning && random.below(2) == 0 { app.central?.ask(random) }
    }

    /// Some apps send a value, or as many as they have credits for. The apps that consider themselves subscribed must
    /// receive them.
    private func measure(_ random: RandomSource) {
        for app in apps where random.below(3) > 0 {
            let count = random.below(4) == 0 ? ServiceLimits.valueUpdates + 1 : 1 + Int(random.below(2))
            for _ in 0..<count { measure(app) }
        }
        // Data in flight is lost when a process ends.
        test.run(.milliseconds(250))
    }

    private func measure(_ app: WorldApp) {
        guard app.isRunning, let sensor = app.peripheral, sensor.canMeasure else { return }
        let name = app.shape.name
        let number = sent(by: name) + 1
        sent[name] = number
        for other in apps where other.central?.isChanging(name) != true && !other.missesServiceChanges {
            other.memory.expect(number, of: name, now: now)
        }
        sensor.measure(number)
    }

    // MARK: Final checks

    /// Brings everything to rest: all devices work, all apps are in the foreground and have enough time.
    func comeToRest() {
        for device in devices { device.model.linksMayEnd() }
        for device in devices { device.mend() }
        for app in apps {
            app.enter()
            app.central?.unmute()
        }
        for round in 0..<90 {
            pass(.seconds(1))
            if apps.allSatisfy(\.isSettled), devices.allSatisfy({ now - $0.lastChange > .seconds(5) }) { break }
            if round % 10 == 9 { for app in apps where !app.isSettled { app.central?.lookAgain() } }
        }
        for app in apps where !app.isSettled {
            fault("\(app.shape.name) did not come to rest: \(app.story)")
        }
    }

    /// Checks the conditions at rest: each app receives from and reaches all its targets, and leaves nothing behind.
    func end() {
        for app in apps {
            measure(app)
            app.central?.exchange()
        }
        pass(.seconds(2))
        for app in apps where !app.isSettled { fault("\(app.shape.name) is not at rest: \(app.story)") }
        for text in apps.flatMap({ $0.memory.overdue(now: now, awake: .zero, timeout: .zero) }) { fault(text) }
        for app in apps { app.end(.forceQuit) }
        for app in apps { app.end(.forceQuit) }
        pass(.seconds(8))
        for device in devices { checkForLeftovers(of: device) }
    }

    private func checkForLeftovers(of device: WorldDevice) {
        let system = device.system
        func demand(_ holds: Bool, _ text: String) {
            if !holds { fault("device \(device.shape.apps[0].name.device): \(text)") }
        }
        let isSetUp = device.apps.filter(\.shape.declaration.usesAccessorySetup).map(\.shape.identity)
        let stays = system.apps.preservation.apps.keys.filter { !isSetUp.contains($0) }
        demand(stays.isEmpty, "something is kept of an app that the person has ended")
        guard isSetUp.isEmpty, devices.allSatisfy({ $0.apps.allSatisfy { !$0.shape.declaration.usesAccessorySetup } })
        else {
            return
        }
        demand(system.links.all.isEmpty, "a link is left")
        demand(system.peers.heldCount == 0, "a peer is held")
        demand(system.centrals.isEmpty && system.peripherals.isEmpty, "a manager is left")
        demand(!device.isScanning && !device.isAdvertising, "the radio is in use")
    }
}
