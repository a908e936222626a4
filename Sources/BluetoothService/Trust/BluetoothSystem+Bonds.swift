import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import Privacy
import SMP
import Security

// MARK: - Bonds for the settings

extension BluetoothSystem {
    /// The location of the bond store if another process has it open, so that nothing can be saved. Nil if the store is
    /// open here, or cannot be opened for another reason, which ``start()`` reports.
    package var storeInUse: String? {
        do throws(BondError) {
            try keeper.openStorage()
        } catch {
            if case .inUse(let place) = error { return place }
        }
        return nil
    }

    /// The bonded peers, for the user's settings. They are not visible to apps (behaviour 6.10).
    package var bondedPeers: [BondedPeer] {
        keeper.store?.bonds.map { BondedPeer($0) } ?? []
    }

    /// Forgets a bonded peer. Its link ends, and it has to pair again (behaviours 6.12, 6.14).
    ///
    /// - Throws: ``BondError`` if the peer is unknown or the bonds cannot be changed. A peer that was bonded stays so.
    package func forget(_ peer: UUID) throws(BondError) {
        guard keeper.store?.bond(BondIdentifier(peer)) != nil else { throw .unknown(BondIdentifier(peer)) }
        try security.forget(BondIdentifier(peer))
    }
}

// MARK: - Following the bonds

extension BluetoothSystem {
    /// Opens the bonds of a controller that is ready, and passes them to the components that use them.
    func openBonds(for controller: ControllerInformation) -> BondStore? {
        keeper.open(for: controller)
        attributes.server.store = keeper.store
        followBonds()
        return keeper.store
    }

    /// Requests signing keys from centrals that pair from now on, because an app accepts signed writes.
    func wantSigningKeys() {
        guard !security.configuration.wantedKeys.contains(.signing) else { return }
        security.configuration.wantedKeys.insert(.signing)
    }

    /// Closes the bonds, so that another system may open them.
    func closeBonds() {
        keeper.close()
        security.bonds = nil
        attributes.server.store = nil
        followBonds()
    }

    /// Updates the peers after the bonds changed. Bonds determine the identifiers of peers, and which private addresses
    /// are resolved.
    func followBonds() {
        let bonds = keeper.store?.bonds ?? []
        for bond in bonds {
            let peer = peers.see(bond.address, as: UUID(bond.identifier))
            if let name = bond.name, peer.deviceName == nil { peers.setDeviceName(name, of: peer.identifier) }
        }
        let now = Set(bonds.map { UUID($0.identifier) })
        for peer in now.subtracting(bonded) { peers.hold(peer) }
        for peer in bonded.subtracting(now) {
            peers.release(peer)
            remember(nil, of: peer)
        }
        bonded = now
    }

    /// Returns the peer at an address on the air, and adds it if it is unknown. A bonded peer is identified by its IRK
    /// (behaviour 6.18).
    func peer(at address: BluetoothAddress) -> Peer {
        let identity = attached?.device.privacy.identity(of: address) ?? address
        if let bond = keeper.store?.bond(identity: identity) { return peers.see(identity, as: UUID(bond.identifier)) }
        return peers.see(address)
    }

    /// Returns the identifier of the peer that an event of the host stack is about, if the peer is known. Adds no peer.
    func identifier(_ happening: any StackHappening) -> UUID? {
        if let link = links.first(where: { $0.connection.handle == happening.link }) { return link.peer }
        guard let address = happening.peer else { return nil }
        return keeper.store?.bond(identity: address).map { UUID($0.identifier) } ?? peers.identifier(at: address)
    }

    /// Returns both names of a peer, and their ages (behaviour 15.7).
    func names(of peer: UUID) -> KnownNames {
        var names = KnownNames()
        guard let known = peers[peer] else { return names }
        func age(_ time: Instant?) -> Int? { time.map { Int((loop.now - $0).nanoseconds / 1_000_000) } }
        (names.advertised, names.advertisedAge) = (known.advertisedName, age(known.advertisedNameTime))
        (names.device, names.deviceAge) = (known.deviceName, age(known.deviceNameTime))
        return names
    }

    /// Saves the name of a peer, in its bond if there is one.
    func setName(_ name: String, of peer: UUID) {
        peers.setDeviceName(name, of: peer, at: loop.now)
        keeper.note(BondIdentifier(peer)) { $0.name = name }
        peers.names.set(bonded.contains(peer) ? nil : name, of: peer)
        noteChange()
    }
}
