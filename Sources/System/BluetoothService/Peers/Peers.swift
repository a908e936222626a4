import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import SMP
import Security
import ServiceMessages

/// The peers of a system: their identifiers, names and attribute tables, and the bonds. They outlast its controllers.
/// Used on the loop only.
package final class Peers {
    var onChange: (() -> Void)?
    /// Called after the bonds of a controller were opened or closed.
    var onBonds: ((BondStore?) -> Void)?
    /// Returns the host stack on the current controller, or nil if there is none.
    var device: () -> GenericAccess? = { nil }
    package let deviceSecurity: DeviceSecurity

    private let keeper: BondKeeper
    private let loop: any EventLoop
    private let random: RandomSource
    /// The current boot of the device, or nil if unknown. Without it no table is saved.
    private let run: String?
    private var table: PeerTable
    /// The cached attribute tables of peers (behaviours 4.9, 4.10).
    private var tables = RecencyTable<UUID, KnownTable>(limit: KnownTable.maximumPeers)
    /// The attribute tables as last saved, and whether they have changed since.
    private var writtenTables: TableRecord
    private var hasNewTables = false
    /// The bonded peers. Each is kept in the tables for as long as its bond exists.
    private var bonded: Set<UUID> = []
    /// The peers that are kept in the tables, with the number of holds and the address that the scanner keeps.
    private var held: [UUID: (count: Int, address: BluetoothAddress)] = [:]

    /// The version of the system.
    let version: SystemVersion

    /// - Parameter bonds: The storage for bonds and records, in place of the one in the configuration.
    init(
        _ configuration: SystemConfiguration,
        bonds: (any BondStorage)?,
        random: RandomSource,
        loop: any EventLoop,
        observers: Observers
    ) {
        self.loop = loop
        self.random = random
        run = configuration.run
        version = configuration.version
        writtenTables = TableRecord(run: configuration.run ?? "")
        let keeper = BondKeeper(configuration, storage: bonds, random: random, loop: loop)
        self.keeper = keeper
        table = PeerTable { keeper.secret("names of peers") }
        deviceSecurity = DeviceSecurity(
            loop: loop,
            random: random,
            configuration: configuration.pairing,
            stackEvents: observers.sink
        )
        // As peripheral, Apple's systems only accept passkey entry, and ask the user when a central has lost its bond.
        if configuration.pairing.ioCapability == .keyboardDisplay {
            deviceSecurity.policy.capabilityAsPeripheral = .keyboardOnly
        }
        deviceSecurity.policy.lostBonds = configuration.lostBondsInVersion
        deviceSecurity.policy.lostBondsOfCentrals = .asked
        deviceSecurity.onBondChange = { [weak self] _ in self?.followBonds() }
        keeper.onNotice = { [weak observers] in observers?.report($0) }
    }
}

// MARK: - Identifiers and names

extension Peers {
    var count: Int { table.count }

    /// All known peers, in no particular order.
    package var all: [Peer] { table.all }

    subscript(_ identifier: UUID) -> Peer? { table[identifier] }

    /// Returns the peer with `identifier`, perhaps from before a restart, or nil (``PeerTable/recall(_:)``).
    func recall(_ identifier: UUID) -> Peer? { table.recall(identifier) }

    /// Returns the peer at an address on the air, if need be a new one. Bonded peers are known by IRK (behaviour 6.18).
    func peer(at address: BluetoothAddress) -> Peer {
        let identity = device()?.privacy.identity(of: address) ?? address
        if let bond = keeper.store?.bond(identity: identity) { return table.see(identity, as: UUID(bond.identifier)) }
        return table.see(address)
    }

    /// Returns the identifier of the peer at an address that the host stack reports, or nil. Adds no peer.
    func identifier(at address: BluetoothAddress) -> UUID? {
        keeper.store?.bond(identity: address).map { UUID($0.identifier) } ?? table.identifier(at: address)
    }

