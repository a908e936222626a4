import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import SMP
import Security

/// The bonds of a system. They are opened when there is a controller, since they belong to one (AB-H08).
final class BondKeeper {
    /// The bonds of the controller. Nil without a controller, or if they cannot be used.
    private(set) var store: BondStore?
    /// Why the bonds cannot be used; nil if they can, or while there is no controller.
    private(set) var failure: BondError?
    var onNotice: ((SystemNotice) -> Void)?

    /// Called once the storage for bonds and records has been opened.
    var onStorage: ((any BondStorage) -> Void)?

    private let place: SystemConfiguration.Store
    private let capacity: Int
    private let random: RandomSource
    private let loop: any EventLoop
    private var storage: (any BondStorage)?

    /// - Parameter storage: The storage to use in place of the one in the configuration.
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

    var isFull: Bool { store.map { $0.bonds.count >= capacity } ?? false }

    /// Opens the bonds of a controller. They stay open if the same controller comes back.
    func open(for controller: ControllerInformation) {
        let adapter = AdapterIdentity(controller)
        if let store, store.adapter == adapter { return }
        store?.flush()
        store = nil
        failure = nil
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
            failure = error
            onNotice?(.bondsUnavailable(reason: "\(error)"))
        }
    }

    func close() {
        store?.flush()
        store = nil
        storage = nil
    }

    /// Returns a secret of this host for a purpose. It is persistent if there is storage, and random otherwise.
    func secret(_ purpose: String) -> Key128 {
        let octets = (try? storage?.derive(purpose)) ?? random.bytes(16)
        return Key128(Block128(octets.prefix(16)) ?? .zero)
    }

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
            // In virtual time disk access has to be synchronous, so that a run does not depend on other threads.
            loop is VirtualEventLoop
                ? FileBondStorage(directory: try PosixBondDirectory(path), random: random)
                : try FileBondStorage(directory: path, random: random)
        }
    }

    /// Changes the saved data of a bonded peer. The change is written soon.
    func note(_ identifier: BondIdentifier, _ change: (inout Bond) -> Void) {
        store?.note(identifier, change)
    }
}

extension BondedPeer {
    init(_ bond: Bond) {
        self.init(
            identifier: UUID(bond.identifier),
            name: bond.name,
            isAuthenticated: bond.keys.level.isAuthenticated,
            hasForgottenUs: bond.isLost
        )
    }
}
