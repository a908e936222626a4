import BluetoothTypes

/// The advertisers in sight, each with its last advertisement and its last scan response, so that the two are shown as one
/// (behaviour 2.15).
///
/// Bounded (AB-G02): those heard longest ago go first. Nothing but the memory of their packets goes with them.
public struct DeviceTable {
    /// Advertisers remembered at most.
    public static let maximumDevices = 1_024

    private struct Device {
        var advertisement: AdvertisingData
        var kind: AdvertisingKind
        var scanResponse: AdvertisingData?
        var lastHeard: UInt64
    }

    private var devices: [BluetoothAddress: Device] = [:]
    private var packetCount: UInt64 = 0

    /// Nobody in sight.
    public init() {}

    /// Advertisers remembered.
    public var count: Int { devices.count }

    /// Forgets all, for a scan that starts afresh (behaviour 2.17).
    public mutating func removeAll() {
        devices.removeAll()
    }

    /// Takes a packet. A scan response without an advertisement before it tells too little and gives nil.
    public mutating func receive(
        _ kind: AdvertisingKind,
        from address: BluetoothAddress,
        data: PacketBuffer,
        rssi: Int
    ) -> Sighting? {
        packetCount &+= 1
        let parsed = AdvertisingData(parsing: data)
        if kind == .scanResponse {
            guard devices[address] != nil else { return nil }
            devices[address]?.scanResponse = parsed.isEmpty ? nil : parsed
            devices[address]?.lastHeard = packetCount
        } else {
            let isScannable = kind == .connectable || kind == .scannable
            let scanResponse = isScannable ? devices[address]?.scanResponse : nil
            if devices[address] == nil { makeRoom() }
            devices[address] = Device(
                advertisement: parsed,
                kind: kind,
                scanResponse: scanResponse,
                lastHeard: packetCount
            )
        }
        return devices[address].map { device in
            Sighting(
                address: address,
                data: device.scanResponse.map { device.advertisement.merged(with: $0) } ?? device.advertisement,
                isConnectable: device.kind.isConnectable,
                hasScanResponse: device.scanResponse != nil,
                rssi: rssi
            )
        }
    }

    /// Drops the older quarter of a full table, so that the search for it is rare.
    private mutating func makeRoom() {
        guard devices.count >= Self.maximumDevices else { return }
        let heard = devices.values.map(\.lastHeard).sorted()
        let limit = heard[heard.count / 4]
        devices = devices.filter { $0.value.lastHeard >= limit }
    }
}