    /// See ``PeerTable/noteAdvertisement(_:name:rssi:at:)``.
    @discardableResult
    func noteAdvertisement(_ identifier: UUID, name: String?, rssi: Int, at time: Instant) -> Peer? {
        table.noteAdvertisement(identifier, name: name, rssi: rssi, at: time)
    }

    /// Saves the name of a peer, in its bond if there is one.
    func setName(_ name: String, of peer: UUID) {
        table.setDeviceName(name, of: peer, at: loop.now)
        keeper.note(BondIdentifier(peer)) { $0.name = name }
        table.names.set(bonded.contains(peer) ? nil : name, of: peer)
        onChange?()
    }

    /// Returns both names of a peer, and their ages (behaviour 15.7).
    func names(of peer: UUID) -> KnownNames {
        var names = KnownNames()
        guard let known = table[peer] else { return names }
        func age(_ time: Instant?) -> Int? { time.map { Int((loop.now - $0).nanoseconds / 1_000_000) } }
        (names.advertised, names.advertisedAge) = (known.advertisedName, age(known.advertisedNameTime))
        (names.device, names.deviceAge) = (known.deviceName, age(known.deviceNameTime))
        return names
    }
}

// MARK: - Peers in use

extension Peers {
    /// The number of peers that are kept in the tables for the sake of managers and links.
    var heldCount: Int { held.count }

    /// Keeps a peer in the tables, whatever their limits, until ``release(_:)`` has been called as often (AB-G02).
    func hold(_ peer: UUID) {
        guard let address = table[peer]?.address else { return }
        table.hold(peer)
        if let known = held[peer] {
            held[peer] = (known.count + 1, known.address)
        } else {
            // The release has to use this address, even if the peer bonds meanwhile and is then known by another one.
            held[peer] = (1, address)
            device()?.keep(address)
        }
    }

    /// Balances one call of ``hold(_:)``.
    func release(_ peer: UUID) {
        guard let known = held[peer] else { return }
        table.release(peer)
        held[peer] = known.count > 1 ? (known.count - 1, known.address) : nil
        if known.count == 1 { device()?.release(known.address) }
    }
}

// MARK: - Attribute tables

extension Peers {
    /// Returns the cached attribute table of a peer, or nil.
    func knownTable(of peer: UUID) -> KnownTable? { tables[peer] }

    /// Remembers the attribute table of a peer. Nil forgets it.
    func remember(_ known: KnownTable?, of peer: UUID) {
        if let known { tables.set(known, for: peer) } else { tables.removeValue(for: peer) }
        guard run != nil, writtenTables.set(known?.found, of: peer) else { return }
        noteNewTables()
    }

    func forgetTables() {
        tables.removeAll()
        guard !writtenTables.entries.isEmpty else { return }
        writtenTables.removeAll()
        noteNewTables()
    }

    private func noteNewTables() {
        hasNewTables = true
        onChange?()
    }

    // MARK: Records

    var nameRecord: NameRecord { table.names }

    /// Adopts what the previous system had saved. Tables that it found since the device started are as good as what
    /// this one would find.
    func adopt(_ names: NameRecord, _ found: TableRecord) {
        table.names = names
        guard let run, found.run == run else { return }
        for entry in found.entries where tables[entry.peer] == nil && !bonded.contains(entry.peer) {
            remember(KnownTable(found: entry.found), of: entry.peer)
        }
    }

    /// Returns the attribute tables to save, or nil if they have not changed since the last call.
    func takeNewTables() -> TableRecord? {
        defer { hasNewTables = false }
        return hasNewTables ? writtenTables : nil
    }
}

// MARK: - Bonds

extension Peers {
    /// The bonds of the current controller. Nil without a controller, or if they cannot be used.
    var bonds: BondStore? { keeper.store }

    var isFull: Bool { keeper.isFull }

    var canAskUser: Bool { deviceSecurity.prompter != nil }

