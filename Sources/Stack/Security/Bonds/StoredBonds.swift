import BluetoothTypes
import SMP

/// The complete state of a store. It is always written and read as a whole, so that no part is older than another.
package struct StoredBonds: Hashable, Sendable {
    /// The adapter that the store belongs to.
    package var adapter: AdapterIdentity
    /// The identity of this device.
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
