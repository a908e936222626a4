import BluetoothSimulation
import Demos
import Synchronization
import Testing

/// Tests of `harald demo background`.
@Suite struct BackgroundStoryTests {
    private func told(_ seed: UInt64) -> [String] {
        let lines = Mutex<[String]>([])
        let world = SimulatedWorld(seed: seed)
        BackgroundStory(world) { line in lines.withLock { $0.append(line) } }.run()
        return lines.withLock { $0 }
    }

    @Test(
        "behaviours 7.24, 9.1, 9.5, 9.6, 10.4, 10.7, 10.16: the story of two phones is told correctly",
        arguments: [1, 2, 3] as [UInt64]
    )
    func theStoryGoesAsItShould(seed: UInt64) {
        let said = told(seed).filter { $0.contains("  Ann  ") && !$0.contains("(") }.map { $0.dropFirst(16) }
        let expected = [
            "her app is launched by her, restoring []", "poweredOn",
            "finds a device without a name, with its service in the overflow area", "is connected", "reads \"Hello\"",
            "reads \"Gone shopping\"",
            "her app is launched by the system, restoring [\"reader\"]",
            "willRestoreState: 1 peripheral, note is notifying: true", "poweredOn", "reads \"Back at eight\"",
            "her app is launched by her, restoring []", "poweredOn",
            "finds a device without a name, with its service in the overflow area", "is connected",
            "reads \"Are you there?\"",
        ]
        #expect(said.map(String.init) == expected)
    }

    @Test func theSameSeedTellsTheSameStory() {
        #expect(told(5) == told(5))
    }
}
