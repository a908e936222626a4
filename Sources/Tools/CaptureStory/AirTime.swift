/// The PHY and the packet length of one direction of a link, and what they allow.
package struct AirTime: Hashable, Sendable {
    /// The number of the PHY: 1 for 1M, 2 for 2M, 3 for Coded.
    package var phy: UInt8 = 1
    /// The maximum payload of a data PDU, in octets.
    package var octets: Int = 27
    /// Whether packets have a message integrity check of four octets.
    package var isEncrypted = false

    /// T_IFS, the time between two packets of a connection event, in microseconds (Core Vol 6 Part B 4.1.1).
    static let interFrameSpace: Int64 = 150

    package init() {}

    /// Returns the time on the air of a data PDU, in microseconds (Core Vol 6 Part B 2.1, 2.2).
    ///
    /// The Coded PHY is taken with S=8, the coding that controllers choose unless the host asks for S=2.
    package static func duration(payload: Int, phy: UInt8, isEncrypted: Bool = false) -> Int64 {
        // A MIC belongs to PDUs with a payload only.
        let content = Int64(payload + (isEncrypted && payload > 0 ? 4 : 0))
        switch phy {
        // Preamble, access address, header, CRC.
        case 2: return (2 + 4 + 2 + content + 3) * 4
        // Preamble 80, access address 256, coding indicator 16, TERM1 24, then eight symbols a bit, TERM2 24.
        case 3: return 80 + 256 + 16 + 24 + (2 + content + 3) * 64 + 24
        default: return (1 + 4 + 2 + content + 3) * 8
        }
    }

    /// Returns the most payload a second in this direction, if the other one only acknowledges.
    ///
    /// - Parameters:
    ///   - interval: The connection interval, in microseconds.
    ///   - acknowledgement: The PHY of the other direction.
    package func limit(interval: Int64, acknowledgement: UInt8) -> Double {
        guard interval > 0 else { return 0 }
        let exchange =
            Self.duration(payload: octets, phy: phy, isEncrypted: isEncrypted) + Self.interFrameSpace
            + Self.duration(payload: 0, phy: acknowledgement) + Self.interFrameSpace
        // An event takes one exchange at least, and ends one T_IFS before the next event.
        let exchanges = max(1, (interval - Self.interFrameSpace) / exchange)
        return Double(exchanges) * Double(octets) * 1_000_000 / Double(interval)
    }
}

/// The payload of one direction of a link: its sum, and its rate in the busiest second.
struct Traffic: Hashable, Sendable {
    private(set) var octets = 0
    private(set) var packets = 0
    private(set) var peak = 0
    private var windowStart: Int64 = .min
    private var window = 0

    /// The length of the window for the peak, in microseconds.
    static let windowLength: Int64 = 1_000_000

    mutating func add(_ count: Int, at time: Int64) {
        octets += count
        packets += 1
        if windowStart == .min || time &- windowStart >= Self.windowLength || time < windowStart {
            windowStart = time
            window = 0
        }
        window += count
        peak = max(peak, window)
    }
}
