import EventLoops

/// A frame to transmit.
public struct RadioFrame: Hashable, Sendable {
    /// The channel index: 0 to 36 for data, 37 to 39 for primary advertising.
    public var channel: UInt8
    /// The access address. Only receivers tuned to it receive the frame.
    public var accessAddress: UInt32
    /// The initial value of the CRC. A receiver with a different value receives the frame as corrupted.
    public var crcInit: UInt32
    /// The PHY on which to transmit.
    public var phy: RadioPHY
    /// The PDU including its header, excluding the CRC.
    public var pdu: [UInt8]

    /// Creates a frame.
    ///
    /// - Parameters:
    ///   - channel: The channel index: 0 to 36 for data, 37 to 39 for primary advertising.
    ///   - accessAddress: The access address.
    ///   - crcInit: The initial value of the CRC.
    ///   - phy: The PHY on which to transmit.
    ///   - pdu: The PDU including its header, excluding the CRC.
    public init(channel: UInt8, accessAddress: UInt32, crcInit: UInt32, phy: RadioPHY, pdu: [UInt8]) {
        self.channel = channel
        self.accessAddress = accessAddress
        self.crcInit = crcInit
        self.phy = phy
        self.pdu = pdu
    }

    /// The duration of the frame on the air, in microseconds.
    @inlinable
    public var airTimeMicroseconds: Int64 { phy.airTimeMicroseconds(octets: pdu.count) }
}

/// The settings of a receiver.
public struct RadioTuning: Hashable, Sendable {
    /// The channel index, 0 to 39.
    public var channel: UInt8
    /// The access address to match.
    public var accessAddress: UInt32
    /// The initial value of the CRC.
    public var crcInit: UInt32
    /// The modulation to receive.
    public var modulation: RadioPHY.Modulation

    /// Creates the settings of a receiver.
    ///
    /// - Parameters:
    ///   - channel: The channel index, 0 to 39.
    ///   - accessAddress: The access address to match.
    ///   - crcInit: The initial value of the CRC; a frame with another one counts as corrupted.
    ///   - modulation: The modulation to receive.
    public init(channel: UInt8, accessAddress: UInt32, crcInit: UInt32, modulation: RadioPHY.Modulation) {
        self.channel = channel
        self.accessAddress = accessAddress
        self.crcInit = crcInit
        self.modulation = modulation
    }
}

/// A frame as received.
public struct ReceivedFrame: Sendable {
    /// The frame as transmitted.
    public var frame: RadioFrame
    /// When the first bit of the preamble was on the air. Propagation delay is not simulated.
    public var start: Instant
    /// The received signal strength, in dBm.
    public var rssi: Int8
    /// Whether the CRC is wrong. If so, nothing in the frame can be trusted.
    public var isCorrupted: Bool
}
