import BluetoothTypes
import SMP

/// What a store keeps, as a whole: it is always written and read together, so that no part is ever older than another.
public struct StoredBonds: Hashable, Sendable {
    /// The adapter that the store belongs to.
    public var adapter: AdapterIdentity
    /// Who this device is.
    public var identity: LocalIdentity
    /// How often a bond has been used; the last one's ``Bond/lastUse``.
    public var uses: UInt64
    /// The bonds, in the order in which they were made.
    public var bonds: [Bond]

    /// The given values.
    public init(adapter: AdapterIdentity, identity: LocalIdentity, uses: UInt64 = 0, bonds: [Bond] = []) {
        self.adapter = adapter
        self.identity = identity
        self.uses = uses
        self.bonds = bonds
    }
}
