import Foundation
import Testing

/// The soak test in virtual time. `Scripts/soak` runs the same grammar with real processes.
@Suite struct HostileMonthTests {
    /// `HARALD_HOURS` in the environment, for longer runs by hand; a month has 720.
    private static let hours = number("HARALD_HOURS") ?? 3
    private static let seed = number("HARALD_FIRST_SEED") ?? 1

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    @Test("AB-G05: next to hostile processes a modest app loses no value, and they leave nothing behind")
    func aHostileMonth() {
        let month = HostileMonth(seed: UInt64(Self.seed))
        month.run(hours: Self.hours)
        let complaints = month.complaints
        #expect(
            complaints.isEmpty,
            "seed \(Self.seed): \(complaints.map(\.description).prefix(10).joined(separator: "; "))"
        )
    }
}
