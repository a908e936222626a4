import BluetoothTypes

/// The two modes of credit-based channels (Core Vol 3 Part A 10.1 and 10.2). Once open, both work the same.
package enum ChannelMode: Hashable, Sendable {
    /// LE Credit Based Flow Control: one channel per request.
    case creditBased
    /// Enhanced Credit Based Flow Control: up to five channels per request, whose sizes can be changed later.
    case enhanced

    /// The minimum MTU and MPS, in octets (Vol 3 Part A 4.22 and 4.25).
    package var minimumSize: Int {
        switch self {
        case .creditBased: 23
        case .enhanced: 64
        }
    }
}

/// The sizes and the window that one end of a credit-based channel accepts.
package struct ChannelParameters: Hashable, Sendable {
    /// The maximum MTU, in octets.
    package static let maximumMTU = 65_535
    /// The maximum MPS, in octets (Core Vol 3 Part A 4.22).
    package static let maximumMPS = 65_533
    /// The maximum ``window`` that this stack grants, in frames. Together with the MPS it bounds the memory for an app
    /// that does not read.
    package static let maximumWindow = 1024

    /// The longest SDU that this end accepts, in octets.
    package var mtu: Int
    /// The longest frame payload that this end accepts, in octets. With the basic header, 247 octets fill a data PDU of
    /// the link layer (Vol 6 Part B 2.4).
    package var mps: Int
    /// The maximum number of frames that are in flight or unprocessed: the initial credits, and the level to which
    /// credits are replenished.
    package var window: Int

    /// Creates parameters whose defaults suit a data stream.
    ///
    /// Values out of range are clamped: the MTU to 23 to 65,535, the MPS to 23 to 65,533, and the window to 1 to
    /// ``maximumWindow``.
    package init(mtu: Int = 2048, mps: Int = 247, window: Int = 32) {
        self.mtu = min(max(mtu, ChannelMode.creditBased.minimumSize), Self.maximumMTU)
        self.mps = min(max(mps, ChannelMode.creditBased.minimumSize), Self.maximumMPS)
        self.window = min(max(window, 1), Self.maximumWindow)
    }

    /// Returns the same parameters, with sizes raised to the minimum of `mode`.
    func fitted(to mode: ChannelMode) -> ChannelParameters {
        ChannelParameters(mtu: max(mtu, mode.minimumSize), mps: max(mps, mode.minimumSize), window: window)
    }
}

/// A Simplified Protocol/Service Multiplexer: the number of a service that accepts credit-based channels (Core Vol 3
/// Part A 4.22). Apple's API calls it a PSM.
package struct SPSM: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let enhancedAttribute = SPSM(rawValue: 0x0027)
    /// The SPSMs that a request may name. All others are reserved.
    package static let validRange: ClosedRange<UInt16> = 0x0001...0x00FF
    /// The SPSMs that are allocated dynamically (behaviour 8.2).
    package static let dynamicRange: ClosedRange<UInt16> = 0x0080...0x00FF

    package var isValid: Bool { Self.validRange.contains(rawValue) }

    /// The name of the service, for logs, or else the number.
    package var description: String {
        self == .enhancedAttribute ? "EATT" : "SPSM 0x" + String(rawValue, radix: 16)
    }
}
