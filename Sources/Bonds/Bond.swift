import BluetoothTypes
import GATT
import SMP

/// All that is kept of a peer that this device has paired with.
package struct Bond: Hashable, Sendable {
    /// Most octets of a name: what a Device Name has at most (Core Vol 3 Part C 12.1).
    package static let maximumName = 248
    /// Most octets, as they are stored, of what was found in the peer's database; some 1,500 as a rule. What is larger is not
    /// kept and is found again, so that no peer takes the room of others (AB-S14).
    package static let maximumCache = 9 << 10
    /// The same for what the peer has chosen as a client. All that it could choose in the largest database of ours is less.
    package static let maximumRecord = 6 << 10
    /// The same for all of a bond: the rest is keys, addresses and the name.
    package static let maximumSize = maximumCache + maximumRecord + 398

    /// What an app calls the peer.
    package var identifier: BondIdentifier
    /// The identity address; for a peer that gave none, the address that it had when it paired.
    package var address: BluetoothAddress
    /// The keys, and how good they are.
    package var keys: PeerKeys
    /// What the peer calls itself; at most ``maximumName`` octets are kept.
    package var name: String?
    /// What the peer has chosen as a client of this device's database.
    package var record: ClientRecord?
    /// What has been found in the peer's database.
    package var cache: AttributeCache?
    /// Whether the peer has said that it has no key any more. The bond stays until a person forgets it (behaviour 6.12,
    /// AB-S09).
    package var isLost = false
    /// Whether the peer paired under its identity address, and so may be met under it again although it has a key for
    /// private addresses: device privacy mode. Otherwise it counts only under those (Core Vol 6 Part B 6).
    package var showsIdentity = false
    /// Higher for peers that were used later. ``BondStore/use(_:)`` counts.
    package var lastUse: UInt64 = 0

    /// A bond with nothing but keys.
    package init(identifier: BondIdentifier, address: BluetoothAddress, keys: PeerKeys, name: String? = nil) {
        self.identifier = identifier
        self.address = address
        self.keys = keys
        self.name = name
    }
}

extension Bond: CustomStringConvertible {
    /// Who it is with and how good the key is; no secrets.
    package var description: String {
        let trust = keys.level.isAuthenticated ? "authenticated" : "unauthenticated"
        let kind = keys.level.isSecureConnections ? "Secure Connections" : "legacy"
        let lost = isLost ? ", lost by the peer" : ""
        return "\(identifier) \(address) (\(trust), \(kind), \(keys.level.keySize) octets\(lost))"
    }
}
