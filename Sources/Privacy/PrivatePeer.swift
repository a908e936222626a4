import BluetoothTypes
import Bonds
import Cryptography
import SMP

/// What the own privacy has to know of a device that this one is bonded with.
package struct PrivatePeer: Hashable, Sendable {
    /// Its identity address; the address that it had when it gave none.
    package var identity: BluetoothAddress
    /// The key to resolve its private addresses with; nil when it gave none. A key of zero counts as none (AB-S11).
    package var key: Key128?
    /// Whether it may also show its identity address: device privacy mode. Otherwise, in network privacy mode, it is
    /// ignored when it does, for it may be an impostor who has only copied the address (Core Vol 6 Part B 6). Without a
    /// ``key`` it always may.
    package var showsIdentity: Bool
    /// When it was used last, in any unit that grows. Those used last are told to the controller first.
    package var lastUse: UInt64

    /// A bonded device.
    package init(
        identity: BluetoothAddress,
        key: Key128?,
        showsIdentity: Bool = false,
        lastUse: UInt64 = 0
    ) {
        self.identity = identity.plain
        self.key = key == .zero ? nil : key
        self.showsIdentity = showsIdentity
        self.lastUse = lastUse
    }

    /// Whether it is to be taken for itself under its identity address.
    package var mayShowIdentity: Bool { showsIdentity || key == nil }
}

extension PrivatePeer {
    /// The peer of a bond.
    package init(_ bond: Bond) {
        self.init(
            identity: bond.address,
            key: bond.keys.identityKey,
            showsIdentity: bond.showsIdentity,
            lastUse: bond.lastUse
        )
    }
}
