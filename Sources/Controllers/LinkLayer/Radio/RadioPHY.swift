/// The LE PHYs, with the two coding schemes of LE Coded as separate cases (Core Vol 6 Part B 2.1 and 2.2).
public enum RadioPHY: Sendable, CaseIterable, Hashable {
    /// 1 Mbit/s, uncoded. Every LE device supports it.
    case le1M
    /// 2 Mbit/s, uncoded. LE devices need not support it.
    case le2M
    /// 1 Mbit/s, each bit sent as two symbols: 500 kbit/s.
    case codedS2
    /// 1 Mbit/s, each bit sent as eight symbols: 125 kbit/s.
    case codedS8

    /// The modulation that a receiver is tuned to. The frame itself indicates its coding, so one receiver handles both
    /// S=2 and S=8.
    public enum Modulation: Sendable, CaseIterable, Hashable {
        /// 1 Mbit/s, uncoded: frames of ``RadioPHY/le1M``.
        case le1M
        /// 2 Mbit/s, uncoded: frames of ``RadioPHY/le2M``.
        case le2M
        /// 1 Mbit/s, coded with S=2 or S=8.
        case coded

        /// The place in ``allCases``.
        var index: Int {
            switch self {
            case .le1M: 0
            case .le2M: 1
            case .coded: 2
            }
        }
    }

    /// The place in ``allCases``.
    var index: Int {
        switch self {
        case .le1M: 0
        case .le2M: 1
        case .codedS2: 2
        case .codedS8: 3
        }
    }

    /// The modulation that a receiver needs for this PHY.
    @inlinable
    public var modulation: Modulation {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .codedS2, .codedS8: .coded
        }
    }

    /// Returns the duration of a frame from the first bit of the preamble to the last bit of the CRC, in microseconds.
    ///
    /// - Parameter octets: The length of the PDU including its header, excluding the CRC.
    /// - Returns: The duration in microseconds.
    @inlinable
    public func airTimeMicroseconds(octets: Int) -> Int64 {
        let body = Int64(octets + 3)
        switch self {
        case .le1M: return (1 + 4 + body) * 8
        case .le2M: return (2 + 4 + body) * 4
        // The preamble (80), access address (256), coding indicator (16) and TERM1 (24) are always sent with S=8
        // (2.2.2).
        case .codedS2: return 80 + 256 + 16 + 24 + body * 16 + 6
        case .codedS8: return 80 + 256 + 16 + 24 + body * 64 + 24
        }
    }

    /// The duration of the preamble and the access address, in microseconds.
    var accessAddressMicroseconds: Int64 {
        switch self {
        case .le1M: 40
        case .le2M: 24
        case .codedS2, .codedS8: 80 + 256
        }
    }

    /// Returns the duration of a frame with a PDU of `octets` octets, like ``airTimeMicroseconds(octets:)``.
    @inlinable
    public func airTime(octets: Int) -> Duration {
        .microseconds(airTimeMicroseconds(octets: octets))
    }
}
