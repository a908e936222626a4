import Testing

@testable import Page

@Suite struct WorldPacerTests {
    @Test("a world that is ten times as slow passes a millisecond in ten, and loses no fraction")
    func slow() {
        var pacer = WorldPacer()
        pacer.speed = 0.1
        let due = (0..<100).reduce(Int64(0)) { sum, _ in sum + pacer.due(after: .milliseconds(3)) }
        #expect((29...30).contains(due))
    }

    @Test("a world whose machine has stood still makes up for a moment only")
    func lag() {
        var pacer = WorldPacer()
        pacer.speed = 2
        #expect(pacer.due(after: .seconds(3_600)) == 400)
        #expect(pacer.due(after: .seconds(-5)) == 0)
    }

    @Test("no time passes in a world that is paused, nor is it made up for")
    func pause() {
        var pacer = WorldPacer()
        pacer.isRunning = false
        #expect(pacer.due(after: .milliseconds(100)) == 0)
        pacer.isRunning = true
        #expect(pacer.due(after: .milliseconds(100)) == 100)
    }
}
