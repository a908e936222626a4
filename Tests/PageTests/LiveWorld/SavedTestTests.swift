import Accessories
import AppAdvice
import Foundation
import Testing

@testable import BluetoothTesting
@testable import Page

/// The texts of "Save as a test". `SavedTest.swift`, which is compiled, is one of them.
@Suite struct SavedTestTests {
    /// Does what `SavedTest.swift` repeats: all kinds of acts, with times of all sizes between them.
    private static func played() throws -> LiveWorld {
        let world = LiveWorld(seed: 7)
        let wall = Wall(from: Position(x: 10.5, y: -30), to: Position(x: 10.5, y: 30), attenuation: 40)
        let steps: [(Int64, [WorldAct])] = [
            (4_321, [.move(.sensor, Position(x: 90.5, y: -3)), .move(.phone, Position(x: -1))]),
            (9_000, [.move(.sensor, Position(x: 20))]),
            (15_000, [.begin(DeviceFault(.lowBattery, 5)), .begin(DeviceFault(.lossy, 0.25))]),
            (1, [.addWall(wall)]),
            (7_500, [.removeWall(0), .setNoise(-82.5), .end(DeviceFault(.lossy, 0.25))]),
            (12_000, [.setNoise(nil), .begin(DeviceFault(.jammedChannel)), .app(.removeFromMemory)]),
            (30_000, [.begin(DeviceFault(.outOfRange)), .app(.open)]),
            (10_000, [.end(DeviceFault(.outOfRange)), .app(.suspend)]),
            (20_000, [.app(.forceQuit)]),
            (1_000, [.app(.open), .begin(DeviceFault(.slowAnswers, 2))]),
        ]
        for (milliseconds, acts) in steps {
            // In pieces, as a page lets time pass.
            for part in [milliseconds / 3, milliseconds - milliseconds / 3] { world.advance(by: part) }
            for act in acts { try world.perform(act) }
        }
        world.advance(by: 20_000)
        return world
    }

    @Test("the text is that of the test that is compiled here")
    func text() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "SavedTest.swift")
        let text = WorldTestText.text(of: try Self.played())
        let isSame = try String(contentsOf: file, encoding: .utf8) == text
        #expect(isSame, "after a change of the text, copy it from .build/SavedTest.swift")
        if !isSame { try text.write(toFile: ".build/SavedTest.swift", atomically: true, encoding: .utf8) }
    }

    @Test("the compiled test has the same story as the world that it was saved from, line by line", .world(seed: 7))
    func story() async throws {
        let world = BluetoothTesting.world
        await whatWasDone()
        let (first, all) = try Self.played().story.lines(from: 0)
        let lines = all.filter { !$0.text.hasSuffix("the user opens watch") }
        // A world on the page folds what repeats, and has the user's acts that a test has as code.
        var folded = Story(longestSeries: StoryLog.longestSeries)
        for event in world.story.events() { folded.add(event) }
        let repeated = folded.lines.map { $0.text(WorldWords.time) }
        #expect(first == 0)
        #expect(repeated.count == lines.count)
        let difference = zip(lines.map(\.text), repeated).first { $0 != $1 }
        #expect(difference == nil)
    }

    @Test("a world without acts becomes a test, too")
    func emptyWorldsBecomeTests() {
        let text = WorldTestText.text(of: LiveWorld(seed: 1))
        #expect(text.contains(".world(seed: 1)"))
        #expect(!text.contains("await world.run"))
    }
}
