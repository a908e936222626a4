import EventLoops

/// Chooses the anchor points of a central's new links, so that its links do not need the radio at the same time.
enum AnchorPlacement {
    /// The desired distance between anchor points, in microseconds: enough for two PDUs of 251 octets on 1M.
    static let distance: Int64 = 5_000

    /// Returns the transmit window offset for a new link.
    ///
    /// - Parameters:
    ///   - first: When the transmit window would start with an offset of 0.
    ///   - interval: The interval of the new link, in units of 1.25 ms.
    ///   - others: An anchor point and the interval of each existing link.
    /// - Returns: The first offset far enough from all other links, or the one farthest from them, in units of 1.25 ms.
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
