import BluetoothTesting
import Foundation
import Synchronization

/// A phone follows a sensor, with pairing and restoration, whatever happens to both.
struct SearchedPair: Sendable {
    let sensorMemory = CountingSensor.Memory()
    let collectorMemory = CarefulCollector.Memory()
    let strap: SimulatedDevice
    let phone: SimulatedDevice

    init(in world: TestWorld) {
        strap = world.addDevice(named: "Strap", .accessory)
        phone = world.addDevice(named: "Phone", at: Position(x: 1))
        strap.person.behaves(.agrees(lookingAt: [phone]))
        phone.person.behaves(.agrees(lookingAt: [strap]))
        strap.install("sensor", declaring: AppDeclaration(backgroundModes: .peripheral)) { [sensorMemory] _, _ in
            CountingSensor(sensorMemory)
        }
        phone.install("collector", declaring: AppDeclaration(backgroundModes: .central)) { [collectorMemory] _, _ in
            CarefulCollector(collectorMemory)
        }
        strap.open("sensor")
        phone.open("collector")
    }

    // An app that is suspended does nothing.
    var sensor: CountingSensor? { isAwake("sensor", strap) ? strap.app("sensor", as: CountingSensor.self) : nil }
    var collector: CarefulCollector? {
        isAwake("collector", phone) ? phone.app("collector", as: CarefulCollector.self) : nil
    }

    private func isAwake(_ app: String, _ device: SimulatedDevice) -> Bool {
        switch device.app(app)?.phase {
        case .foreground, .background: true
        default: false
        }
    }

    var isReady: Bool { collector?.isReady == true }

    func send(_ count: Int) { for _ in 0..<count { _ = sensor?.sendCount() } }
    func write(_ count: Int) { for number in 0..<count { _ = collector?.write(UInt8(truncatingIfNeeded: number)) } }

    /// The disorder of the received values, in words.
    var disorder: String? {
        let counts = collectorMemory.counts.withLock { $0 }
        let sent = sensorMemory.sent.withLock { $0 }
        if let last = counts.last, last > sent { return "\(last) arrived, but \(sent) is the last that was sent" }
        let wrong = zip(counts, counts.dropFirst()).first { $0 >= $1 }
        return wrong.map { "\($1) arrived after \($0)" }
    }

    /// Sends a value, and returns whether it arrives.
    func deliversValue(in world: TestWorld) async -> Bool {
        guard sensor?.sendCount() == true else { return false }
        let number = sensorMemory.sent.withLock { $0 }
        for _ in 0..<50 {
            if collectorMemory.counts.withLock({ $0.last }) == number { return true }
            await world.run(for: .milliseconds(200))
        }
        return false
    }

    /// Writes a note, and returns whether it arrives.
    func deliversNote(in world: TestWorld) async -> Bool {
        let before = sensorMemory.notes.withLock { $0.count }
        guard collector?.write(7) == true else { return false }
        await world.run(for: .seconds(3))
        return sensorMemory.notes.withLock { $0.count } > before
    }

    /// Suspends the collector, sends a value, and returns whether it arrives.
    func wakes(in world: TestWorld) async -> Bool {
        phone.app("collector")?.suspend()
        await world.run(for: .seconds(1))
        return await deliversValue(in: world)
    }

    /// Ends the collector for want of memory, sends a value, and returns whether it arrives at a new process.
    func relaunches(in world: TestWorld) async -> Bool {
        phone.app("collector")?.removeFromMemory()
        await world.run(for: .seconds(1))
        return await deliversValue(in: world)
    }
}

/// The scenario of the project's own search.
@Sendable func sensorAndPhone(_ world: TestWorld) async -> Scenario {
    let here = SearchedPair(in: world)
    await world.run(for: .seconds(10))
    return Scenario()
        .step("send") { here.send(1 + $0 % 3) }
        .step("send many", weight: 2) { _ in here.send(40) }
        .step("write") { here.write(1 + $0 % 40) }
        .check("values arrive in order, once") { here.disorder }
        .eventually("the collector is connected, subscribed and paired") { here.isReady }
        .finally("a value arrives") { await here.deliversValue(in: world) ? nil : "it does not" }
        .finally("a note arrives") { await here.deliversNote(in: world) ? nil : "it does not" }
        .finally("a value wakes the app") { await here.wakes(in: world) ? nil : "it does not" }
        .finally("a value launches the app") { await here.relaunches(in: world) ? nil : "it does not" }
}
