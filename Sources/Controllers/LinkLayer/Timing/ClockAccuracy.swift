import EventLoops

/// The accuracy of a sleep clock, as the code of the SCA field (Core Vol 6 Part B 2.3.3.1).
struct ClockAccuracy: Hashable {
    /// The code, 0 for 500 ppm to 7 for 20 ppm.
    var code: UInt8

    /// The worst-case deviation in parts per million.
    var partsPerMillion: Int64 {
        let worst: [Int64] = [500, 250, 150, 100, 75, 50, 30, 20]
        return worst[Int(code & 0b111)]
    }

    /// Returns how far two clocks may have drifted apart since they were last synchronized, in microseconds, including
    /// 16 for the jitter of both (4.2.2, 4.2.4).
    static func widening(_ a: ClockAccuracy, _ b: ClockAccuracy, since elapsed: Duration) -> Int64 {
        let product = elapsed.microseconds.multipliedReportingOverflow(by: a.partsPerMillion + b.partsPerMillion)
        return (product.overflow ? .max : product.partialValue / 1_000_000 + 1) &+ 16
    }
}

extension Duration {
    /// Returns how long this duration takes by a clock that runs slow by a number of parts per million.
    func drifting(_ partsPerMillion: Double) -> Duration {
        if partsPerMillion == 0 { return self }
        return self + .nanoseconds(Int64((Double(nanoseconds) * partsPerMillion / 1_000_000).rounded()))
    }
}
