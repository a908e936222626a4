import EventLoops

/// The results of a crowd and of parts of it, beside those that theory expects.
struct CrowdReport: Encodable, Hashable, Sendable {
    /// The parts of the crowd that are simulated: half of the devices, a quarter and so on, so that the results show at
    /// which size contention sets in.
    private static let divisors = [1, 2, 4, 8, 16, 32]

    private enum CodingKeys: String, CodingKey {
        case seed, seconds, crowds, overflow
    }

    /// The seed that repeats the result.
    let seed: UInt64
    /// The simulated time, in seconds.
    let seconds: Int
    let groups: [AdvertiserGroup]
    /// The crowd and its parts, the whole crowd first.
    let crowds: [CrowdStatistics]
    /// The overflow areas of phones with one service, two services and so on.
    let overflow: [OverflowStudy]

    /// Simulates a crowd.
    ///
    /// - Parameter onProgress: Called before each part with its number of devices.
    init(_ configuration: CrowdConfiguration, onProgress: (Int) -> Void = { _ in }) {
        seed = configuration.seed
        seconds = configuration.seconds
        groups = configuration.groups
        var crowds: [CrowdStatistics] = []
        for divisor in Self.divisors {
            let part = configuration.divided(by: divisor)
            guard divisor == 1 || part.devices > 1 else { break }
            onProgress(part.devices)
            crowds.append(CrowdStatistics(part))
        }
        self.crowds = crowds
        let random = RandomSource(seed: configuration.seed &+ 1)
        overflow = (1...max(configuration.services, 1)).map {
            OverflowStudy(services: $0, phones: configuration.phones, random: random)
        }
    }

    /// The largest deviation of a report rate from the model's, as a fraction, among the scans of which the model
    /// expects at least `reports` reports to each observer; nil if there is none.
    func largestDeviation(ofAtLeast reports: Double) -> Double? {
        crowds.flatMap(\.scans).filter { $0.reportsPerSecondExpected * Double(seconds) >= reports }
            .map { abs($0.deviation) }.max()
    }
}

/// The results of one crowd.
struct CrowdStatistics: Encodable, Hashable, Sendable {
    /// A point of a distribution: the fraction of the devices whose value is at most `value`.
    struct Point: Encodable, Hashable, Sendable {
        /// A time in seconds, or a fraction of PDUs.
        let value: Double
        /// The simulated and the expected fraction.
        let devices, expected: Double
    }

    /// The results of the observers that scan alike.
    struct Scan: Encodable, Hashable, Sendable {
        let name: String
        /// The number of reports to all observers of this kind, and its expected value.
        let reports: Int
        let reportsExpected: Double
        /// The same per second and observer.
        let reportsPerSecond, reportsPerSecondExpected: Double
        /// The distribution of the time, in seconds, until a device is discovered.
        let discovery: [Point]

        /// The deviation of ``reports`` from the expected value, as a fraction of it.
        var deviation: Double { Double(reports) / reportsExpected - 1 }
    }

    let phones, accessories: Int
    /// The number of PDUs sent on the three channels.
    let sent: Int
    /// The fraction of PDUs lost to collisions, and its expected value.
    let lost, lostExpected: Double
    /// The distribution of the fraction of its PDUs on channel 37 that a device loses.
    let losses: [Point]
    let scans: [Scan]

    init(_ configuration: CrowdConfiguration, scans kinds: [ScanKind] = [ScanKind.continuous] + ScanKind.apps) {
        var simulation = CrowdSimulation(configuration, scans: kinds)
        simulation.run()
        let model = ContentionModel(configuration.groups)
        phones = configuration.phones
        accessories = configuration.accessories
        let sent = 3 * simulation.events.reduce(0, +)
        self.sent = sent
        lost = sent == 0 ? 0 : 1 - Double(simulation.survivors.reduce(0, +)) / Double(sent)
        lostExpected = model.lost
        losses = Self.losses(simulation, model, seconds: Double(configuration.seconds))
        scans = kinds.map { kind in
            Scan(kind, simulation.observers.filter { $0.scan == kind }, model, seconds: configuration.seconds)
        }
    }

    private static func losses(_ simulation: CrowdSimulation, _ model: ContentionModel, seconds: Double) -> [Point] {
        let shares = zip(simulation.events, simulation.firstSurvivors).filter { $0.0 > 0 }
            .map { 1 - Double($1) / Double($0) }
        let places = (0...20).map { Double($0) / 20 }
        let expected = model.devices(losingAtMost: places, within: seconds)
        return distribution(shares.sorted(), of: shares.count, at: places, expected: expected)
    }

    /// Returns the fraction of `total` values that are at most as large as each of `places`.
    ///
    /// - Parameter sorted: The values that are known, in ascending order.
    static func distribution(
        _ sorted: [Double],
        of total: Int,
        at places: [Double],
        expected: [Double]
    ) -> [Point] {
        var count = 0
        return zip(places, expected).map { place, expected in
            // The margin absorbs the rounding of fractions.
            while count < sorted.count, sorted[count] <= place + 1e-9 { count += 1 }
            let devices = total == 0 ? 0 : Double(count) / Double(total)
            return Point(value: place, devices: devices, expected: expected)
        }
    }

    /// Returns the smallest value of a distribution that at least this fraction of the devices do not exceed; nil if
    /// there is none.
    static func quantile(_ fraction: Double, of points: [Point]) -> Double? {
        points.first { $0.devices >= fraction }?.value
    }
}

extension CrowdStatistics.Scan {
    init(_ kind: ScanKind, _ observers: [CrowdObserver], _ model: ContentionModel, seconds: Int) {
        name = kind.name
        let reports = observers.reduce(0) { $0 + $1.reports }
        let time = Double(seconds * observers.count)
        let rate = model.reportRate(kind)
        self.reports = reports
        reportsExpected = rate * time
        reportsPerSecond = time == 0 ? 0 : Double(reports) / time
        reportsPerSecondExpected = rate
        let times = observers.flatMap { $0.discoveries.filter { $0 >= 0 }.map { Double($0) / 1e6 } }.sorted()
        let devices = observers.reduce(0) { $0 + $1.discoveries.count }
        let places = (1...60).map { Double($0 * seconds) / 60 }
        let expected = model.discovered(after: places, kind)
        discovery = CrowdStatistics.distribution(times, of: devices, at: places, expected: expected)
    }
}
