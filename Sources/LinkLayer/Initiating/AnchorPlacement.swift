import EventLoops

/// Where a new central puts its anchor points, so that its links do not ask for the radio at the same time.
enum AnchorPlacement {
    /// How far apart anchor points should be, in microseconds: room for two PDUs of 251 octets on 1M.
    static let distance: Int64 = 5_000

    /// The transmit window offset for a new link.
    ///
    /// - Parameters:
    ///   - first: when the transmit window would begin with an offset of 0.
    ///   - interval: of the new link, in units of 1.25 ms.
    ///   - others: an anchor point and the interval of each link that there is.
    /// - Returns: units of 1.25 ms: the first place that is far enough from all others, or the farthest one.
    static func offset(first: Instant, interval: UInt16, others: [(anchor: Instant, interval: UInt16)]) -> UInt16 {
        var best: (offset: UInt16, distance: Int64) = (0, -1)
        for offset in 0..<max(interval, 1) {
            let place = first.microseconds + Int64(offset) * LinkTiming.unit
            var nearest = Int64.max
            for other in others {
                let period = Int64(commonDivisor(interval, other.interval)) * LinkTiming.unit
                let remainder = (place - other.anchor.microseconds) % period
                let ahead = remainder < 0 ? remainder + period : remainder
                nearest = min(nearest, ahead, period - ahead)
            }
            if nearest >= distance { return offset }
            if nearest > best.distance { best = (offset, nearest) }
        }
        return best.offset
    }

    private static func commonDivisor(_ a: UInt16, _ b: UInt16) -> UInt16 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}
