import BluetoothTypes
import Cryptography
import SMP

/// The data of a bonded device that address privacy needs.
package struct PrivatePeer: Hashable, Sendable {
    /// The identity address; if the peer distributed none, the address it had when it was bonded.
    package var identity: BluetoothAddress
    /// The identity resolving key; nil if the peer distributed none. A key of zero counts as none (AB-S11).
    package var key: Key128?
    /// The fixed address from which the peer paired, if it is not ``identity``. The peer may use it as well.
    package var pairingAddress: BluetoothAddress?
    /// Whether the peer may also use its identity address: device privacy mode.
    ///
    /// Otherwise, in network privacy mode, the identity address is ignored, since an impostor may have copied it (Core
    /// Vol 6 Part B 6). A peer without a ``key`` may always use it.
    package var showsIdentity: Bool
    /// When the bond was last used, in any unit that increases. The most recent ones go on the controller's list first.
    package var lastUse: UInt64

    /// Creates a peer. A key of zero counts as none.
    package init(
        identity: BluetoothAddress,
        key: Key128?,
        pairingAddress: BluetoothAddress? = nil,
        showsIdentity: Bool = false,
        lastUse: UInt64 = 0
    ) {
        self.identity = identity.plain
        self.key = key == .zero ? nil : key
        self.pairingAddress = pairingAddress?.plain
        self.showsIdentity = showsIdentity
        self.lastUse = lastUse
    }

    /// Whether the peer is accepted under its identity address.
    package var mayShowIdentity: Bool { showsIdentity || key == nil }
}

extension PrivatePeer {
    package init(_ bond: Bond) {
        self.init(
            identity: bond.address,
            key: bond.keys.identityKey,
            pairingAddress: bond.pairingAddress,
            showsIdentity: bond.showsIdentity,
            lastUse: bond.lastUse
        )
    }
}
