import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import SMP
import Security

/// The bonds of a system: opened when there is a controller, since they belong to one (AB-H08).
final class BondKeeper {
    /// The bonds of the controller; nil without one, and when they cannot be used.
    private(set) var store: BondStore?
    /// Tells the person.
    var onNotice: ((SystemNotice) -> Void)?

    /// Called with what everything is kept in, when it was opened.
    var onStorage: ((any BondStorage) -> Void)?

    private let place: SystemConfiguration.Store
    private let capacity: Int
    private let random: RandomSource
    private let loop: any EventLoop
    private var storage: (any BondStorage)?

    /// - Parameter storage: Where the bonds are, if that is not for the configuration to say.
    init(
        _ configuration: SystemConfiguration,
        storage: (any BondStorage)?,
        random: RandomSource,
        loop: any EventLoop
    ) {
        place = configuration.store
        capacity = configuration.maximumBonds
        self.storage = storage
        self.random = random
        self.loop = loop
    }

    /// Whether there are as many bonds as there may be.
    var isFull: Bool { store.map { $0.bonds.count >= capacity } ?? false }

    /// Opens the bonds that belong to a controller. They stay open when the same one comes back.
    func open(for controller: ControllerInformation) {
        let adapter = AdapterIdentity(controller)
        if let store, store.adapter == adapter { return }
        store?.flush()
        store = nil
        do throws(BondError) {
            let storage = try openStorage()
            let opened = try BondStore(
                storage: storage,
                adapter: adapter,
                random: random,
                capacity: capacity,
                loop: loop
            )
            opened.onEvict = { [weak self] in self?.onNotice?(.forgotten(BondedPeer($0))) }
            opened.onFailure = { [weak self] in self?.onNotice?(.bondsUnavailable(reason: "\($0)")) }
            store = opened
        } catch {
            onNotice?(.bondsUnavailable(reason: "\(error)"))
        }
    }

    /// Lets go of them.
    func close() {
        store?.flush()
        store = nil
        storage = nil
    }

    /// A secret of this host for a purpose: the same each time where anything lasts, and otherwise drawn.
    func secret(_ purpose: String) -> Key128 {
        let octets = (try? storage?.derive(purpose)) ?? random.bytes(16)
        return Key128(Block128(octets.prefix(16)) ?? .zero)
    }

    /// Opens what everything is kept in, if that was not done.
    @discardableResult
    func openStorage() throws(BondError) -> any BondStorage {
        if let storage { return storage }
        let made = try makeStorage()
        storage = made
        onStorage?(made)
        return made
    }

    private func makeStorage() throws(BondError) -> any BondStorage {
        switch place {
        case .memory: MemoryBondStorage()
        case .directory(let path):
            // In virtual time a disk takes no time: a run depends on no other thread.
            loop is VirtualEventLoop
                ? FileBondStorage(directory: try PosixBondDirectory(path), random: random)
                : try FileBondStorage(directory: path, random: random)
        }
    }

    /// Changes what is kept of a peer that it can tell again, which is saved soon.
    func note(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) {
        store?.note(identifier, change)
    }
}

extension BondedPeer {
    /// The peer of a bond.
    init(_ bond: Bond) {
        identifier = UUID(bond.identifier)
        name = bond.name
        isAuthenticated = bond.keys.level.isAuthenticated
        hasForgottenUs = bond.isLost
    }
}
