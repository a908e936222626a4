import BluetoothTypes

/// What an advertising packet says about its sender (Core Vol 6 Part B 2.3.1).
public enum AdvertisingKind: Hashable, Sendable {
    /// Everyone may connect and ask for more (ADV_IND).
    case connectable
    /// One device may connect (ADV_DIRECT_IND).
    case directed
    /// Everyone may ask for more (ADV_SCAN_IND).
    case scannable
    /// Nobody may do anything (ADV_NONCONN_IND).
    case nonConnectable
    /// The answer to somebody who asked for more (SCAN_RSP).
    case scanResponse

    /// Whether a connection request would be listened to.
    var isConnectable: Bool { self == .connectable || self == .directed }
}

/// One packet of an advertiser, with what its other packets said.
public struct Sighting: Hashable, Sendable {
    /// Who sent it.
    public var address: BluetoothAddress
    /// The data of the advertisement, and of the scan response once there was one.
    public var data: AdvertisingData
    /// Whether the advertisement was of a connectable kind (behaviour 2.12).
    public var isConnectable: Bool
    /// Whether ``data`` holds a scan response.
    public var hasScanResponse: Bool
    /// Signal strength in dBm, -127 to 20; 127 when it is not known (behaviour 2.13).
    public var rssi: Int

    /// A sighting.
    public init(
        address: BluetoothAddress,
        data: AdvertisingData,
        isConnectable: Bool,
        hasScanResponse: Bool,
        rssi: Int
    ) {
        self.address = address
        self.data = data
        self.isConnectable = isConnectable
        self.hasScanResponse = hasScanResponse
        self.rssi = rssi
    }
}
