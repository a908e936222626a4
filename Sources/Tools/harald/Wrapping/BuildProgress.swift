/// How far a build of SwiftPM has come, from its lines such as `[12/345] Compiling Module File.swift`.
struct BuildProgress {
    /// The time between two texts, in seconds.
    private static let pause = 10.0

    private var lastText = 0.0

    /// Returns the text to show after a line of a build that has run for `seconds`; nil for none.
    mutating func text(after line: some StringProtocol, at seconds: Double) -> String? {
        guard let step = Self.step(in: line), seconds - lastText >= Self.pause else { return nil }
        lastText = seconds
        let left = seconds / Double(step.done) * Double(step.all - step.done)
        return "\(step.done) of \(step.all) steps, \(Self.words(left)) left"
    }

    private static func step(in line: some StringProtocol) -> (done: Int, all: Int)? {
        guard line.first == "[", let end = line.firstIndex(of: "]") else { return nil }
        let numbers = line[line.index(after: line.startIndex)..<end].split(separator: "/").compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] > 0, numbers[1] >= numbers[0] else { return nil }
        return (numbers[0], numbers[1])
    }

    /// SwiftPM finds steps as it goes, so this is an estimate.
    private static func words(_ seconds: Double) -> String {
        let minutes = Int((seconds / 60).rounded(.up))
        return minutes < 2 ? "about a minute" : "about \(minutes) minutes"
    }
}
