import AssignedNumbers
import BluetoothTypes

/// The devices of a ``DeviceBook`` with the order of their last packets.
///
/// Most records of many captures are advertising reports of devices that are known already: these change in place, and
/// nothing is allocated. Only a new device beyond the limit costs a search for the oldest one.
struct StoryDeviceTable: Sendable {
    private struct Entry: Sendable {
        let key: DeviceBook.Key
        var device: StoryDevice
        var lastUse: UInt64
        /// The advertising data that was parsed last.
        var parsed: PacketBuffer = []
    }

    private var places: [DeviceBook.Key: Int] = [:]
    private var entries: [Entry] = []
    private var uses: UInt64 = 0

    var isFull: Bool { entries.count >= StoryLimits.devices }

    /// The devices, in no particular order.
    var values: [StoryDevice] { entries.map(\.device) }

    subscript(_ index: Int) -> StoryDevice { entries[index].device }

    subscript(_ key: DeviceBook.Key) -> StoryDevice? { places[key].map { entries[$0].device } }

    /// Returns the place of a device, which becomes the most recent.
    mutating func use(_ key: DeviceBook.Key) -> Int? {
        guard let index = places[key] else { return nil }
        uses += 1
        entries[index].lastUse = uses
        return index
    }

    /// Adds a device, in place of the least recent one if there is no room.
    mutating func add(_ device: StoryDevice, _ key: DeviceBook.Key) -> Int {
        uses += 1
        let entry = Entry(key: key, device: device, lastUse: uses)
        let oldest = isFull ? entries.indices.min { entries[$0].lastUse < entries[$1].lastUse } : nil
        let index = oldest ?? entries.count
        if let oldest {
            places[entries[oldest].key] = nil
            entries[oldest] = entry
        } else {
            entries.append(entry)
        }
        places[key] = index
        return index
    }

    mutating func update(_ key: DeviceBook.Key, _ change: (inout StoryDevice) -> Void) {
        guard let index = places[key] else { return }
        change(&entries[index].device)
    }

    /// Counts an advertisement.
    ///
    /// - Returns: Whether it names the device for the first time.
    mutating func advertised(_ index: Int, _ data: PacketBuffer, rssi: Int8?) -> Bool {
        entries[index].device.advertisements += 1
        if let rssi, rssi != 127, rssi > entries[index].device.rssi ?? -128 { entries[index].device.rssi = rssi }
        let isKnown = entries[index].device.name != nil && !entries[index].device.contents.isEmpty
        guard !isKnown, !data.isEmpty, data != entries[index].parsed else { return false }
        entries[index].parsed = PacketBuffer(copying: data, headroom: 0)
        let parsed = AdvertisingData(parsing: data)
        if entries[index].device.contents.isEmpty {
            entries[index].device.contents = AdvertisementText.words(of: parsed)
        }
        guard entries[index].device.name == nil, let name = parsed.localName else { return false }
        entries[index].device.name = name.text.oneLine(64)
        return true
    }
}
