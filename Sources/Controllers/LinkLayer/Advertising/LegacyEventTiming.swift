import BluetoothTypes

/// The timing of a connectable legacy advertising event that nothing answers, for models of many advertisers (Core Vol
/// 6 Part B 4.4.2).
package struct LegacyEventTiming: Hashable, Sendable {
    /// The exclusive upper bound of advDelay, in microseconds.
    package static let maximumDelay = Advertiser.maximumDelay

    /// The duration of each PDU, in microseconds.
    package let airTime: Int64
    /// The time from the start of a PDU to that of the PDU on the next channel, in microseconds.
    package let spacing: Int64

    /// Creates the timing of an event of ADV_IND.
    ///
    /// - Parameter octets: The length of the advertising data, at most 31 octets.
    package init(dataOctets octets: Int) {
        let data = PacketBuffer([UInt8](repeating: 0, count: min(octets, UndirectedAdvertisement.maximumData)))
        let pdu = AdvertisingPDU.connectableScannable(UndirectedAdvertisement(advertiser: .none, data: data))
        airTime = RadioPHY.le1M.airTimeMicroseconds(octets: pdu.encoded().count)
        spacing = airTime + LinkTiming.interFrameSpace + Advertiser.responseMargin + Advertiser.channelSwitch
    }
}
