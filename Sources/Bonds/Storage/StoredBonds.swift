import BluetoothTypes
import SMP

/// What a store keeps, as a whole: it is always written and read together, so that no part is ever older than another.
package struct StoredBonds: Hashable, Sendable {
    /// The adapter that the store belongs to.
    package var adapter: AdapterIdentity
    /// Who this device is.
    package var identity: LocalIdentity
    /// How often a bond has been used; the last one's ``Bond/lastUse``.
    package var uses: UInt64
    /// The bonds, in the order in which they were made.
    package var bonds: [Bond]

    /// The given values.
    package init(adapter: AdapterIdentity, identity: LocalIdentity, uses: UInt64 = 0, bonds: [Bond] = []) {
        self.adapter = adapter
        self.identity = identity
        self.uses = uses
        self.bonds = bonds
    }
}
