import BluetoothTypes
import Cryptography
import EventLoops
import SMP

/// The bonds of one adapter, and who this device is to them. On the loop only.
///
/// A change is durable before it is visible: when saving fails, the bonds are what they were. The exception is what a peer can tell again
/// (``note(_:_:)``, ``updateRecords(_:)``), which is visible at once and saved soon.
package final class BondStore {
    /// Most bonds. An address is resolved by trying the keys of all of them, which takes some 0.1 ms for so many.
    package static let maximumBonds = 1000

    /// Called with a bond that had to give way to a new one, after it is gone: the person is to be told (AB-S14).
    package var onEvict: ((Bond) -> Void)?
    /// Called when a change that is saved soon could not be saved. It is in memory, and is saved with the next change.
    package var onFailure: ((BondError) -> Void)?

    /// Where the bonds are, for a person.
    package var place: String { storage.place }
    /// Who this device is behind its private addresses.
    package var identity: LocalIdentity { state.identity }
    /// The adapter that the bonds belong to.
    package var adapter: AdapterIdentity { state.adapter }
    /// The bonds, in the order in which they were made.
    package var bonds: [Bond] { state.bonds }

    /// How far the changes are that are saved soon.
    private enum Saving {
        case idle
        case underWay
        /// A change was made since the save began.
        case outdated
    }

    private let storage: any BondStorage
    private let capacity: Int
    /// Where saves end that do not block; nil to wait for them.
    private let loop: (any EventLoop)?
    private var saving = Saving.idle
    private var state: StoredBonds
    private var indices: [BondIdentifier: Int] = [:]
    private var identifiers: [BluetoothAddress: BondIdentifier] = [:]

    /// Opens the bonds of `adapter`; the first time with none, and with an identity made for it.
    ///
    /// - Parameters:
    ///   - storage: where they are kept.
    ///   - adapter: whose they are. Another adapter's are not served (AB-H08).
    ///   - adopting: a person has said that `adapter` takes the place of the one that the bonds belong to.
    ///   - random: makes the identity.
    ///   - capacity: most bonds, up to ``maximumBonds``.
    ///   - loop: The loop of the store, which need not wait for what is saved soon; without it each change waits.
    package init(
        storage: any BondStorage,
        adapter: AdapterIdentity,
        adopting: Bool = false,
        random: RandomSource,
        capacity: Int = BondStore.maximumBonds,
        loop: (any EventLoop)? = nil
    ) throws(BondError) {
        self.storage = storage
        self.loop = loop
        self.capacity = min(max(capacity, 1), Self.maximumBonds)
        guard let stored = try storage.load() else {
            let identity = try LocalIdentity(for: adapter, in: storage, random: random)
            state = StoredBonds(adapter: adapter, identity: identity)
            try storage.save(state)
            return
        }
        state = stored
        if stored.adapter != adapter {
            guard adopting else {
                throw .otherAdapter(place: storage.place, owner: stored.adapter, present: adapter)
            }
            // The identity stays: it is the one that the peers know.
            state.adapter = adapter
            try storage.save(state)
        }
        index()
    }

    /// Opens the bonds of whichever adapter they belong to, to list and to forget them.
    ///
    /// - Throws: ``BondError/missing(place:)`` when there are none to open.
    package init(existing storage: any BondStorage) throws(BondError) {
        self.storage = storage
        loop = nil
        capacity = Self.maximumBonds
        guard let stored = try storage.load() else { throw .missing(place: storage.place) }
        state = stored
        index()
    }

    /// The bond with whoever has this identity address, whether it was told or resolved by a controller.
    package func bond(identity address: BluetoothAddress) -> Bond? {
        identifiers[address.asDevice].flatMap(bond)
    }

    /// The bond that an app knows by `identifier`.
    package func bond(_ identifier: BondIdentifier) -> Bond? {
        indices[identifier].map { state.bonds[$0] }
    }

    /// Keeps a new bond. It is durable when this returns.
    ///
    /// It takes the place of the bond with its identifier, and its name unless it has one: who it belongs to has shown that
    /// one's key, or a person has agreed. A full store makes room by forgetting the unauthenticated bond that was used
    /// longest ago.
    ///
    /// - Returns: the bond as it is kept.
    /// - Throws: ``BondError/weaker(than:)``, ``BondError/identityTaken(by:name:)``, ``BondError/ownIdentity``,
    ///   ``BondError/full(_:)``, or why it cannot be saved.
    @discardableResult
    package func add(_ bond: Bond) throws(BondError) -> Bond {
        var (new, next) = (bond.bounded, state)
        try refuseStolenIdentity(new)
        var evicted: Bond?
        next.uses &+= 1
        new.lastUse = next.uses
        if let index = indices[new.identifier] {
            let old = next.bonds[index]
            // A weaker key never takes the place of a stronger one (AB-S10).
            guard new.keys.level.isAtLeast(old.keys.level) else { throw .weaker(than: old.identifier) }
            new.name = new.name ?? old.name
            next.bonds[index] = new
        } else {
            if next.bonds.count >= capacity { evicted = next.bonds.remove(at: try indexToEvict()) }
            next.bonds.append(new)
        }
        try commit(next)
        if let evicted { onEvict?(evicted) }
        return new
    }

    /// Changes a bond; its identifier stays. What has changed is durable when this returns.
    ///
    /// - Throws: ``BondError/unknown(_:)``, or why it cannot be saved.
    package func update(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) throws(BondError) {
        guard let index = indices[identifier] else { throw .unknown(identifier) }
        var next = state
        change(&next.bonds[index])
        next.bonds[index].identifier = identifier
        next.bonds[index] = next.bonds[index].bounded
        guard next.bonds[index] != state.bonds[index] else { return }
        try refuseStolenIdentity(next.bonds[index])
        try commit(next)
    }

    /// Forgets a bond.
    ///
    /// - Throws: ``BondError/unknown(_:)``, or why it cannot be saved; then the bond is still there.
    package func remove(_ identifier: BondIdentifier) throws(BondError) {
        guard let index = indices[identifier] else { throw .unknown(identifier) }
        var next = state
        next.bonds.remove(at: index)
        try commit(next)
    }

    /// Notes that the peer is in use, so that others give way before it does. It is saved with the next change: nothing
    /// else depends on it.
    package func use(_ identifier: BondIdentifier) {
        guard let index = indices[identifier] else { return }
        state.uses &+= 1
        state.bonds[index].lastUse = state.uses
    }

    /// Changes what is kept of a peer that it can tell again: its name, its table, what it has chosen as a client. It is saved soon, and
    /// ``onFailure`` tells if it cannot be.
    package func note(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) {
        guard let index = indices[identifier] else { return }
        var bond = state.bonds[index]
        change(&bond)
        // Who the peer is and its keys are for ``update(_:_:)``.
        (bond.identifier, bond.address, bond.keys) = (identifier, state.bonds[index].address, state.bonds[index].keys)
        guard bond.bounded != state.bonds[index] else { return }
        state.bonds[index] = bond.bounded
        saveSoon()
    }

    /// Makes durable what is saved soon. To be called before the store is let go of.
    package func flush() {
        if saving == .idle { return }
        do { try storage.save(state) } catch { onFailure?(error) }
    }

    /// Saves what has changed, with what changes until the save under way has ended.
    private func saveSoon() {
        guard let loop else {
            do { try storage.save(state) } catch { onFailure?(error) }
            return
        }
        guard saving == .idle else { return saving = .outdated }
        saving = .underWay
        storage.saveLater(state, on: loop) { [weak self] error in
            guard let self else { return }
            let isOutdated = saving == .outdated
            saving = .idle
            if let error { onFailure?(error) }
            if isOutdated { saveSoon() }
        }
    }

    /// Applies `change` to all bonds, whether or not that can be saved: see ``onFailure``.
    func updateAll(_ change: (inout Bond) -> Void) {
        var next = state
        for index in next.bonds.indices {
            change(&next.bonds[index])
            if next.bonds[index] != state.bonds[index] { next.bonds[index] = next.bonds[index].bounded }
        }
        guard next != state else { return }
        state = next
        saveSoon()
    }

    /// An identity belongs to one bond, and ours to none: whoever gives another one's address or resolving key for its own
    /// would be taken for that one, however good its own keys are (AB-S10, AB-S11).
    private func refuseStolenIdentity(_ new: Bond) throws(BondError) {
        let own = state.identity
        guard new.address != own.address.asDevice, new.keys.identityKey.map({ $0 != own.key }) ?? true else {
            throw .ownIdentity
        }
        let owner = state.bonds.first { old in
            guard old.identifier != new.identifier else { return false }
            let hasSameKey = old.keys.identityKey != nil && old.keys.identityKey == new.keys.identityKey
            return hasSameKey || old.address.asDevice == new.address
        }
        if let owner { throw .identityTaken(by: owner.identifier, name: owner.name) }
    }

    private func indexToEvict() throws(BondError) -> Int {
        let candidates = state.bonds.indices.filter { !state.bonds[$0].keys.level.isAuthenticated }
        guard let oldest = candidates.min(by: { state.bonds[$0].lastUse < state.bonds[$1].lastUse }) else {
            throw .full(state.bonds.count)
        }
        return oldest
    }

    private func commit(_ next: StoredBonds) throws(BondError) {
        try storage.save(next)
        state = next
        // It has what was to be saved soon.
        if saving == .outdated { saving = .underWay }
        index()
    }

    private func index() {
        indices = [:]
        identifiers = [:]
        for (index, bond) in state.bonds.enumerated() {
            indices[bond.identifier] = index
            identifiers[bond.address.asDevice] = bond.identifier
        }
    }
}

