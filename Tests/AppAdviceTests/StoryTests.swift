import Testing

@testable import AppAdvice

/// The engine of stories: repetition is folded, what matters stays, and what is rare is not left out for what is frequent.
@Suite struct StoryTests {
    private func clock(_ time: Duration) -> String { "\(time.components.seconds)" }

    private func lines(_ events: [StoryEvent]) -> [String] { Story(of: events).lines.map { $0.text(clock) } }

    private func rate(_ rate: Int, at second: Int, app: String = "app") -> StoryEvent {
        let kind = "notified|\(app)"
        return StoryEvent(
            "\(app) ← value notified: \(rate) bpm",
            at: .seconds(second),
            kind: kind,
            device: "Phone",
            app: app
        )
    }

    private func notable(_ text: String, at second: Int, app: String? = "app") -> StoryEvent {
        StoryEvent(text, at: .seconds(second), device: "Phone", app: app, weight: .notable)
    }

    @Test func aSeriesIsOneLineWithItsRangeAndItsEnd() {
        let events = [81, 75, 78].enumerated().map { rate($1, at: $0 + 15) }
        #expect(lines(events) == ["15 app ← value notified: 75 to 81 bpm, 3 times until 17"])
        #expect(lines([rate(75, at: 1)]) == ["1 app ← value notified: 75 bpm"])
        #expect(lines([rate(75, at: 1), rate(75, at: 1)]) == ["1 app ← value notified: 75 bpm, 2 times"])
    }

    @Test func seriesOfSeveralKindsAreFoldedBesideEachOther() {
        let events = (0..<4).flatMap { [rate(60 + $0, at: $0), rate(90 - $0, at: $0, app: "other")] }
        #expect(
            lines(events) == [
                "0 app ← value notified: 60 to 63 bpm, 4 times until 3",
                "0 other ← value notified: 87 to 90 bpm, 4 times until 3",
            ]
        )
    }

    @Test("a notable event ends the series of its app, and one of the device those of all its apps")
    func notableEventsSeparate() {
        let events = [
            rate(60, at: 0), rate(70, at: 0, app: "other"), notable("crash", at: 1), rate(61, at: 2),
            rate(71, at: 2, app: "other"), notable("restart", at: 3, app: nil), rate(72, at: 4, app: "other"),
        ]
        #expect(
            lines(events) == [
                "0 app ← value notified: 60 bpm", "0 other ← value notified: 70 to 71 bpm, 2 times until 2", "1 crash",
                "2 app ← value notified: 61 bpm", "3 restart", "4 other ← value notified: 72 bpm",
            ]
        )
    }

    @Test func innerEventsAreLeftOut() {
        let inner = StoryEvent("credits returned", at: .zero, weight: .inner)
        #expect(lines([inner, rate(60, at: 1), inner]) == ["1 app ← value notified: 60 bpm"])
    }

    @Test("texts that differ in more than numbers are folded into the first and the last")
    func otherTexts() {
        func folded(_ texts: String...) -> String {
            var text = FoldedText(texts[0])
            for other in texts.dropFirst() { text.add(other) }
            return text.text
        }
        #expect(folded("read: 00ff \"a\"", "read: 01 \"b\"", "read: 02fe \"c\"") == "read: 00ff \"a\" … 02fe \"c\"")
        #expect(folded("moves to (1, 0)", "moves to (100, 0)") == "moves to (1 to 100, 0)")
        #expect(folded("at -60 dBm, of a", "at -41.5 dBm, of a") == "at -60 to -41.5 dBm, of a")
        #expect(folded("value 0048", "value 0052") == "value 0048 … 0052")
        #expect(folded("a", "a b", "a b c") == "a … b c")
        #expect(folded("x", "x") == "x")
        #expect(FoldedText("moves to (1, 0)").pattern == "moves to (#, #)")
    }

    @Test("a story that is read while it goes on begins a new line after the longest series")
    func longSeries() {
        var story = Story(longestSeries: .seconds(10), maximumLines: 2)
        for second in 0...21 { story.add(rate(60, at: second)) }
        #expect(story.count == 2)
        #expect(story.lines.map { $0.text(clock) }.last == "11 app ← value notified: 60 bpm, 11 times until 21")
        #expect(story.line(1).repetition(clock) == "21 app ← value notified: 60 bpm, 10 more times since 11")
        #expect(story.isOpen(1))
        story.advance(to: .seconds(22))
        #expect(!story.isOpen(1))
        for second in 30...40 { story.add(notable("crash \(["a", "b"][second % 2])", at: second)) }
        #expect(story.lines.count < 4)
        #expect(story.firstLine + story.lines.count == story.count)
    }

    @Test("a digest keeps its budget, the head and the tail, and all that is rare")
    func aDigest() {
        let cycles = (0..<200).flatMap { number in
            [
                notable("connected", at: 10 * number), rate(60, at: 10 * number + 1), rate(61, at: 10 * number + 2),
                notable("disconnected", at: 10 * number + 9),
            ]
        }
        let rare = notable("crash", at: 1_005)
        let events = (cycles + [rare]).sorted { $0.time < $1.time }
        for maximum in [12, 20, 40] {
            let digest = Story(of: events).digest(maximum: maximum, clock)
            #expect(digest.count <= maximum)
            #expect(digest.contains("1005 crash"))
            #expect(digest.first == "0 connected")
            #expect(digest.last == "1999 disconnected")
            #expect(digest.contains { $0.hasPrefix("… ") && $0.contains(" more events until ") })
        }
        let told = Story(of: events).digest(maximum: 20, clock).reduce(0) { $0 + count(in: $1) }
        #expect(told == events.count)
    }

    /// The number of events that a line of a digest stands for.
    private func count(in line: String) -> Int {
        let words = line.split(separator: " ").map(String.init)
        if words.first == "…" { return Int(words[1]) ?? 0 }
        return words.firstIndex(of: "times").flatMap { Int(words[$0 - 1]) } ?? 1
    }

    @Test func aStoryThatFitsIsWhole() {
        let events = (0..<5).map { notable("event \(["a", "b", "c", "d", "e"][$0])", at: $0) }
        #expect(Story(of: events).digest(maximum: 5, clock).count == 5)
        #expect(Story(of: events).digest(maximum: 4, clock).contains("… 2 more events until 3"))
    }
}
