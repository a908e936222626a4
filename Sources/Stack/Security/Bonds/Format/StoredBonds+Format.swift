import BluetoothTypes
import Cryptography
import SMP

extension StoredBonds {
    func write(to buffer: inout PacketBuffer) {
        buffer.append(address: adapter.address)
        buffer.append(integer: adapter.company)
        buffer.append(text: adapter.place)
        buffer.append(address: identity.address)
        buffer.append(contentsOf: identity.key.bytes)
        buffer.append(integer: uses)
        buffer.append(integer: UInt16(truncatingIfNeeded: bonds.count))
        for bond in bonds { bond.write(to: &buffer) }
    }

    init(reading body: PacketBuffer, version: UInt16 = BondFile.version) throws(PacketError) {
        var reader = ByteReader(body)
        adapter = try version == 1 ? AdapterIdentity(readingVersion1: &reader) : AdapterIdentity(reading: &reader)
        identity = LocalIdentity(address: try reader.address(at: "identity"), key: try reader.key(at: "identity's key"))
        uses = try reader.integer(at: "uses")
        let count = try reader.integer(UInt16.self, at: "number of bonds")
        bonds = []
        var identifiers: Set<BondIdentifier> = []
        var addresses: Set<BluetoothAddress> = []
        for _ in 0..<count {
            let bond = try Bond(reading: &reader)
            guard identifiers.insert(bond.identifier).inserted,
                bond.addresses.allSatisfy({ addresses.insert($0).inserted })
            else {
                throw PacketError(.value(bond.address.value), at: "bond")
            }
            bonds.append(bond)
        }
        try reader.end(at: "bonds")
        // Version 1 accepted bonds that are no longer kept.
        if version == 1 { bonds = bonds.filter(\.keys.canEncrypt).map(\.bounded) }
    }
}

extension AdapterIdentity {
    fileprivate init(reading reader: inout ByteReader) throws(PacketError) {
        let address = try reader.address(at: "adapter")
        let company = try reader.integer(UInt16.self, at: "adapter's company")
        let place = try reader.text(at: "adapter's place", atMost: Self.maximumPlace)
        self.init(address: address, company: company, place: place)
    }

    /// Reads the identity in version 1, which had one text that contained the company. It lacks the place of the
    /// adapter, so the user has to confirm which adapter it is now.
    fileprivate init(readingVersion1 reader: inout ByteReader) throws(PacketError) {
        let address = try reader.address(at: "adapter")
        let details = try reader.text(at: "adapter's details", atMost: Self.maximumPlace)
        let words = details.split(separator: " ")
        if words.count == 2, words[0] == "company", let company = UInt16(words[1]) {
            self.init(address: address, company: company)
        } else {
            self.init(address: address, place: details)
        }
    }
}

/// The optional fields and Boolean properties of a bond, one bit each.
private struct BondFlags: OptionSet {
    let rawValue: UInt16
    static let name = BondFlags(rawValue: 1 << 0)
    static let localKey = BondFlags(rawValue: 1 << 1)
    static let peerKey = BondFlags(rawValue: 1 << 2)
    static let identityKey = BondFlags(rawValue: 1 << 3)
    static let identityAddress = BondFlags(rawValue: 1 << 4)
    static let localSigningKey = BondFlags(rawValue: 1 << 5)
    static let peerSigningKey = BondFlags(rawValue: 1 << 6)
    static let record = BondFlags(rawValue: 1 << 7)
    static let cache = BondFlags(rawValue: 1 << 8)
    static let isLost = BondFlags(rawValue: 1 << 9)
    static let isAuthenticated = BondFlags(rawValue: 1 << 10)
    static let isSecureConnections = BondFlags(rawValue: 1 << 11)
    static let showsIdentity = BondFlags(rawValue: 1 << 12)
    static let pairingAddress = BondFlags(rawValue: 1 << 13)
    static let all = BondFlags(rawValue: (1 << 14) - 1)
}