    /// Why the bonds cannot be used; nil if they can, or while there is no controller.
    package var bondFailure: BondError? { keeper.failure }

    /// Whether the bonds of a controller are open. False until the first controller has started.
    package var hasOpenBonds: Bool { keeper.store != nil }

    /// The bonded peers, for the user's settings. They are not visible to apps (behaviour 6.10).
    package var bondedPeers: [BondedPeer] { keeper.store?.bonds.map { BondedPeer($0) } ?? [] }

    package func isBonded(_ peer: UUID) -> Bool { bonded.contains(peer) }

    /// Forgets a bonded peer. Its link ends, and it has to pair again (behaviours 6.12, 6.14).
    ///
    /// - Throws: ``BondError`` if the peer is unknown or the bonds cannot be changed. A peer that was bonded stays so.
    package func forget(_ peer: UUID) throws(BondError) {
        guard keeper.store?.bond(BondIdentifier(peer)) != nil else { throw .unknown(BondIdentifier(peer)) }
        try deviceSecurity.forget(BondIdentifier(peer))
    }

    /// The location of the bond store if another process has it open, so that nothing can be saved. Nil if the store is
    /// open here, or cannot be opened for another reason, which the start of the system reports.
    package var storeInUse: String? {
        do throws(BondError) {
            _ = try openStorage()
        } catch {
            if case .inUse(let place) = error { return place }
        }
        return nil
    }

    /// Changes the saved data of a bonded peer. The change is written soon.
    func note(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) { keeper.note(identifier, change) }

    func openStorage() throws(BondError) -> any BondStorage { try keeper.openStorage() }

    /// Calls `body` each time that the storage has been opened.
    func whenStorageOpens(_ body: @escaping (any BondStorage) -> Void) { keeper.onStorage = body }

    /// Opens the bonds of a controller that is ready, and passes them to the components that use them.
    func openBonds(for controller: ControllerInformation) -> BondStore? {
        keeper.open(for: controller)
        onBonds?(keeper.store)
        followBonds()
        return keeper.store
    }

    /// Closes the bonds, so that another system may open them.
    func closeBonds() {
        keeper.close()
        deviceSecurity.bonds = nil
        onBonds?(nil)
        followBonds()
    }

    /// Requests signing keys from centrals that pair from now on, because an app accepts signed writes.
    func wantSigningKeys() {
        guard !deviceSecurity.configuration.wantedKeys.contains(.signing) else { return }
        deviceSecurity.configuration.wantedKeys.insert(.signing)
    }

    /// Updates the peers after the bonds changed, which determine identifiers and the resolved private addresses.
    private func followBonds() {
        let bonds = keeper.store?.bonds ?? []
        for bond in bonds {
            let peer = table.see(bond.address, as: UUID(bond.identifier))
            if let name = bond.name, peer.deviceName == nil { table.setDeviceName(name, of: peer.identifier) }
        }
        let now = Set(bonds.map { UUID($0.identifier) })
        for peer in now.subtracting(bonded) { table.hold(peer) }
        for peer in bonded.subtracting(now) {
            table.release(peer)
            remember(nil, of: peer)
        }
        bonded = now
    }

    // MARK: Out-of-band pairing data

    /// Creates the out-of-band data with which a peer can pair by LE Secure Connections. It replaces earlier data.
    ///
    /// - Returns: The data to pass to the peer, or nil if there are no random numbers.
    package func shareOutOfBand() -> OutOfBandData? {
        guard let own = OwnOutOfBandData(random: random) else { return nil }
        deviceSecurity.offerOutOfBand(own)
        return own.shared
    }

    /// Sets the out-of-band data of a peer. The next pairing uses it, whatever the peer, and fails with a peer that
    /// does not have this data.
    package func expectOutOfBand(_ data: OutOfBandData) { deviceSecurity.expectOutOfBand(data) }
}
