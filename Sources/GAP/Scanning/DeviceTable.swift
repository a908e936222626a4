import BluetoothTypes

/// The advertisers in sight, each with its last advertisement and its last scan response, so that the two are shown as one
/// (behaviour 2.15).
///
/// Bounded (AB-G02): those heard longest ago go first, except those that somebody keeps.
struct DeviceTable {
    /// Advertisers remembered at most, besides those that are kept.
    static let maximumDevices = 1_024
    /// Advertisers that can be kept. One that a connection is wanted to is one of them, so there are never that many.
    static let maximumKept = 1_024

    private struct Device {
        var advertisement: AdvertisingData
        var kind: AdvertisingKind
        var scanResponse: AdvertisingData?
    }

    private var devices = RecencyTable<AdvertiserKey, Device>(limit: maximumDevices)
    private var kept: [BluetoothAddress: Int] = [:]
    /// Who was heard last that may be asked for a scan response.
    private var lastScannable: AdvertiserKey?

    /// Advertisers remembered.
    var count: Int { devices.count }

    /// Forgets all, for a scan that starts afresh (behaviour 2.17).
    mutating func removeAll() {
        devices.removeAll()
        lastScannable = nil
    }

    /// Remembers what a device says in legacy packets until as many ``release(_:)`` have come.
    mutating func keep(_ address: BluetoothAddress) {
        guard kept[address] != nil || kept.count < Self.maximumKept else { return }
        kept[address, default: 0] += 1
        devices.keep(AdvertiserKey(address))
    }

    /// Takes one ``keep(_:)`` back.
    mutating func release(_ address: BluetoothAddress) {
        guard let count = kept[address] else { return }
        kept[address] = count == 1 ? nil : count - 1
        devices.release(AdvertiserKey(address))
    }

    /// Takes a packet. A scan response without an advertisement before it tells too little and gives nil.
    mutating func receive(_ packet: HeardPacket) -> Sighting? {
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

    /// Who sent a packet. Some controllers do not say which set a scan response is of; it comes right after that set's
    /// advertisement.
    private mutating func advertiser(of packet: HeardPacket) -> AdvertiserKey {
        guard packet.kind.contains(.isScanResponse) else {
            if packet.kind.contains(.isScannable) { lastScannable = packet.advertiser }
            return packet.advertiser
        }
        guard packet.advertiser.sid == nil, devices[packet.advertiser] == nil, let lastScannable,
            lastScannable.address == packet.advertiser.address
        else { return packet.advertiser }
        return lastScannable
    }

    private func sighting(of device: Device, in packet: HeardPacket) -> Sighting {
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
