/// How bits become radio waves (Core Vol 6 Part B 2.1 and 2.2).
public enum RadioPHY: Sendable, CaseIterable, Hashable {
    /// 1 Mbit/s, uncoded: what every device has.
    case le1M
    /// 2 Mbit/s, uncoded.
    case le2M
    /// 1 Mbit/s, each bit sent as two symbols: 500 kbit/s.
    case codedS2
    /// 1 Mbit/s, each bit sent as eight symbols: 125 kbit/s.
    case codedS8

    /// What a receiver has to be set to. The coding is told in the frame itself, so that one receiver hears both.
    public enum Modulation: Sendable, Hashable {
        /// 1 Mbit/s, uncoded.
        case le1M
        /// 2 Mbit/s, uncoded.
        case le2M
        /// 1 Mbit/s, coded with either factor.
        case coded
    }

    /// The receiver's setting for this PHY.
    @inlinable
    public var modulation: Modulation {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .codedS2, .codedS8: .coded
        }
    }

    /// The time that a frame is on the air, from the first bit of the preamble to the last one of the CRC.
    ///
    /// - Parameter octets: the PDU with its header, without the CRC.
    /// - Returns: microseconds.
    @inlinable
    public func airTimeMicroseconds(octets: Int) -> Int64 {
        let body = Int64(octets + 3)
        switch self {
        case .le1M: return (1 + 4 + body) * 8
        case .le2M: return (2 + 4 + body) * 4
        // Preamble 80, access address 256, coding indicator 16 and TERM1 24 are always sent with S=8 (2.2.2).
        case .codedS2: return 80 + 256 + 16 + 24 + body * 16 + 6
        case .codedS8: return 80 + 256 + 16 + 24 + body * 64 + 24
        }
    }

    /// The part of the air time that the preamble and the access address take, in microseconds.
    var accessAddressMicroseconds: Int64 {
        switch self {
        case .le1M: 40
        case .le2M: 24
        case .codedS2, .codedS8: 80 + 256
        }
    }

    /// The same as a duration.
    @inlinable
    public func airTime(octets: Int) -> Duration {
        .microseconds(airTimeMicroseconds(octets: octets))
    }
}
