/// A serial port, and how a controller behind it speaks.
package struct SerialOptions: Hashable, Sendable, CustomStringConvertible {
    /// Rates that every Linux can have, in bits a second; asked for in the order of ``probed`` where none is given.
    package static let rates: Set<Int> = [
        9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_152_000,
        1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000,
    ]
    /// What controllers begin with, and what drivers leave them at, which a controller keeps when they go.
    static let probed = [115_200, 1_000_000, 921_600, 3_000_000, 2_000_000, 460_800, 4_000_000, 1_500_000]

    /// The device.
    package var path: String
    /// Bits a second; nil to find out.
    package var rate: Int?
    /// Whether it speaks the three-wire protocol, in place of H4.
    package var isThreeWire = false

    /// A port.
    package init(path: String, rate: Int? = nil, isThreeWire: Bool = false) {
        (self.path, self.rate, self.isThreeWire) = (path, rate, isThreeWire)
    }

    /// Reads `PATH[,BAUD][,h4|,h5]`; nil where it is none.
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

    /// As it is written.
    package var description: String {
        ([path] + (rate.map { ["\($0)"] } ?? []) + (isThreeWire ? ["h5"] : [])).joined(separator: ",")
    }
}
