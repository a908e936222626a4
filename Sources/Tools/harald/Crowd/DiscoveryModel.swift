/// The expected discovery of advertisers by an observer with regular scan windows.
///
/// The state is the phase of a device's next event within the scan interval. An event within the scan window is
/// received if its PDU survives, independently of other events. Otherwise the phase advances by the advertising
/// interval and advDelay, modulo the scan interval. So a device whose interval is close to a multiple of the scan
/// interval misses the window many times in a row, which a model of independent events does not show.
struct DiscoveryModel {
    /// The unit of the phase, in microseconds: that of scan intervals, scan windows and advertising intervals.
    private static let cell: Int64 = 625

    /// The fraction of all devices that are undiscovered and whose next event is in this cell of the scan interval.
    private var phases: [Double]
    /// The fraction of all devices that are discovered.
    private(set) var discovered = 0.0
    private let window: Int
    private let interval: Int
    private let delay: Int
    private let survival: Double

    /// Creates the model of advertisers with random phases, before their first event.
    ///
    /// - Parameters:
    ///   - survival: The probability that a PDU is not lost.
    ///   - maximumDelay: The exclusive upper bound of advDelay, in microseconds.
    init(interval: Int64, maximumDelay: Int64, survival: Double, scan: ScanKind) {
        let cells = max(Int(scan.interval / Self.cell), 1)
        phases = [Double](repeating: 1 / Double(cells), count: cells)
        window = min(Int(scan.window / Self.cell), cells)
        self.interval = Int(interval / Self.cell)
        delay = max(Int(maximumDelay / Self.cell), 1)
        self.survival = survival
    }

    /// Adds one event of each device.
    mutating func advance() {
        for cell in 0..<window {
            discovered += phases[cell] * survival
            phases[cell] *= 1 - survival
        }
        let count = phases.count
        // Both the place within a cell and the delay are uniform, so the next place has the density of their sum: half
        // of a cell's share in the first and the last of `delay + 1` cells.
        var first = (count - interval % count) % count
        var last = (first + count * delay - delay) % count
        var sum = (1...delay).reduce(0) { $0 + phases[(first + count * delay - $1) % count] }
        phases = (0..<count).map { _ in
            let before = sum
            sum += phases[first] - phases[last]
            first = first + 1 == count ? 0 : first + 1
            last = last + 1 == count ? 0 : last + 1
            return (before + sum) / Double(2 * delay)
        }
    }

    /// Returns the fraction of the devices that are discovered after these numbers of events, in ascending order. After
    /// 1.25 events a quarter of the devices has had a second one.
    mutating func discovered(afterEvents numbers: [Double]) -> [Double] {
        var (past, before) = (0.0, 0.0)
        return numbers.map { number in
            while past < number.rounded(.up) {
                before = discovered
                advance()
                past += 1
            }
            return discovered - (discovered - before) * (past - number)
        }
    }
}
