import BluetoothTypes
import HCI

/// What an advertising packet says about its sender (Core Vol 6 Part B 2.3.1, Vol 4 Part E 7.7.65.13).
package struct AdvertisingKind: OptionSet, Hashable, Sendable {
    /// The bits, as the extended report has them.
    package let rawValue: UInt8

    /// Any bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A connection request would be listened to.
    package static let isConnectable = AdvertisingKind(rawValue: 1 << 0)
    /// A scan request would be answered.
    package static let isScannable = AdvertisingKind(rawValue: 1 << 1)
    /// It is for one device.
    package static let isDirected = AdvertisingKind(rawValue: 1 << 2)
    /// It is the answer to a scan request.
    package static let isScanResponse = AdvertisingKind(rawValue: 1 << 3)

    /// Everyone may connect and ask for more (ADV_IND).
    package static let connectable: AdvertisingKind = [.isConnectable, .isScannable]
    /// One device may connect (ADV_DIRECT_IND).
    package static let directed: AdvertisingKind = [.isConnectable, .isDirected]
    /// Everyone may ask for more (ADV_SCAN_IND).
    package static let scannable: AdvertisingKind = [.isScannable]
    /// Nobody may do anything (ADV_NONCONN_IND).
    package static let nonConnectable: AdvertisingKind = []
    /// The answer to somebody who asked for more (SCAN_RSP).
    package static let scanResponse: AdvertisingKind = [.isScanResponse]
}

/// Which advertiser a packet is of. One device may be several: each of its advertising sets has a number of its own.
package struct AdvertiserKey: Hashable, Sendable {
    /// The address; all bits zero for an anonymous advertiser.
    package var address: BluetoothAddress
    /// Which set it is, 0 to 15; nil for legacy packets.
    package var sid: UInt8?

    /// A set of a device.
    package init(_ address: BluetoothAddress, sid: UInt8? = nil) {
        self.address = address
        self.sid = sid
    }
}

/// One advertisement, with what the other packets of its advertiser said.
package struct Sighting: Hashable, Sendable {
    /// Who sent it: the identity address of a bonded device, whatever address it shows, and the address on the air of
    /// another one; ``BluetoothAddress/none`` when ``isAnonymous``.
    package var address: BluetoothAddress
    /// The data of the advertisement, and of the scan response once there was one.
    package var data: AdvertisingData
    /// Whether the advertisement was of a connectable kind (behaviour 2.12).
    package var isConnectable: Bool
    /// Whether ``data`` holds a scan response.
    package var hasScanResponse: Bool
    /// Signal strength in dBm, -127 to 20; 127 when it is not known (behaviour 2.13).
    package var rssi: Int
    /// What kind of packet it was.
    package var kind = AdvertisingKind.nonConnectable
    /// Which of the device's sets it is; nil for legacy packets.
    package var sid: UInt8?
    /// Whom it is for, when it is directed.
    package var target: BluetoothAddress?
    /// The PHYs of extended packets; nil for legacy ones.
    package var phys: PHYs?
    /// The transmit power that the packet tells in dBm, if it does.
    package var txPower: Int?
    /// Whether the controller lost the end of the data; what is there may be read.
    package var isTruncated = false
    /// Whether ``address`` is the identity behind a private address. The address may have been copied from a packet of that
    /// device: who it is is certain once a link is encrypted (AB-G03).
    package var isResolved = false
    /// The private address on the air, when it was resolved by the host and not by the controller.
    package var privateAddress: BluetoothAddress?

    /// Where extended packets were heard.
    package struct PHYs: Hashable, Sendable {
        /// On which PHY the advertisement was announced: 1M or Coded.
        package var primary: LEPHY
        /// On which PHY the data came; none for an advertisement without any.
        package var secondary: LEPHY

        /// A pair of PHYs.
        package init(primary: LEPHY, secondary: LEPHY) {
            self.primary = primary
            self.secondary = secondary
        }
    }

    /// Whether the sender keeps its address to itself.
    package var isAnonymous: Bool { address == .none }

    /// A sighting by legacy packets.
    package init(
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
