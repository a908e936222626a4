/// Tells events as lines, of which each stands for a series of events that repeat: events in, lines out, no I/O.
///
/// A series ends where something notable happens to its app or device, so that the lines before and after it tell what
/// that changed.
package struct Story: Sendable {
    /// The number of series that may go on at a time. With more, the oldest ones end.
    private static let maximumOpen = 64

    /// What an event did to the story.
    package enum Change: Hashable, Sendable {
        /// The event is the last line.
        case began
        /// The event was folded into the line with this number since the beginning.
        case repeated(Int)
        /// The event is not shown.
        case left
    }

    /// One event, or a series.
    package struct Line: Hashable, Sendable {
        package let first: StoryEvent
        package fileprivate(set) var end: Duration
        package fileprivate(set) var count = 1
        private var folded: FoldedText

        fileprivate init(_ event: StoryEvent) {
            (first, end, folded) = (event, event.time, FoldedText(event.text))
        }

        fileprivate mutating func add(_ event: StoryEvent) {
            folded.add(event.text)
            (end, count) = (event.time, count + 1)
        }

        /// Returns the text with its time in front.
        ///
        /// - Parameter clock: Returns the text of a time.
        package func text(_ clock: (Duration) -> String) -> String {
            guard count > 1 else { return "\(clock(first.time)) \(first.text)" }
            let until = end > first.time ? " until \(clock(end))" : ""
            return "\(clock(first.time)) \(folded.text), \(count) times\(until)"
        }

        /// Returns the events after the first one as a line of their own, for output that cannot change what it has
        /// printed.
        package func repetition(_ clock: (Duration) -> String) -> String {
            let times = count == 2 ? "time" : "times"
            return "\(clock(end)) \(folded.text), \(count - 1) more \(times) since \(clock(first.time))"
        }
    }

    private struct Open: Sendable {
        let event: StoryEvent
        let line: Int
    }

    private let longestSeries: Duration?
    private let maximumLines: Int?
    private var kept: [Line] = []
    private var open: [Open] = []
    /// The number of the first line that is kept.
    package private(set) var firstLine = 0

    /// Creates an empty story.
    ///
    /// - Parameters:
    ///   - longestSeries: The time after which a series ends, for stories that are read while they go on.
    ///   - maximumLines: The number of lines that are kept, the last ones, or up to twice as many; nil for all.
    package init(longestSeries: Duration? = nil, maximumLines: Int? = nil) {
        (self.longestSeries, self.maximumLines) = (longestSeries, maximumLines)
    }

    /// Creates the story of events.
    package init(of events: some Sequence<StoryEvent>) {
        self.init()
        for event in events { add(event) }
    }

    /// The lines that are kept, in order.
    package var lines: [Line] { kept }

    /// The number of lines so far.
    package var count: Int { firstLine + kept.count }

    /// Adds an event. Events come in the order of their times.
    @discardableResult
    package mutating func add(_ event: StoryEvent) -> Change {
        guard event.weight > .inner else { return .left }
        advance(to: event.time)
        open.removeAll { event.separates($0.event) }
        guard let index = open.firstIndex(where: { $0.event.kind == event.kind && $0.event.device == event.device })
        else { return begin(event) }
        let number = open[index].line
        kept[number - firstLine].add(event)
        return .repeated(number)
    }

    /// Ends the series that are over at a time, as ``add(_:)`` does.
    package mutating func advance(to time: Duration) {
        let (firstLine, longest) = (firstLine, longestSeries)
        open.removeAll { series in
            series.line < firstLine || longest.map { time - series.event.time > $0 } == true
        }
    }

    /// Whether later events may be folded into a line.
    package func isOpen(_ number: Int) -> Bool { open.contains { $0.line == number } }

    /// Returns the line with a number, which is kept.
    package func line(_ number: Int) -> Line { kept[number - firstLine] }

    private mutating func begin(_ event: StoryEvent) -> Change {
        kept.append(Line(event))
        if open.count == Self.maximumOpen { open.removeFirst() }
        open.append(Open(event: event, line: count - 1))
        if let maximumLines, kept.count >= 2 * maximumLines {
            kept.removeFirst(maximumLines)
            firstLine += maximumLines
        }
        return .began
    }
}

extension Story {
    /// Returns the story in at most so many lines, where those that are left out are counted.
    ///
    /// The first and the last line of each kind stay, those of notable events before the others, so that what is rare is
    /// never left out for what is frequent.
    ///
    /// - Parameters:
    ///   - maximum: The number of lines, at least 3.
    ///   - clock: Returns the text of a time.
    package func digest(maximum: Int, _ clock: (Duration) -> String) -> [String] {
        guard kept.count > maximum else { return kept.map { $0.text(clock) } }
        let order = linesByImportance
        var shown = order.prefix(maximum).sorted()
        for count in stride(from: maximum - 1, to: 0, by: -1) where shown.count + gaps(shown).count > maximum {
            shown = order.prefix(count).sorted()
        }
        var result: [String] = []
        var next = 0
        for index in shown + [kept.count] {
            if index == next + 1 { result.append(kept[next].text(clock)) }
            if index > next + 1 { result.append(gap(next..<index, clock)) }
            if index < kept.count { result.append(kept[index].text(clock)) }
            next = index + 1
        }
        return result
    }

    /// The indices of the lines, those that a digest shows first in front.
    private var linesByImportance: [Int] {
        let kinds = kept.map { "\($0.first.device)|\($0.first.kind)" }
        var total: [String: Int] = [:]
        for kind in kinds { total[kind, default: 0] += 1 }
        var seen: [String: Int] = [:]
        let keys = kept.indices.map { index in
            let place = seen[kinds[index], default: 0]
            seen[kinds[index]] = place + 1
            // The distance from the first or the last line of the kind.
            let rank = min(place, (total[kinds[index]] ?? 1) - 1 - place)
            let isNotable = kept[index].first.weight == .notable
            return (rank: rank, weight: isNotable ? 0 : 1, distance: min(index, kept.count - 1 - index), index: index)
        }
        return keys.sorted { ($0.rank, $0.weight, $0.distance, $0.index) < ($1.rank, $1.weight, $1.distance, $1.index) }
            .map(\.index)
    }

    /// The ranges of lines that are not shown.
    private func gaps(_ shown: [Int]) -> [Range<Int>] {
        let starts = [0] + shown.map { $0 + 1 }
        return zip(starts, shown + [kept.count]).compactMap { $0 < $1 ? $0..<$1 : nil }
    }

    private func gap(_ range: Range<Int>, _ clock: (Duration) -> String) -> String {
        let count = range.reduce(0) { $0 + kept[$1].count }
        let end = range.map { kept[$0].end }.max() ?? .zero
        return "… \(count) more event\(count == 1 ? "" : "s") until \(clock(end))"
    }
}
