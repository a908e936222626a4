import EventLoops

/// What is put on the air.
public struct RadioFrame: Hashable, Sendable {
    /// The channel index: 0 to 36 for data, 37 to 39 for primary advertising.
    public var channel: UInt8
    /// The access address, which a receiver's has to be equal to.
    public var accessAddress: UInt32
    /// Where the sender starts its CRC; a receiver that expects another one finds the frame corrupted.
    public var crcInit: UInt32
    /// The PHY that it is sent with.
    public var phy: RadioPHY
    /// The PDU with its header, without the CRC.
    public var pdu: [UInt8]

    /// A frame.
    public init(channel: UInt8, accessAddress: UInt32, crcInit: UInt32, phy: RadioPHY, pdu: [UInt8]) {
        self.channel = channel
        self.accessAddress = accessAddress
        self.crcInit = crcInit
        self.phy = phy
        self.pdu = pdu
    }

    /// The time on the air, in microseconds.
    @inlinable
    public var airTimeMicroseconds: Int64 { phy.airTimeMicroseconds(octets: pdu.count) }
}

/// What a receiver is set to.
public struct RadioTuning: Hashable, Sendable {
    /// The channel index, 0 to 39.
    public var channel: UInt8
    /// The access address to wait for.
    public var accessAddress: UInt32
    /// Where the CRC starts.
    public var crcInit: UInt32
    /// How the bits come.
    public var modulation: RadioPHY.Modulation

    /// A setting.
    public init(channel: UInt8, accessAddress: UInt32, crcInit: UInt32, modulation: RadioPHY.Modulation) {
        self.channel = channel
        self.accessAddress = accessAddress
        self.crcInit = crcInit
        self.modulation = modulation
    }
}

/// A frame as a receiver got it.
public struct ReceivedFrame: Sendable {
    /// What was sent.
    public var frame: RadioFrame
    /// When the first bit of the preamble was on the air. Light is not that slow: distances do not delay.
    public var start: Instant
    /// How strong it was, in dBm.
    public var rssi: Int8
    /// Whether the CRC is wrong. Then nothing in the frame can be trusted.
    public var isCorrupted: Bool
}