extension Bond {
    private var flags: BondFlags {
        let table: [(Bool, BondFlags)] = [
            (name != nil, .name), (keys.localKey != nil, .localKey), (keys.peerKey != nil, .peerKey),
            (keys.identityKey != nil, .identityKey), (keys.identityAddress != nil, .identityAddress),
            (keys.localSigningKey != nil, .localSigningKey), (keys.peerSigningKey != nil, .peerSigningKey),
            (record != nil, .record), (cache != nil, .cache), (isLost, .isLost), (showsIdentity, .showsIdentity),
            (pairingAddress != nil, .pairingAddress),
            (keys.level.isAuthenticated, .isAuthenticated), (keys.level.isSecureConnections, .isSecureConnections),
        ]
        return BondFlags(table.filter(\.0).map(\.1))
    }

    func write(to buffer: inout PacketBuffer) {
        buffer.append(contentsOf: identifier.bytes)
        buffer.append(address: address)
        buffer.append(integer: lastUse)
        buffer.append(integer: flags.rawValue)
        buffer.append(UInt8(clamping: keys.level.keySize))
        buffer.append(integer: keys.localSignCounter)
        buffer.append(integer: keys.peerSignCounter)
        if let name { buffer.append(text: name) }
        for key in [keys.localKey, keys.peerKey] {
            guard let key else { continue }
            buffer.append(contentsOf: key.key.bytes)
            buffer.append(integer: key.diversifier)
            buffer.append(integer: key.random)
        }
        for key in [keys.identityKey, keys.localSigningKey, keys.peerSigningKey] {
            if let key { buffer.append(contentsOf: key.bytes) }
        }
        for address in [keys.identityAddress, pairingAddress] {
            if let address { buffer.append(address: address) }
        }
        record?.write(to: &buffer)
        cache?.write(to: &buffer)
    }

    init(reading reader: inout ByteReader) throws(PacketError) {
        let identifier = try reader.block(at: "identifier")
        let address = try reader.address(at: "address")
        let lastUse = try reader.integer(UInt64.self, at: "last use")
        let flags = BondFlags(rawValue: try reader.integer(at: "flags"))
        guard flags.isSubset(of: .all) else { throw PacketError(.value(UInt64(flags.rawValue)), at: "flags") }
        keys = try PeerKeys(reading: &reader, flags: flags, name: &name)
        self.identifier = BondIdentifier(high: identifier.high, low: identifier.low)
        self.address = address
        self.lastUse = lastUse
        isLost = flags.contains(.isLost)
        showsIdentity = flags.contains(.showsIdentity)
        pairingAddress = flags.contains(.pairingAddress) ? try reader.address(at: "pairing address") : nil
        record = flags.contains(.record) ? try .init(reading: &reader) : nil
        cache = flags.contains(.cache) ? try .init(reading: &reader) : nil
    }
}

extension PeerKeys {
    /// Reads the keys, and the name, which is stored between them.
    fileprivate init(reading reader: inout ByteReader, flags: BondFlags, name: inout String?) throws(PacketError) {
        let size = try reader.integer(UInt8.self, at: "key size")
        guard (7...16).contains(size) else { throw PacketError(.value(UInt64(size)), at: "key size") }
        self.init(
            level: KeyLevel(
                keySize: Int(size),
                isAuthenticated: flags.contains(.isAuthenticated),
                isSecureConnections: flags.contains(.isSecureConnections)
            )
        )
        localSignCounter = try reader.integer(at: "own signatures")
        peerSignCounter = try reader.integer(at: "peer's signatures")
        name = flags.contains(.name) ? try reader.text(at: "name", atMost: Bond.maximumName) : nil
        localKey = flags.contains(.localKey) ? try reader.encryptionKey(at: "own key") : nil
        peerKey = flags.contains(.peerKey) ? try reader.encryptionKey(at: "peer's key") : nil
        identityKey = flags.contains(.identityKey) ? try reader.key(at: "identity key") : nil
        localSigningKey = flags.contains(.localSigningKey) ? try reader.key(at: "own signing key") : nil
        peerSigningKey = flags.contains(.peerSigningKey) ? try reader.key(at: "peer's signing key") : nil
        identityAddress = flags.contains(.identityAddress) ? try reader.address(at: "identity address") : nil
    }
}
