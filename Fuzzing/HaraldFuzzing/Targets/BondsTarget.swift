import BluetoothTypes
import Cryptography
import EventLoops
import GATT
import SMP

@testable import Security

extension FuzzTarget {
    /// A file of bonds: as it is, and its content without the seal, which would reject nearly all changes.
    static let bonds = FuzzTarget(
        "bonds",
        maximumLength: 1_000,
        seeds: [content(of: [], random: RandomSource(seed: 1)), content(of: sample, random: RandomSource(seed: 2))]
    ) { input in
        let encode = { (state: StoredBonds) in BondFile.encode(state, secret) }
        let decode = { (file: PacketBuffer) throws -> StoredBonds in try BondFile.decode(file, secret) }
        if let state = Codec.read(input, decode) { Codec.survives(state, encode: encode, decode: decode) }
        // The format before secrets were introduced, and its content.
        if let state = Codec.read(input, { try BondFile.decode($0, nil) }) {
            Codec.survives(state, encode: encode, decode: decode)
        }
        if let state = Codec.read(input, { try StoredBonds(reading: $0, version: 1) }) {
            Codec.survives(state, encode: encode, decode: decode)
        }
        guard let state = Codec.read(input, { try StoredBonds(reading: $0) }) else { return }
        var again = PacketBuffer(headroom: 0)
        state.write(to: &again)
        hold(again == input.whole, "a state has two encodings")
        Codec.survives(state, encode: encode, decode: decode)
        hold("\(state.bonds)".utf8.count <= 64 * 1024, "a description of 64 KiB")
    }

    private static let secret = HostSecret(random: RandomSource(seed: 4), predecessor: nil)

    private static func content(of bonds: [Bond], random: RandomSource) -> [UInt8] {
        let adapter = AdapterIdentity(address: BluetoothAddress(0x00A0_5011_2233, kind: .publicDevice), place: "usb")
        let identity = LocalIdentity(address: adapter.address, key: Key128(Block128(high: random.next(), low: 1)))
        var content = PacketBuffer(headroom: 0)
        StoredBonds(adapter: adapter, identity: identity, uses: 3, bonds: bonds).write(to: &content)
        return content.bytes
    }

    /// A complete bond, and one without optional parts.
    private static var sample: [Bond] {
        let random = RandomSource(seed: 3)
        func key() -> Key128 { Key128(Block128(high: random.next(), low: random.next())) }
        var full = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false))
        full.localKey = EncryptionKey(key: key(), diversifier: 7, random: 8)
        full.peerKey = EncryptionKey(key: key(), diversifier: 9, random: 10)
        (full.identityKey, full.localSigningKey, full.peerSigningKey) = (key(), key(), key())
        full.identityAddress = BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)
        let address = BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)
        var bond = Bond(identifier: BondIdentifier(random: random), address: address, keys: full, name: "Ticker")
        bond.record = ClientRecord(
            configurations: [3: .notify, 9: .indicate],
            features: .robustCaching,
            databaseHash: DatabaseHash([UInt8](repeating: 5, count: 16)),
            isChangeAware: false,
            missedChanges: [2...4, 9...12]
        )
        var cache = AttributeCache(hash: DatabaseHash([UInt8](repeating: 6, count: 16)))
        cache.services = [DiscoveredService(handles: 1...9, uuid: 0x180D)]
        cache.includes = [1: [DiscoveredService(handles: 20...29, uuid: BluetoothUUID(high: 1, low: 2))]]
        cache.characteristics = [
            1: [DiscoveredCharacteristic(declaration: 2, value: 3, end: 4, properties: .notify, uuid: 0x2A37)]
        ]
        cache.descriptors = [3: [DiscoveredDescriptor(handle: 4, uuid: 0x2902)]]
        bond.cache = cache
        let level = KeyLevel(keySize: 7, isAuthenticated: false, isSecureConnections: true)
        let other = BluetoothAddress(2, kind: .publicDevice)
        return [bond, Bond(identifier: BondIdentifier(random: random), address: other, keys: PeerKeys(level: level))]
    }
}
