import BluetoothTypes

/// The recently received advertisers, each with its last advertisement and scan response, which are reported merged
/// (behaviour 2.15).
///
/// The table is bounded (AB-G02): the least recently received devices are removed first, except those that are kept.
struct DeviceTable {
    /// The maximum number of advertisers, not counting the kept ones.
    static let maximumDevices = 1_024
    /// The maximum number of kept advertisers. Peers with a pending connection are kept, so their number stays below
    /// this.
    static let maximumKept = 1_024

    private struct Device {
        var advertisement: AdvertisingData
        var kind: AdvertisingKind
        var scanResponse: AdvertisingData?
    }

    private var devices = RecencyTable<AdvertiserKey, Device>(limit: maximumDevices)
    private var kept: [BluetoothAddress: Int] = [:]
    /// The last scannable advertiser received.
    private var lastScannable: AdvertiserKey?

    /// The number of advertisers in the table.
    var count: Int { devices.count }

    /// Empties the table, for a new scan (behaviour 2.17).
    mutating func removeAll() {
        devices.removeAll()
        lastScannable = nil
    }

    /// Keeps the data of a device's legacy packets until each call is reverted by ``release(_:)``.
    mutating func keep(_ address: BluetoothAddress) {
        guard kept[address] != nil || kept.count < Self.maximumKept else { return }
        kept[address, default: 0] += 1
        devices.keep(AdvertiserKey(address))
    }

    mutating func release(_ address: BluetoothAddress) {
        guard let count = kept[address] else { return }
        kept[address] = count == 1 ? nil : count - 1
        devices.release(AdvertiserKey(address))
    }

    /// Adds a packet. Returns nil for a scan response without an advertisement before it, which lacks essential data.
    mutating func receive(_ packet: ReceivedPacket) -> Sighting? {
        var packet = packet
        packet.advertiser = advertiser(of: packet)
        let parsed = AdvertisingData(parsing: packet.data)
        let known = devices[packet.advertiser]
        let device: Device
        if packet.kind.contains(.isScanResponse) {
            guard var before = known else { return nil }
            before.scanResponse = parsed.isEmpty ? nil : parsed
            device = before
        } else {
            let scanResponse = packet.kind.contains(.isScannable) ? known?.scanResponse : nil
            device = Device(advertisement: parsed, kind: packet.kind, scanResponse: scanResponse)
        }
        devices.set(device, for: packet.advertiser)
        return sighting(of: device, in: packet)
    }

    /// The sender of a packet. Some controllers omit the set of a scan response; it follows right after that set's
    /// advertisement.
    private mutating func advertiser(of packet: ReceivedPacket) -> AdvertiserKey {
        guard packet.kind.contains(.isScanResponse) else {
            if packet.kind.contains(.isScannable) { lastScannable = packet.advertiser }
            return packet.advertiser
        }
        guard packet.advertiser.sid == nil, devices[packet.advertiser] == nil, let lastScannable,
            lastScannable.address == packet.advertiser.address
        else { return packet.advertiser }
        return lastScannable
    }

    private func sighting(of device: Device, in packet: ReceivedPacket) -> Sighting {
        var sighting = Sighting(
            address: packet.advertiser.address,
            data: device.scanResponse.map { device.advertisement.merged(with: $0) } ?? device.advertisement,
            isConnectable: device.kind.contains(.isConnectable),
            hasScanResponse: device.scanResponse != nil,
            rssi: packet.rssi
        )
        sighting.kind = packet.kind
        sighting.sid = packet.advertiser.sid
        sighting.target = packet.target
        sighting.phys = packet.phys
        sighting.txPower = packet.txPower
        sighting.isTruncated = packet.isTruncated
        sighting.isResolved = packet.isResolved
        sighting.privateAddress = packet.privateAddress
        return sighting
    }
}
