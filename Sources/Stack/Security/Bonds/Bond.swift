import BluetoothTypes
import GATT
import SMP

/// The stored data of a peer that this device has paired with.
package struct Bond: Hashable, Sendable {
    /// The maximum length of a name in octets, the same as that of the Device Name (Core Vol 3 Part C 12.1).
    package static let maximumName = 248
    /// The maximum size of the stored attribute cache in octets; usually it has about 1,500. A larger one is not stored
    /// and has to be discovered again, so that no peer uses the space of others (AB-S14).
    package static let maximumCache = 9 << 10
    /// The maximum size of the stored client record in octets. The largest record for a database of this device is
    /// smaller.
    package static let maximumRecord = 6 << 10
    /// The maximum size of a stored bond in octets, including keys, addresses and the name.
    package static let maximumSize = maximumCache + maximumRecord + 405

    package var identifier: BondIdentifier
    /// The identity address; for a peer that sent none, the address that it had during pairing.
    package var address: BluetoothAddress
    /// The address that the peer had during pairing, if that is fixed and differs from ``address``. The peer may return
    /// from it (behaviour 6.23).
    package var pairingAddress: BluetoothAddress?
    package var keys: PeerKeys
    /// The name of the peer, truncated to ``maximumName`` octets.
    package var name: String?
    /// The peer's state as a client of this device's GATT database.
    package var record: ClientRecord?
    package var cache: AttributeCache?
    /// Whether the peer has indicated that it no longer has its key. The bond stays until the user removes it
    /// (behaviour 6.12, AB-S09).
    package var isLost = false
    /// Whether the peer paired under its identity address or another fixed one, and may therefore use its identity
    /// address although it has a key for private addresses: device privacy mode. Otherwise only its private addresses
    /// are accepted (Core Vol 6 Part B 6).
    package var showsIdentity = false
    /// The order of use: higher for bonds that were used later. Updated by ``BondStore/use(_:)``.
    package var lastUse: UInt64 = 0

    package init(identifier: BondIdentifier, address: BluetoothAddress, keys: PeerKeys, name: String? = nil) {
        self.identifier = identifier
        self.address = address
        self.keys = keys
        self.name = name
    }
}

extension Bond {
    /// The fixed addresses that the peer may use, the identity address first.
    package var addresses: [BluetoothAddress] { [address] + (pairingAddress.map { [$0] } ?? []) }
}

extension Bond: CustomStringConvertible {
    /// The peer and the quality of the key, without secrets.
    package var description: String {
        let trust = keys.level.isAuthenticated ? "authenticated" : "unauthenticated"
        let kind = keys.level.isSecureConnections ? "Secure Connections" : "legacy"
        let lost = isLost ? ", lost by the peer" : ""
        return "\(identifier) \(address) (\(trust), \(kind), \(keys.level.keySize) octets\(lost))"
    }
}

/// The complete state of a store. It is always written and read as a whole, so that no part is older than another.
package struct StoredBonds: Hashable, Sendable {
    package var adapter: AdapterIdentity
    package var identity: LocalIdentity
    /// The number of times that bonds have been used, which is the latest ``Bond/lastUse``.
    package var uses: UInt64
    /// The bonds, in the order of their creation.
    package var bonds: [Bond]

    package init(adapter: AdapterIdentity, identity: LocalIdentity, uses: UInt64 = 0, bonds: [Bond] = []) {
        self.adapter = adapter
        self.identity = identity
        self.uses = uses
        self.bonds = bonds
    }
}
