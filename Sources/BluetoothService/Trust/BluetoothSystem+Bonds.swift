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

// MARK: - What the person's settings show

extension BluetoothSystem {
    /// The place of the store when another process has it open, so that nothing can be kept. Nil where it is open here, and where it cannot be
    /// opened for another reason, which ``start()`` reports.
    package var storeInUse: String? {
        do throws(BondError) {
            try keeper.openStorage()
        } catch {
            if case .inUse(let place) = error { return place }
        }
        return nil
    }

    /// The peers that this system is bonded with, for the person's settings; apps cannot see them (behaviour 6.10).
    package var bondedPeers: [BondedPeer] {
        keeper.store?.bonds.map { BondedPeer($0) } ?? []
    }

    /// Forgets a bonded peer: its link ends, and it has to pair anew (behaviours 6.12, 6.14).
    ///
    /// - Throws: When the bonds cannot be changed; then it is still bonded.
    package func forget(_ peer: UUID) throws(BondError) {
        guard keeper.store?.bond(BondIdentifier(peer)) != nil else { throw .unknown(BondIdentifier(peer)) }
        try security.forget(BondIdentifier(peer))
    }
}

// MARK: - Following the bonds

extension BluetoothSystem {
    /// Opens the bonds of a controller that is ready, and makes them known to all who need them.
    func openBonds(for controller: ControllerInformation) -> BondStore? {
        keeper.open(for: controller)
        attributes.server.store = keeper.store
        followBonds()
        return keeper.store
    }

    /// An app takes signed writes: centrals that pair from now on are asked for the key to check them with.
    func wantSigningKeys() {
        guard !security.configuration.wantedKeys.contains(.signing) else { return }
        security.configuration.wantedKeys.insert(.signing)
    }

    /// Lets go of the bonds, so that another system may have them.
    func closeBonds() {
        keeper.close()
        security.bonds = nil
        attributes.server.store = nil
        followBonds()
    }

    /// The bonds are others: they give peers their identifiers, and say whose private addresses are recognised.
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

    /// The peer at an address on the air, known from now on. A bonded one is recognised by its key (behaviour 6.18).
    func peer(at address: BluetoothAddress) -> Peer {
        let identity = attached?.device.privacy.identity(of: address) ?? address
        if let bond = keeper.store?.bond(identity: identity) { return peers.see(identity, as: UUID(bond.identifier)) }
        return peers.see(address)
    }

    /// The peer that something in the host stack is about, if this host knows it: nobody comes to be known by it.
    func identifier(_ happening: any StackHappening) -> UUID? {
        if let link = links.first(where: { $0.connection.handle == happening.link }) { return link.peer }
        guard let address = happening.peer else { return nil }
        return keeper.store?.bond(identity: address).map { UUID($0.identifier) } ?? peers.identifier(at: address)
    }

    /// Both names of a peer, and how old they are (behaviour 15.7).
    func names(of peer: UUID) -> KnownNames {
        var names = KnownNames()
        guard let known = peers[peer] else { return names }
        func age(_ time: Instant?) -> Int? { time.map { Int((loop.now - $0).nanoseconds / 1_000_000) } }
        (names.advertised, names.advertisedAge) = (known.advertisedName, age(known.advertisedNameTime))
        (names.device, names.deviceAge) = (known.deviceName, age(known.deviceNameTime))
        return names
    }

    /// Remembers the name of a peer, with its bond if there is one.
    func setName(_ name: String, of peer: UUID) {
        peers.setDeviceName(name, of: peer, at: loop.now)
        keeper.note(BondIdentifier(peer)) { $0.name = name }
        peers.names.set(bonded.contains(peer) ? nil : name, of: peer)
        noteChange()
    }
}
