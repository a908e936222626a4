/// The departures of a playback so far.
struct DepartureReport: Sendable {
    /// The maximum number of departures that are kept.
    static let maximum = 10_000

    private(set) var departures: [CaptureDeparture] = []
    /// Called with each departure.
    var observe: (@Sendable (CaptureDeparture) -> Void)?
    /// The last packet of the stack on each lane.
    var lastSent: [Lane: String] = [:]

    mutating func add(_ departure: CaptureDeparture) {
        observe?(departure)
        guard departures.count < Self.maximum else { return }
        departures.append(departure)
    }
}

extension CaptureMachine {
    /// The departures so far, with the packets that the stack should have sent by now.
    func departures(at time: Int64) -> [CaptureDeparture] {
        let lanes = [.device] + script.handles.indices.map { Lane.link($0) }
        let missing = lanes.flatMap { missingSteps(on: $0, at: time) }
        let sorted = missing.sorted { a, b in (a.capturedTime ?? 0) < (b.capturedTime ?? 0) }
        return report.departures + sorted.prefix(DepartureReport.maximum - report.departures.count)
    }

    private func missingSteps(on lane: Lane, at time: Int64) -> [CaptureDeparture] {
        var before: (captured: Int64, played: Int64)? = lane == .device ? (0, 0) : nil
        var hasEnded = false
        if case .link(let link) = lane { hasEnded = links[link].hasEnded }
        var found: [CaptureDeparture] = []
        for index in script.lanes[lane] ?? [] {
            let step = script.steps[index]
            if let done = progress.done[index] { before = (step.time * 1_000, done) }
            guard step.sent != nil, progress.done[index] == nil, let before else { continue }
            let expected = before.played + (step.time * 1_000 - before.captured)
            guard hasEnded || time > expected + Self.patience else { continue }
            found.append(
                CaptureDeparture(
                    kind: .missing,
                    time: Double(max(0, expected)) / 1e9,
                    captured: script.words(of: index),
                    capturedTime: Double(step.time) / 1e6,
                    sent: report.lastSent[lane],
                    explanation: hasEnded ? "not sent before the connection ended" : "not sent",
                    isRandom: false
                )
            )
        }
        return found
    }
}
