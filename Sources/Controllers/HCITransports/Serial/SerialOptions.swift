/// The path of a serial port, and the rate and protocol of the controller behind it.
package struct SerialOptions: Hashable, Sendable, CustomStringConvertible {
    /// The rates that every Linux system supports, in bits per second. Without a rate, the ones in ``probed`` are
    /// tried.
    package static let rates: Set<Int> = [
        9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_152_000,
        1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000,
    ]
    /// The rates to try, in this order: those that controllers start with, and those that drivers set, which a
    /// controller keeps after its driver has gone.
    static let probed = [115_200, 1_000_000, 921_600, 3_000_000, 2_000_000, 460_800, 4_000_000, 1_500_000]

    package var path: String
    /// The rate in bits per second; nil to find it.
    package var rate: Int?
    /// Whether the controller uses the three-wire protocol rather than H4.
    package var isThreeWire = false

    package init(path: String, rate: Int? = nil, isThreeWire: Bool = false) {
        (self.path, self.rate, self.isThreeWire) = (path, rate, isThreeWire)
    }

    /// Parses `PATH[,BAUD][,h4|,h5]`. Returns nil for any other text.
    init?(_ text: some StringProtocol) {
        var parts = String(text).split(separator: Character(","), omittingEmptySubsequences: false).map { String($0) }
        guard let path = parts.first, !path.isEmpty else { return nil }
        parts.removeFirst()
        self.init(path: path)
        if let rate = parts.first.flatMap({ Int($0) }) {
            guard Self.rates.contains(rate) else { return nil }
            self.rate = rate
            parts.removeFirst()
        }
        switch parts {
        case [], ["h4"]: isThreeWire = false
        case ["h5"]: isThreeWire = true
        default: return nil
        }
    }

    /// The options in the form that ``init(_:)`` parses.
    package var description: String {
        ([path] + (rate.map { ["\($0)"] } ?? []) + (isThreeWire ? ["h5"] : [])).joined(separator: ",")
    }
}
