import BluetoothSimulation
import Demos
import EventLoops
import Foundation
import Synchronization
import Testing

@testable import harald

@Suite struct ExplorerTests {
    @Test("a peripheral that is found late has as much time to connect as one that is found at once")
    func timeToConnectIsIndependentOfTheSearch() throws {
        var late = 0
        for delay in stride(from: 1_900, to: 2_000, by: 10) {
            let said = try explore(limit: 2, launchingAfter: .milliseconds(delay))
            guard said.contains(where: { $0.hasPrefix("found ") }) else { continue }
            late += 1
            #expect(said.contains("connected"), "after \(delay) ms: \(said)")
        }
        #expect(late > 3)
    }

    /// Explores a sensor that an app begins to advertise after `delay`. Returns what the command says in six seconds.
    private func explore(limit: Double, launchingAfter delay: Duration) throws -> [String] {
        let world = SimulatedWorld(seed: 1)
        let phone = world.addDevice(named: "Phone")
        let sensor = world.addDevice(named: "Harald HR")
        let plan = Explorer.Plan(
            selector: try #require(DeviceSelector(argument: "Harald HR")),
            controller: "tcp:localhost:6402",
            timeout: limit
        )
        let said = Said()
        let report = ToolReport(json: false, write: said.add)
        let explorer = phone.withSystem { system in
            let explorer = Explorer(plan, in: system, report) { said.add("\($0)") }
            explorer.start()
            return LoopBound(explorer, loop: system.loop)
        }
        world.run(for: delay)
        let queue = DispatchQueue(label: "sensor")
        let app = sensor.launch("sensor") { app in
            HeartRateSensor(
                name: "Harald HR",
                queue: queue,
                metronome: { app.everyInterval(.seconds($0), on: queue, $1) },
                say: { _ in }
            )
        }
        world.run(for: .seconds(6) - delay)
        withExtendedLifetime((explorer, app)) {}
        return said.lines.withLock { $0 }
    }

    private final class Said: Sendable {
        let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }
}
