import BluetoothSimulation
import CoreBluetooth
import ServiceMessages
import TestBasics
import Testing

@Suite("Tasks of simulated apps")
struct TaskTests {
    @Test("tasks sleep in the world's time, and resume in the order in which they wake")
    func sleeping() throws {
        let world = SimulatedWorld(seed: 1)
        let device = world.addDevice(named: "phone")
        let notes = Notes<String>()
        device.launch("app") { app in
            for (name, pause) in [("slow", 7_200), ("quick", 3_600)] {
                app.task {
                    try await Task.sleep(for: .seconds(pause), clock: world.clock)
                    notes.add("\(name) at \(world.now)")
                }
            }
        }
        world.run(for: .seconds(3_599))
        #expect(notes.all.isEmpty)
        world.run(for: .seconds(3_601))
        #expect(notes.all == ["quick at 3600.0 seconds", "slow at 7200.0 seconds"])
    }

    @Test("the clock stands still while a task computes, through all of its steps")
    func computing() {
        let world = SimulatedWorld(seed: 1)
        let device = world.addDevice(named: "phone")
        let notes = Notes<String>()
        _ = device.launch("app") { app in
            app.task {
                var sum = 0
                for step in 0..<1_000 {
                    await Task.yield()
                    sum += step
                }
                notes.add("\(sum) at \(world.now)")
            }
        }
        world.run(for: .seconds(1))
        #expect(notes.all == ["499500 at 0.0 seconds"])
    }

    @Test("a cancelled sleep ends at once with CancellationError, even if it has not started")
    func cancelling() {
        let world = SimulatedWorld(seed: 1)
        let device = world.addDevice(named: "phone")
        let notes = Notes<String>()
        device.launch("app") { app in
            let sleeper = app.task {
                do {
                    try await Task.sleep(for: .seconds(3_600), clock: world.clock)
                } catch is CancellationError {
                    notes.add("woken at \(world.now)")
                }
            }
            app.task {
                try await Task.sleep(for: .seconds(2), clock: world.clock)
                sleeper.cancel()
            }
            app.task {
                do {
                    try await Task.sleep(for: .seconds(3_600), clock: world.clock)
                } catch is CancellationError {
                    notes.add("never slept")
                }
            }
            .cancel()
        }
        world.run(for: .seconds(3))
        #expect(notes.all == ["never slept", "woken at 2.0 seconds"])
    }

    @Test("managers that a task creates belong to its app")
    func ownership() {
        let world = SimulatedWorld(seed: 1)
        let device = world.addDevice(named: "phone")
        device.setPermission(.denied, forApp: "stranger")
        let notes = Notes<String>()
        for name in ["friend", "stranger"] {
            _ = device.launch(name) { app in
                app.task { notes.add("\(name): \(CBCentralManager.authorization.rawValue)") }
            }
        }
        world.run(for: .seconds(1))
        #expect(notes.all == ["friend: 3", "stranger: 2"])
    }
}
