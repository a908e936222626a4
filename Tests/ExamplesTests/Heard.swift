import Synchronization

/// The reports of an example app, in order.
final class Heard<Report: Sendable & Equatable>: Sendable {
    private let reports = Mutex<[Report]>([])

    var all: [Report] { reports.withLock { $0 } }

    func add(_ report: Report) { reports.withLock { $0.append(report) } }

    func has(_ report: Report) -> Bool { all.contains(report) }
}
