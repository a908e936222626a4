/// The two kinds of credit-based channels (Core Vol 3 Part A 10.1 and 10.2). Once open they work alike.
package enum ChannelMode: Hashable, Sendable {
    /// LE Credit Based Flow Control: one channel a request.
    case creditBased
    /// Enhanced Credit Based Flow Control: up to five channels a request, and sizes that can be changed.
    case enhanced

    /// The least MTU and the least MPS that an end may announce, in octets (Vol 3 Part A 4.22 and 4.25).
    package var minimumSize: Int {
        switch self {
        case .creditBased: 23
        case .enhanced: 64
        }
    }
}

/// What one end of a credit-based channel takes.
package struct ChannelParameters: Hashable, Sendable {
    /// The longest SDU, in octets.
    package static let maximumMTU = 65_535
    /// The longest payload of a frame, in octets (Core Vol 3 Part A 4.22).
    package static let maximumMPS = 65_533
    /// Most frames that an end of ours lets its peer send ahead: with the MPS, the bound of what waits for an app that
    /// does not read.
    package static let maximumWindow = 1024

    /// The longest SDU that this end takes, in octets.
    package var mtu: Int
    /// The longest payload of a frame that this end takes, in octets. 247 fill a data PDU of the link layer with the
    /// basic header (Vol 6 Part B 2.4).
    package var mps: Int
    /// Frames that the peer may have sent or may still send before this end has dealt with them: its initial credits,
    /// and what they are filled up to.
    package var window: Int

    /// Parameters for a stream of data. Values out of range are moved into it: an MTU of 23 to 65,535, an MPS of 23 to
    /// 65,533, a window of 1 to ``maximumWindow``.
    package init(mtu: Int = 2048, mps: Int = 247, window: Int = 32) {
        self.mtu = min(max(mtu, ChannelMode.creditBased.minimumSize), Self.maximumMTU)
        self.mps = min(max(mps, ChannelMode.creditBased.minimumSize), Self.maximumMPS)
        self.window = min(max(window, 1), Self.maximumWindow)
    }

    /// The same, with sizes that `mode` allows.
    func fitted(to mode: ChannelMode) -> ChannelParameters {
        ChannelParameters(mtu: max(mtu, mode.minimumSize), mps: max(mps, mode.minimumSize), window: window)
    }
}