extension Bond {
    /// With no more than is kept of a bond.
    var bounded: Bond {
        var bond = self
        bond.address = address.asDevice
        bond.name = name?.prefix(octets: Self.maximumName)
        // All bits clear is no key (AB-S11).
        if keys.identityKey == .zero { bond.keys.identityKey = nil }
        if let cache, size(cache.write) > Self.maximumCache { bond.cache = nil }
        if let record, size(record.write) > Self.maximumRecord { bond.record = nil }
        return bond
    }
}

/// How many octets are written.
private func size(_ write: (inout PacketBuffer) -> Void) -> Int {
    var buffer: PacketBuffer = []
    write(&buffer)
    return buffer.count
}

extension BluetoothAddress {
    /// The same address, with the kind that the device itself gives it.
    var asDevice: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomDevice : .publicDevice)
    }
}

extension LocalIdentity {
    /// A new one: the adapter's own address, or a static random one when it has none (Core Vol 6 Part B 1.3.2.1), and a
    /// key of random numbers. The static one is the same each time for the same place, where the storage can see to that.
    fileprivate init(for adapter: AdapterIdentity, in storage: any BondStorage, random: RandomSource) throws(BondError)
    {
        var address = adapter.address.asDevice
        if adapter.address == .none {
            let octets = try storage.derive("static address at \(adapter.place)")?.prefix(8)
            let number = octets.map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } } ?? random.next()
            // Neither all bits set nor all clear besides the two that say what it is.
            address = BluetoothAddress(0b11 << 46 | 1 + number % ((1 << 46) - 2), kind: .randomDevice)
        }
        self.init(address: address, key: Key128(Block128(high: random.next(), low: random.next() | 1)))
    }
}
