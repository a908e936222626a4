import Accessories
import CoreBluetooth
import Foundation
import TestBasics
import Testing

@testable import BluetoothTesting

/// The files and texts of a failed test: the story and the captures, within bounds.
@Suite struct WorldReportTests {
    @Test("the files of a failed test are the story and the captures of the air and of each device", .world(seed: 7))
    func filesOfAFailure() async throws {
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        let files = FailureReport(world: world).files
        let start = "filesOfAFailure-seed-\(world.seed)-"
        #expect(files.map(\.name) == ["story.txt", "Belt.btsnoop", "Phone.btsnoop", "air.pcapng"].map { start + $0 })
        let story = String(decoding: try #require(files.first).octets, as: UTF8.self)
        #expect(story.contains("follower ← connected"))
        #expect(files[1].octets.starts(with: Array("btsnoop".utf8)))
        #expect(files[3].octets.prefix(4) == [0x0A, 0x0D, 0x0D, 0x0A])
        #expect(files.allSatisfy { $0.octets.count > 500 })
    }

    @Test("only failed tests attach files", .world)
    func onlyFailuresAttach() throws {
        let trait = WorldTrait(seed: 1, misuse: .fails, appTime: .world, keepsCaptures: true)
        let scope = WorldScope(try #require(Test.current), trait)
        let attached = Notes<String>()
        scope.attachFiles { attached.add($0.name) }
        #expect(attached.all.isEmpty)
        let world = try #require(scope.slot.world)
        _ = scope.slot.explain(by: FailureReport(world: world))
        scope.attachFiles { attached.add($0.name) }
        #expect(attached.all.count == 2)
    }

    @Test("the arguments of a test case are in the names of its files", .world, arguments: ["a/b"], [4])
    func filesOfACase(text: String, number: Int) {
        let seed = WorldSeed.chosen(1).seed
        #expect(
            FailureReport(world: world).files.first?.name == "filesOfACase-text-number-a-b-4-seed-\(seed)-story.txt"
        )
    }

    @Test("the captures of accessories are among the files", .world)
    func filesOfAnAccessory() {
        world.addAccessory(.heartRate)
        let names = FailureReport(world: world).files.map(\.name)
        #expect(names.contains { $0.hasSuffix("-Heart-Rate.btsnoop") })
    }

    @Test("the log shortens long values, the file has them whole", .world)
    func longValues() {
        let (digits, text) = (String(repeating: "41", count: 33), String(repeating: "A", count: 33))
        let long = "app ← value, 2A37: \(digits) \"\(text)\", failed: no"
        let short = "app ← value, 2A37: \(String(repeating: "41", count: 32))… (33 octets), failed: no"
        #expect(ShortValues.shortened(long) == short)
        let fits = "app ← value, 2A37: \(String(repeating: "41", count: 32)) \"\(String(repeating: "A", count: 32))\""
        #expect(ShortValues.shortened(fits) == fits)
        world.note(long)
        let report = FailureReport(world: world)
        #expect(report.explanation.comments.contains { $0.contains(short) && !$0.contains(long) })
        #expect(report.files.first.map { String(decoding: $0.octets, as: UTF8.self).contains(long) } == true)
    }

    @Test("an explanation survives the way to another process", .world)
    func anExplanationInFiles() throws {
        world.addDevice(named: "Phone")
        let directory = FileManager.default.temporaryDirectory.appending(path: "explanation-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let explanation = FailureReport(world: world).explanation
        try explanation.write(to: directory)
        let read = try WorldExplanation(from: directory)
        #expect(read.comments == explanation.comments)
        #expect(read.files == explanation.files)
    }

    @Test("the number of steps of a search belongs to what repeats it")
    func aRepetition() {
        let text = FailureReport.repetition(seed: 5, filter: "A.b", ["HARALD_SEARCH_STEPS": "60"])
        #expect(text == "seed 5; to repeat: HARALD_SEED=5 HARALD_SEARCH_STEPS=60 swift test --filter 'A.b'")
    }

    @Test("a capture keeps its header and the last packets")
    func aBoundedCapture() {
        let capture = BoundedCapture(limit: 10)
        capture.write([1, 2])
        for number: UInt8 in 3...9 { capture.write([number, number, number, number]) }
        #expect(capture.octets == [1, 2, 8, 8, 8, 8, 9, 9, 9, 9])
    }

    @Test("a story keeps its last lines, and the names of earlier ones", .world)
    func aBoundedStory() async {
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        let phone = pair.phone
        for _ in 0..<WorldStory.maximumEntries { phone.move(to: Position(x: 1)) }
        pair.belt.send([0, 61])
        await world.run(for: .seconds(1))
        let lines = world.story.lines()
        #expect(lines.count == WorldStory.maximumEntries)
        #expect(world.story.dropped > 0)
        #expect(lines.last?.contains("Heart Rate Measurement") == true)
        #expect(lines.last?.contains("61 bpm") == true)
    }

    @Test("the log of a failure has repetition as one line, and at most 40 lines", .world)
    func theFoldedStory() {
        let phone = world.addDevice(named: "Phone")
        for x in 1...100 { phone.move(to: Position(x: Double(x))) }
        var shown: Int?
        let comments = FailureReport(world: world).comments(after: &shown)
        #expect(comments.count == 3)
        #expect(shown == 101)
        #expect(
            comments.last?.split(separator: "\n") == [
                "the story of 101 events, folded:", "00:00.000 Phone: is switched on at (0, 0)",
                "00:00.000 Phone: moves to (1 to 100, 0), 100 times",
            ]
        )
        for number in 1...100 { world.note("step \(String(repeating: "x", count: number))") }
        let report = FailureReport(world: world).explanation.comments.flatMap { $0.split(separator: "\n") }
        #expect(report.count == FailureReport.maximumLines - FailureReport.failureLines)
        #expect(report.contains("00:00.000 Phone: is switched on at (0, 0)"))
        #expect(report.last == "00:00.000 step \(String(repeating: "x", count: 100))")
    }

    @Test("the story has what the user and the test do", .world)
    func deedsOfTheTest() {
        let phone = world.addDevice(named: "Phone")
        phone.setPower(false)
        phone.setPower(true)
        phone.setController(isPluggedIn: false)
        phone.setController(isPluggedIn: true)
        phone.person.switchesAirplaneMode(true)
        phone.restart()
        world.changeAir { $0.lossRate = 0.1 }
        world.changeAir {
            $0.walls = [Wall(from: Position(), to: Position(), attenuation: 2.5)]
            $0.channelNoise = [1: -60, 2: -70]
        }
        let lines = world.story.lines()
        for expected in [
            "Phone: the user switches Bluetooth off", "Phone: the user switches Bluetooth on",
            "Phone: the controller is unplugged", "Phone: the controller is plugged in",
            "Phone: the user switches airplane mode on", "Phone: restarts", "the radio channel changes",
            "noise of up to -60 dBm on 2 channels", "a wall of 2.5 dB from (0, 0) to (0, 0) appears",
        ] { #expect(lines.contains("00:00.000 \(expected)"), "\(expected)") }
    }
}
