import EventLoops

/// Draws the steps of a world at random.
struct StepDraw {
    private enum Ticket {
        case moment, pause, sleep
        case fault(SearchStep.Fault, device: String, app: String?)
        case own(String)
    }

    /// Keeps the draw apart from the other random numbers of the seed.
    private static let label: UInt64 = 0x5EA5_C4ED
    private let urn: [Ticket]

    init(_ scenario: Scenario, _ places: [SearchPlace]) {
        let faults = places.flatMap { place in
            // In the order of the declaration: that of a set differs between processes.
            SearchStep.Fault.allCases.filter { scenario.faults.contains($0) }.flatMap { place.tickets($0) }
        }
        let own = scenario.steps.flatMap { Array(repeating: Ticket.own($0.name), count: $0.weight) }
        let happening = faults.map { Ticket.fault($0.fault, device: $0.device, app: $0.app) } + own
        // Between two events mostly some time passes, of different lengths: a procedure is interrupted, or it is done.
        let pauses = faults.isEmpty ? 0 : max(1, happening.count / 4)
        urn =
            happening + Array(repeating: .moment, count: pauses) + Array(repeating: .pause, count: pauses)
            + Array(repeating: .sleep, count: pauses / 2)
    }

    func steps(_ count: Int, seed: UInt64) -> [SearchStep] {
        guard !urn.isEmpty else { return [] }
        let random = RandomSource(seed: seed).split(Self.label)
        func number(_ range: Range<Int>) -> Int { range.lowerBound + Int(random.below(UInt64(range.count))) }
        return (0..<count).map { _ in
            switch urn[number(0..<urn.count)] {
            case .moment: .wait(milliseconds: number(1..<200))
            case .pause: .wait(milliseconds: number(200..<3_000))
            case .sleep: .wait(milliseconds: number(3_000..<50_000))
            case .own(let name): .step(name, number(0..<Scenario.maximumNumber))
            case .fault(let fault, let device, let app):
                .fault(fault, device, app: app, fault.sizes.map { number($0) } ?? 0)
            }
        }
    }
}

/// A device of a scenario, and the apps on it that can come back.
struct SearchPlace {
    let device: String
    let installed: [String]
    /// Whether the device also has apps that were launched from outside and do not come back.
    let hasOthers: Bool

    fileprivate func tickets(
        _ fault: SearchStep.Fault
    ) -> [(fault: SearchStep.Fault, device: String, app: String?)] {
        if fault.isOfApp { return installed.map { (fault, device, $0) } }
        return fault.endsProcesses && hasOthers ? [] : [(fault, device, nil)]
    }
}

extension SearchStep.Fault {
    /// The sizes that a fault may have; nil if it has none.
    fileprivate var sizes: Range<Int>? {
        switch self {
        case .losePackets: 0..<60
        case .answerLate: 100..<35_000
        // From Insufficient Encryption on. Attribute Not Found would claim that there are no services, which a central
        // has to accept for as long as the link lasts.
        case .answerError: 0x0F..<0x14
        default: nil
        }
    }
}
