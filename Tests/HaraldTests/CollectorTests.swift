import BluetoothSimulation
import CoreBluetooth
import Demos
import Foundation
import Synchronization
import TestBasics
import Testing

@testable import harald

/// `harald collect`, whose text and documents come from the same events.
@Suite struct CollectorTests {
    /// Runs a collector with the sensors `Pulse` and `Belt`, and returns what is printed.
    private func collect(json: Bool) -> (lines: [String], isFinished: Bool) {
        let world = VerbWorld(sensor: "Pulse")
        world.addSensor("Belt")
        let lines = Notes<String>()
        let isFinished = Atomic(false)
        let report = ToolReport(json: json) { lines.add($0) }
        let printer = CollectorPrinter(report: report, sensors: 2, measurements: 2)
        let collector = world.machine.launch("collect") { _ in
            HeartRateCollector(
                queue: DispatchQueue(label: "collector"),
                sensors: 2,
                measurements: 2,
                onEvent: { printer.show($0) },
                finish: { isFinished.store(true, ordering: .relaxed) }
            )
        }
        world.world.run(for: .seconds(30)) { isFinished.load(ordering: .relaxed) }
        withExtendedLifetime(collector) {}
        return (lines.all, isFinished.load(ordering: .relaxed))
    }

    @Test("a collection is told in words, with the number of links and of measurements")
    func words() {
        let (lines, isFinished) = collect(json: false)
        #expect(isFinished)
        #expect(lines.count == 9)
        #expect(lines.first?.hasSuffix("\", 1 of 2") == true, "\(lines)")
        for line in [
            "\"Pulse\": 1 bpm (1 of 2)", "\"Pulse\": 2 bpm (2 of 2)", "\"Belt\": 2 bpm (2 of 2)",
            "2 simultaneous links", "disconnected from \"Pulse\"", "disconnected from \"Belt\"",
        ] {
            #expect(lines.contains(line), "\(line) is missing: \(lines)")
        }
    }

    @Test("a collection in JSON has the same events, each as a document with the device")
    func documents() throws {
        let (lines, isFinished) = collect(json: true)
        #expect(isFinished)
        let documents = try lines.map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let events = documents.compactMap { $0["event"] as? String }
        #expect(events.count == 9)
        #expect(events.filter { $0 == "measurement" }.count == 4)
        #expect(events.filter { $0 == "link" }.count == 4)
        #expect(documents.allSatisfy { $0["schema"] as? Int == 1 })
        let collected = try #require(documents.first { $0["event"] as? String == "collected" })
        #expect(collected["links"] as? Int == 2)
        #expect(collected["measurements"] as? Int == 2)
        let measurement = try #require(documents.first { $0["event"] as? String == "measurement" })
        #expect(measurement["beatsPerMinute"] as? Int == 1)
        #expect(measurement["number"] as? Int == 1)
        #expect(measurement["value"] as? String == "0001")
        let device = try #require(measurement["device"] as? [String: Any])
        #expect(["Pulse", "Belt"].contains(device["name"] as? String))
        #expect(device["identifier"] != nil)
    }
}
