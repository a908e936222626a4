import BluetoothTypes
import Cryptography
import EventLoops
import GATT
import SMP

/// The bonds of one adapter, and the identity of this device. Used on the event loop only.
///
/// A change is durable before it is visible; if saving fails, the bonds are unchanged. The exception is data that a
/// peer can provide again (``note(_:_:)``, ``updateRecords(_:)``): it is visible at once, and saved soon.
package final class BondStore {
    /// The maximum number of bonds. Resolving an address tries the keys of all bonds, which takes about 0.1 ms for this
    /// number.
    package static let maximumBonds = 1000

    /// Called with a bond that was evicted in favour of a new one, after its removal, in order to notify the user
    /// (AB-S14).
    package var onEvict: ((Bond) -> Void)?
    /// Called when a deferred save has failed. The change stays in memory, and is saved with the next one.
    package var onFailure: ((BondError) -> Void)?

    package var place: String { storage.place }
    package var identity: LocalIdentity { state.identity }
    package var adapter: AdapterIdentity { state.adapter }
    /// The bonds, in the order of their creation.
    package var bonds: [Bond] { state.bonds }

    /// The state of deferred saves.
    private enum Saving {
        case idle
        /// The last save failed, so its changes are in memory only.
        case failed
        case underWay
        /// A change was made after the current save began.
        case outdated
    }

    private let storage: any BondStorage
    private let capacity: Int
    /// The loop on which background saves complete; nil to save synchronously.
    private let loop: (any EventLoop)?
    private var saving = Saving.idle
    private var state: StoredBonds
    private var indices: [BondIdentifier: Int] = [:]
    private var identifiers: [BluetoothAddress: BondIdentifier] = [:]

    /// Opens the bonds of `adapter`. The first time, creates a store without bonds and with a new identity. A store
    /// without bonds that belongs to another adapter is replaced in the same way.
    ///
    /// - Parameters:
    ///   - adapter: The adapter in use. The bonds of another adapter are refused (AB-H08).
    ///   - adopting: Whether the user has confirmed that `adapter` replaces the one that the bonds belong to.
    ///   - capacity: The maximum number of bonds, up to ``maximumBonds``.
    ///   - loop: The event loop of the store, which then does not wait for deferred saves; nil to save synchronously.
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
        guard let stored = try storage.load(), adopting || stored.adapter == adapter || !stored.bonds.isEmpty else {
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
            // The identity is kept, because the peers know this device by it.
            state.adapter = adapter
            try storage.save(state)
        }
        index()
    }

    /// Opens the bonds regardless of their adapter, in order to list and remove them. Throws
    /// ``BondError/missing(place:)`` if there is no store.
    package init(existing storage: any BondStorage) throws(BondError) {
        self.storage = storage
        loop = nil
        capacity = Self.maximumBonds
        guard let stored = try storage.load() else { throw .missing(place: storage.place) }
        state = stored
        index()
    }

    /// Returns the bond with an identity address, whether the peer sent it or the controller resolved it, or with the
    /// fixed address of its pairing.
    package func bond(identity address: BluetoothAddress) -> Bond? {
        identifiers[address.plain].flatMap(bond)
    }

    package func bond(_ identifier: BondIdentifier) -> Bond? {
        indices[identifier].map { state.bonds[$0] }
    }

    /// Adds a bond. It is durable when this returns.
    ///
    /// It replaces the bond with the same identifier, and keeps that one's name unless it has its own: the peer has
    /// proved that it has the old key, or the user has agreed. A full store evicts the least recently used
    /// unauthenticated bond.
    ///
    /// - Returns: The bond as stored.
    /// - Throws: ``BondError/weaker(than:)``, ``BondError/identityTaken(by:name:)``, ``BondError/ownIdentity``,
    ///   ``BondError/full(_:)``, or an error of the storage.
    @discardableResult
    package func add(_ bond: Bond) throws(BondError) -> Bond {
        var (new, next) = (bond.bounded, state)
        try refuseStolenIdentity(new)
        var evicted: Bond?
        next.uses &+= 1
        new.lastUse = next.uses
        if let index = indices[new.identifier] {
            let old = next.bonds[index]
            // A weaker key never replaces a stronger one (AB-S10).
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

    /// Changes a bond, except for its identifier. The change is durable when this returns. Throws
    /// ``BondError/unknown(_:)``, or an error of the storage.
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

    /// Removes a bond. Throws ``BondError/unknown(_:)``, or an error of the storage; the bond is then still there.
    package func remove(_ identifier: BondIdentifier) throws(BondError) {
        guard let index = indices[identifier] else { throw .unknown(identifier) }
        var next = state
        next.bonds.remove(at: index)
        try commit(next)
    }

    /// Marks a bond as used, so that others are evicted before it. This is saved with the next change, because nothing
    /// else depends on it.
    package func use(_ identifier: BondIdentifier) {
        guard let index = indices[identifier] else { return }
        state.uses &+= 1
        state.bonds[index].lastUse = state.uses
    }

    /// Changes the data of a bond that the peer can provide again: its name, its attribute cache, and its client
    /// record. The change is saved soon; ``onFailure`` reports if that fails.
    package func note(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) {
        guard let index = indices[identifier] else { return }
        var bond = state.bonds[index]
        change(&bond)
        // The identity and the keys can only be changed by ``update(_:_:)``.
        let old = state.bonds[index]
        (bond.identifier, bond.address, bond.keys) = (identifier, old.address, old.keys)
        bond.pairingAddress = old.pairingAddress
        guard bond.bounded != state.bonds[index] else { return }
        state.bonds[index] = bond.bounded
        saveSoon()
    }

    /// Completes deferred saves, and retries a failed one. Call it before releasing the store.
    package func flush() {
        switch saving {
        case .idle: break
        case .failed: saveNow()
        case .underWay, .outdated: do { try storage.save(state) } catch { onFailure?(error) }
        }
    }

    /// Saves the state in the background, once for all changes that are made before the current save has ended.
    private func saveSoon() {
        guard let loop else { return saveNow() }
        switch saving {
        case .idle, .failed: saving = .underWay
        case .underWay, .outdated: return saving = .outdated
        }
        storage.saveLater(state, on: loop) { [weak self] error in
            guard let self else { return }
            let isOutdated = saving == .outdated
            saving = error == nil ? .idle : .failed
            if let error { onFailure?(error) }
            if isOutdated { saveSoon() }
        }
    }

    /// Saves the state, while no save is under way.
    private func saveNow() {
        do throws(BondError) {
            try storage.save(state)
            saving = .idle
        } catch {
            saving = .failed
            onFailure?(error)
        }
    }

    /// Applies `change` to all bonds, and saves them soon. ``onFailure`` reports if that fails.
    private func updateAll(_ change: (inout Bond) -> Void) {
        var next = state
        for index in next.bonds.indices {
            change(&next.bonds[index])
            if next.bonds[index] != state.bonds[index] { next.bonds[index] = next.bonds[index].bounded }
        }
        guard next != state else { return }
        state = next
        saveSoon()
    }

    /// An identity belongs to one bond, and this device's own to none. A peer that claims the address or resolving key
    /// of another bond, or of this device, would be mistaken for it, however good its own keys are (AB-S10, AB-S11).
    private func refuseStolenIdentity(_ new: Bond) throws(BondError) {
        let own = state.identity
        guard !new.addresses.contains(own.address.plain), new.keys.identityKey.map({ $0 != own.key }) ?? true else {
            throw .ownIdentity
        }
        let owner = state.bonds.first { old in
            guard old.identifier != new.identifier else { return false }
            let hasSameKey = old.keys.identityKey != nil && old.keys.identityKey == new.keys.identityKey
            return hasSameKey || old.addresses.contains { new.addresses.contains($0) }
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
        // This save included the changes that were to be saved soon, or whose save failed.
        switch saving {
        case .idle, .failed: saving = .idle
        case .underWay, .outdated: saving = .underWay
        }
        index()
    }

    private func index() {
        indices = [:]
        identifiers = [:]
        for (index, bond) in state.bonds.enumerated() {
            indices[bond.identifier] = index
            for address in bond.addresses { identifiers[address.plain] = bond.identifier }
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        guard indices.count == state.bonds.count else { return "two bonds have one identifier" }
        let addresses = state.bonds.reduce(0) { $0 + $1.addresses.count }
        return identifiers.count == addresses ? nil : "two bonds have one address"
    }
}

extension BondStore: GATTClientStore {
    /// Applies `change` to the client records of all peers (Core Vol 3 Part G 2.5.2, 7.1).
    ///
    /// If saving fails, no information is lost: a record identifies its database, and the record of an older database
    /// is updated when its client reconnects.
    package func updateRecords(_ change: (inout ClientRecord) -> Void) {
        updateAll { bond in
            guard var record = bond.record else { return }
            change(&record)
            bond.record = record
        }
    }
}

extension Bond {
    /// The bond without what exceeds the limits of a stored bond.
    var bounded: Bond {
        var bond = self
        bond.address = address.plain
        bond.pairingAddress = pairingAddress.flatMap { $0.plain == bond.address ? nil : $0.plain }
        bond.name = name?.prefix(octets: Self.maximumName)
        // A key of zeroes stands for no key (AB-S11).
        if keys.identityKey == .zero { bond.keys.identityKey = nil }
        if let cache, size(cache.write) > Self.maximumCache { bond.cache = nil }
        if let record, size(record.write) > Self.maximumRecord { bond.record = nil }
        return bond
    }
}

/// The number of octets that `write` appends.
private func size(_ write: (inout PacketBuffer) -> Void) -> Int {
    var buffer: PacketBuffer = []
    write(&buffer)
    return buffer.count
}

extension LocalIdentity {
    /// Creates an identity: the adapter's public address, or a static random address if it has none (Core Vol 6 Part B
    /// 1.3.2.1), and a random key. The static address is the same each time for the same place, if the storage can
    /// derive it.
    fileprivate init(for adapter: AdapterIdentity, in storage: any BondStorage, random: RandomSource) throws(BondError)
    {
        var address = adapter.address.plain
        if adapter.address == .none {
            let octets = try storage.derive("static address at \(adapter.place)")?.prefix(8)
            let number = octets.map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } } ?? random.next()
            // The 46 random bits must be neither all set nor all clear.
            address = BluetoothAddress(0b11 << 46 | 1 + number % ((1 << 46) - 2), kind: .randomDevice)
        }
        self.init(address: address, key: Key128(Block128(high: random.next(), low: random.next() | 1)))
    }
}
