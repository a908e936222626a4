import EventLoops
import HCI
import Radio

/// The interval, latency and timeout of a link in the units of the wire, and what follows from them.
struct LinkTiming: Hashable {
    /// The connection interval, in units of 1.25 ms.
    var interval: UInt16
    /// Events that the peripheral may skip.
    var latency: UInt16
    /// The supervision timeout, in units of 10 ms.
    var timeout: UInt16

    /// T_IFS: from the end of one PDU to the beginning of the next, in microseconds (Core Vol 6 Part B 4.1.1).
    static let interFrameSpace: Int64 = 150
    /// The unit of intervals, windows and offsets, in microseconds.
    static let unit: Int64 = 1_250

    /// The interval in microseconds.
    var intervalMicroseconds: Int64 { Int64(interval) * Self.unit }
    /// The interval.
    var intervalDuration: Duration { .microseconds(intervalMicroseconds) }
    /// The supervision timeout.
    var timeoutDuration: Duration { .microseconds(timeoutMicroseconds) }
    /// The supervision timeout in microseconds.
    var timeoutMicroseconds: Int64 { Int64(timeout) * 10_000 }

    /// Whether each value is in range, and the timeout lets at least two events be tried (4.5.1, 4.5.2; AB-L03).
    var isValid: Bool {
        (6...3_200).contains(interval) && latency <= 499 && (10...3_200).contains(timeout)
            && timeoutDuration > .microseconds((Int64(latency) + 1) * intervalMicroseconds * 2)
    }
}

/// How far off a sleep clock may be, as the four bits of the wire tell it (Core Vol 6 Part B 2.3.3.1).
struct ClockAccuracy: Hashable {
    /// 0 for 500 ppm to 7 for 20 ppm.
    var code: UInt8

    /// Parts in a million.
    var partsPerMillion: Int64 {
        let worst: [Int64] = [500, 250, 150, 100, 75, 50, 30, 20]
        return worst[Int(code & 0b111)]
    }

    /// By how much two clocks may have drifted apart since they last met, in microseconds, with 16 for the jitter of
    /// both (4.2.2, 4.2.4).
    static func widening(_ a: ClockAccuracy, _ b: ClockAccuracy, since elapsed: Duration) -> Int64 {
        let product = elapsed.microseconds.multipliedReportingOverflow(by: a.partsPerMillion + b.partsPerMillion)
        return (product.overflow ? .max : product.partialValue / 1_000_000 + 1) &+ 16
    }
}

extension Duration {
    /// How long this takes by a clock that is slow by so many parts in a million.
    func drifting(_ partsPerMillion: Double) -> Duration {
        if partsPerMillion == 0 { return self }
        return self + .nanoseconds(Int64((Double(nanoseconds) * partsPerMillion / 1_000_000).rounded()))
    }
}

extension RadioPHY {
    /// The longest payload whose PDU is not longer than `microseconds` on the air; 0 when there is none.
    func longestPayload(within microseconds: Int64) -> Int {
        let empty = airTimeMicroseconds(octets: DataHeader.size)
        let octet = airTimeMicroseconds(octets: DataHeader.size + 1) - empty
        return Int(max(0, (microseconds - empty) / octet))
    }
}
