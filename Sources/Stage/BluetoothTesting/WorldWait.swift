import CoreBluetooth
import EventLoops
import Synchronization

/// The outcome of a wait.
struct WaitResult: Sendable {
    /// Whether the condition was met.
    let isMet: Bool
    let start: Duration
    let end: Duration
    /// The condition or the value, as the test's source has it between backticks; nil without the source.
    let source: String?
}

/// Something that a test waits for, and the text of its failure.
struct WorldWait: Sendable {
    let limit: Duration
    /// The condition that ends the wait, evaluated after each event.
    let condition: @Sendable () -> Bool
    /// Returns what is wrong at the end, or nil.
    let fault: @Sendable (WaitResult) -> String?

    static func condition(
        _ condition: @escaping @Sendable () -> Bool,
        _ what: String?,
        within limit: Duration
    ) -> WorldWait {
        WorldWait(limit: limit, condition: condition) { result in
            guard !result.isMet else { return nil }
            let source = what == nil ? "" : result.source.map { ": \($0)" } ?? ""
            let expected = what ?? result.source ?? "the condition is true"
            return "expected \(phrase(limit, result)): \(expected); it was not\(source)"
        }
    }

    /// A value that becomes another one.
    ///
    /// - Parameter words: Returns the text of a value.
    static func value<Value: Equatable & Sendable>(
        _ value: @escaping @Sendable () -> Value,
        equals expected: Value,
        _ what: String?,
        within limit: Duration,
        at time: @escaping @Sendable () -> Duration,
        words: @escaping @Sendable (Value) -> String
    ) -> WorldWait {
        let seen = SeenValues<Value>()
        let condition: @Sendable () -> Bool = {
            let current = value()
            seen.note(current, at: time())
            return current == expected
        }
        return WorldWait(limit: limit, condition: condition) { result in
            guard !result.isMet else { return nil }
            let subject = (what ?? result.source).map { "\($0) is " } ?? ""
            return "expected \(phrase(limit, result)): \(subject)\(words(expected)); seen: \(seen.text(words))"
        }
    }

    static func unchanged<Value: Equatable & Sendable>(
        _ value: @escaping @Sendable () -> Value,
        _ what: String?,
        for duration: Duration
    ) -> WorldWait {
        let first = value()
        let changed = Mutex<Value?>(nil)
        let condition: @Sendable () -> Bool = {
            let current = value()
            guard current != first else { return false }
            changed.withLock { $0 = current }
            return true
        }
        return WorldWait(limit: duration, condition: condition) { result in
            guard result.isMet, let now = changed.withLock({ $0 }) else { return nil }
            let subject = (what ?? result.source).map { "\($0) stays " } ?? "stays "
            return "expected for \(WorldTime.words(duration)) from \(WorldTime.text(result.start)): "
                + "\(subject)\(text(first)); at \(WorldTime.text(result.end)) it was \(text(now))"
        }
    }

    private static func phrase(_ limit: Duration, _ result: WaitResult) -> String {
        let (start, end) = (WorldTime.text(result.start), WorldTime.text(result.end))
        return "within \(WorldTime.words(limit)) from \(start) (until \(end))"
    }

    /// The text of a value, as Swift's own expectations show it.
    static func text<Value>(_ value: Value) -> String {
        let text = String(reflecting: value)
        // Optionals are shown as their contents.
        guard text.hasPrefix("Optional("), text.hasSuffix(")") else { return text }
        return String(text.dropFirst("Optional(".count).dropLast())
    }
}

/// The values that a wait has seen, as far as they differ from the one before.
final class SeenValues<Value: Equatable & Sendable>: Sendable {
    /// The number of values of which the text consists; the first ones and the last one.
    private static var maximumShown: Int { 8 }

    private struct Seen {
        let value: Value
        let time: Duration
    }

    private struct State {
        var first: [Seen] = []
        var last: Seen?
        var omitted = 0
    }

    private let state = Mutex(State())

    func note(_ value: Value, at time: Duration) {
        state.withLock { state in
            guard (state.last ?? state.first.last)?.value != value else { return }
            let seen = Seen(value: value, time: time)
            guard state.first.count == Self.maximumShown else { return state.first.append(seen) }
            if state.last != nil { state.omitted += 1 }
            state.last = seen
        }
    }

    func text(_ words: (Value) -> String) -> String {
        let (first, last, omitted) = state.withLock { ($0.first, $0.last, $0.omitted) }
        func shown(_ seen: Seen) -> String { "\(words(seen.value)) from \(WorldTime.text(seen.time))" }
        let more = omitted > 0 ? ["\(omitted) more"] : []
        return (first.map { shown($0) } + more + (last.map { [shown($0)] } ?? [])).joined(separator: ", then ")
    }
}
