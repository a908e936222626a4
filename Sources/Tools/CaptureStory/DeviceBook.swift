import AssignedNumbers
import BluetoothTypes
import Cryptography

/// A device of a capture.
package struct StoryDevice: Hashable, Sendable {
    /// The address that the capture shows.
    package var address: BluetoothAddress
    /// The identity behind a resolvable private address, if the capture holds its key.
    package var identity: BluetoothAddress?
    /// The name in an advertisement or a scan response, without control characters.
    package var name: String?
    /// The number of advertisements and scan responses.
    package var advertisements = 0
    /// The greatest RSSI, in dBm.
    package var rssi: Int8?
    /// The contents of its first advertisement, in words.
    package var contents: [String] = []
    /// The time of its first packet, in microseconds since the Unix epoch.
    package var firstSeen: Int64
}

/// The devices of a capture, by address, and the keys that resolve their private addresses.
struct DeviceBook: Sendable {
    /// The address without the distinction between identity addresses and others.
    struct Key: Hashable, Sendable {
        let value: UInt64
        let isRandom: Bool

        init(_ address: BluetoothAddress) { (value, isRandom) = (address.value, address.kind.isRandom) }
    }

    private struct IdentityKey: Hashable, Sendable {
        let key: Key128
        let identity: BluetoothAddress
    }

    private var table = StoryDeviceTable()
    private var keys: [IdentityKey] = []
    private(set) var forgotten = 0

    /// The devices, in the order of their first packets.
    var devices: [StoryDevice] {
        table.values.sorted { ($0.firstSeen, $0.address.value) < ($1.firstSeen, $1.address.value) }
    }

    /// Adds an advertisement.
    ///
    /// - Returns: The device, if there is news about it: its first packet, its name or its identity.
    mutating func advertised(
        _ address: BluetoothAddress,
        _ data: PacketBuffer,
        rssi: Int8?,
        at time: Int64
    ) -> StoryDevice? {
        let key = Key(address)
        let known = table.use(key)
        let index = known ?? add(made(address, at: time), key)
        let isNamed = table.advertised(index, data, rssi: rssi)
        return known == nil || isNamed ? table[index] : nil
    }

    /// Adds a device that takes part in a connection.
    mutating func addConnected(_ address: BluetoothAddress, at time: Int64) {
        let key = Key(address)
        if table.use(key) == nil { _ = add(made(address, at: time), key) }
    }

    /// Sets the identity that the controller has resolved an address to.
    mutating func resolved(_ address: BluetoothAddress, to identity: BluetoothAddress) {
        table.update(Key(address)) { $0.identity = identity }
    }

    /// Adds a key, and resolves the addresses that are known.
    ///
    /// - Returns: The devices whose identity is new.
    mutating func add(_ key: Key128, of identity: BluetoothAddress) -> [StoryDevice] {
        let added = IdentityKey(key: key, identity: identity)
        guard key != .zero, !keys.contains(added) else { return [] }
        if keys.count >= StoryLimits.keys { keys.removeFirst() }
        keys.append(added)
        var news: [StoryDevice] = []
        for var device in devices where device.identity == nil && Self.resolves(device.address, added.key) {
            device.identity = identity
            table.update(Key(device.address)) { $0.identity = identity }
            news.append(device)
        }
        return news
    }

    /// Returns the identity of a device, or else the address itself.
    func identity(of address: BluetoothAddress) -> BluetoothAddress {
        table[Key(address)]?.identity ?? address
    }

    func name(_ address: BluetoothAddress) -> String? { table[Key(address)]?.name }

    func label(_ address: BluetoothAddress) -> String {
        let device = table[Key(address)]
        let identity = device?.identity
        let name = device?.name ?? identity.flatMap { table[Key($0)]?.name } ?? nameOfIdentity(identity ?? address)
        var text = name.map { "\($0.quotedName) (\(address)" } ?? "\(address)"
        if let identity, identity.value != address.value {
            text += name == nil ? " (is \(identity))" : ", is \(identity)"
        }
        return name == nil ? text : text + ")"
    }

    /// The name under which the same identity was seen with another address.
    private func nameOfIdentity(_ identity: BluetoothAddress) -> String? {
        devices.first { $0.identity?.value == identity.value && $0.name != nil }?.name
    }

    private func made(_ address: BluetoothAddress, at time: Int64) -> StoryDevice {
        var device = StoryDevice(address: address, firstSeen: time)
        device.identity = keys.last { Self.resolves(address, $0.key) }?.identity
        return device
    }

    private mutating func add(_ device: StoryDevice, _ key: Key) -> Int {
        if table.isFull { forgotten += 1 }
        return table.add(device, key)
    }

    /// Returns whether a key generated an address (Core Vol 6 Part B 1.3.2.3).
    private static func resolves(_ address: BluetoothAddress, _ key: Key128) -> Bool {
        guard address.randomKind == .resolvable else { return false }
        return Toolbox.ah(key, UInt32(truncatingIfNeeded: address.value >> 24)) == UInt32(address.value & 0xFF_FFFF)
    }
}
