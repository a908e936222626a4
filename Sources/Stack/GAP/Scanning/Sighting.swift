import BluetoothTypes
import HCI

/// The type of an advertising packet (Core Vol 6 Part B 2.3.1, Vol 4 Part E 7.7.65.13).
package struct AdvertisingKind: OptionSet, Hashable, Sendable {
    /// The bits, in the format of the extended report.
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The advertiser accepts connection requests.
    package static let isConnectable = AdvertisingKind(rawValue: 1 << 0)
    /// The advertiser answers scan requests.
    package static let isScannable = AdvertisingKind(rawValue: 1 << 1)
    package static let isDirected = AdvertisingKind(rawValue: 1 << 2)
    package static let isScanResponse = AdvertisingKind(rawValue: 1 << 3)

    /// Connectable and scannable undirected advertising (ADV_IND).
    package static let connectable: AdvertisingKind = [.isConnectable, .isScannable]
    /// Connectable directed advertising (ADV_DIRECT_IND).
    package static let directed: AdvertisingKind = [.isConnectable, .isDirected]
    /// Scannable undirected advertising (ADV_SCAN_IND).
    package static let scannable: AdvertisingKind = [.isScannable]
    /// Non-connectable and non-scannable undirected advertising (ADV_NONCONN_IND).
    package static let nonConnectable: AdvertisingKind = []
    /// A scan response (SCAN_RSP).
    package static let scanResponse: AdvertisingKind = [.isScanResponse]
}

/// Identifies an advertiser. Each extended advertising set of a device is an advertiser of its own.
package struct AdvertiserKey: Hashable, Sendable {
    /// The address; all zeros for an anonymous advertiser.
    package var address: BluetoothAddress
    /// The SID of the advertising set, 0 to 15; nil for legacy packets.
    package var sid: UInt8?

    package init(_ address: BluetoothAddress, sid: UInt8? = nil) {
        self.address = address
        self.sid = sid
    }
}

/// A received advertisement, merged with earlier packets of the same advertiser.
package struct Sighting: Hashable, Sendable {
    /// The sender: the identity address of a bonded device, whatever address it uses, otherwise the address on the air.
    /// ``BluetoothAddress/none`` if ``isAnonymous``.
    package var address: BluetoothAddress
    /// The data of the advertisement, and of the scan response if one was received.
    package var data: AdvertisingData
    /// Whether the advertisement is connectable (behaviour 2.12).
    package var isConnectable: Bool
    /// Whether ``data`` includes a scan response.
    package var hasScanResponse: Bool
    /// The signal strength in dBm, -127 to 20; 127 if it is unknown (behaviour 2.13).
    package var rssi: Int
    package var kind = AdvertisingKind.nonConnectable
    /// The SID of the advertising set; nil for legacy packets.
    package var sid: UInt8?
    /// The target of a directed advertisement.
    package var target: BluetoothAddress?
    /// The PHYs of extended packets; nil for legacy packets.
    package var phys: PHYs?
    /// The transmit power in dBm, if the packet contains it.
    package var txPower: Int?
    /// Whether the controller lost the end of the data. The rest is usable.
    package var isTruncated = false
    /// Whether ``address`` is an identity address resolved from a private address. The private address may have been
    /// copied from the device's packets; the identity is certain only once a link is encrypted (AB-G03).
    package var isResolved = false
    /// The private address on the air, if the host resolved it rather than the controller.
    package var privateAddress: BluetoothAddress?

    /// The PHYs on which an extended advertisement was received.
    package struct PHYs: Hashable, Sendable {
        /// The PHY of the primary advertising channel: 1M or Coded.
        package var primary: LEPHY
        /// The PHY of the data; none if there was no data.
        package var secondary: LEPHY
    }

    /// Whether the sender does not disclose its address.
    package var isAnonymous: Bool { address == .none }

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
