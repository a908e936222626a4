import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import SMP

// MARK: - Links

extension BluetoothSystem {
    /// The link to a peer, if there is one.
    func link(to peer: UUID) -> PeerLink? {
        links.first { $0.peer == peer }
    }

    func connected(_ link: AccessLink) {
        let peer = peer(at: link.connection.peerAddress).identifier
        hold(peer)
        let made = PeerLink(link, peer: peer, system: self)
        links.append(made)
        observers.tell(.links, .linkMade, of: made.subject)
        made.prepare { [weak self, weak made] result in
            if let self, let made { prepared(made, result) }
        }
    }

    /// A link can be used, or not: a bonded peer that cannot show that it is who it was is refused (behaviour 6.12).
    private func prepared(_ link: PeerLink, _ result: Result<Void, SecurityError>) {
        switch result {
        case .success:
            tellWatchers(of: link, .connected)
            alert(.connected, of: link.peer)
            if link.servesCentral { for session in peripherals { session.centralConnected(link.centralInfo) } }
            for session in centrals { session.linkIsUp(link) }
            // Whoever wanted it may have changed his mind while it was on its way.
            link.endIfUnused()
        // The disconnection says more.
        case .failure(.linkLost): break
        case .failure(let error):
            for session in centrals { session.connectionFailed(to: link.peer, ServiceError(error)) }
            link.disconnect()
        }
    }

    /// A link is no more.
    func ended(_ link: PeerLink, _ end: AccessLink.End) {
        links.removeAll { $0 === link }
        observers.tell(.links, .linkEnded(end), of: link.subject, andThen: { ended(link, by: end) })
    }

    private func ended(_ link: PeerLink, by end: AccessLink.End) {
        switch end {
        case .disconnected(let reason): over(link, reason)
        case .replaced: over(link, .remoteUserTerminated)
        // The managers learn of the state alone (behaviour 1.11).
        case .controllerGone: _ = close(link)
        }
    }

    /// Those who used a link that is gone. Its subscribers leave (behaviour 7.40).
    private func close(_ link: PeerLink) -> [Attachment] {
        let users = link.close()
        release(link.peer)
        for session in peripherals { session.centralLeft(link.peer) }
        return users
    }

    /// A link is no more, for all who used it or waited for it.
    private func over(_ link: PeerLink, _ reason: HCIStatus) {
        let error = link.error(for: reason)
        if !link.isReady, !link.isEnding, !reason.isOfTheAir {
            for session in centrals { session.connectionFailed(to: link.peer, error) }
        }
        if link.servesCentral {
            let told = link.isEnding ? nil : error
            for session in peripherals { session.centralDisconnected(link.peer, told) }
        }
        if link.isReady { alert(.disconnected, of: link.peer) }
        for user in link.users { (manager(user.key) as? CentralSession)?.linkEnds(link, user) }
        for user in close(link) {
            let session = manager(user.key) as? CentralSession
            session?.linkIsGone(link, user, error)
        }
        if link.isReady { tellWatchers(of: link, .disconnected) }
        // Those who came while the link was ending want a new one.
        if centrals.contains(where: { $0.wants(link.peer) }) { connectionWanted(to: link.peer) }
    }

    /// Those who want to know of connections by anyone.
    func tellWatchers(of link: PeerLink, _ change: ConnectionChange) {
        for session in centrals { session.tell(of: link, change) }
    }

    /// Remembers a peer, however many others there are, until as many ``release(_:)`` have come (AB-G02).
    func hold(_ peer: UUID) {
        guard let address = peers[peer]?.address else { return }
        peers.hold(peer)
        if let known = held[peer] {
            held[peer] = (known.count + 1, known.address)
        } else {
            // Its address may be another one by the time that it is let go: it may be bonded meanwhile.
            held[peer] = (1, address)
            attached?.device.keep(address)
        }
    }

    /// Takes one ``hold(_:)`` back.
    func release(_ peer: UUID) {
        guard let known = held[peer] else { return }
        peers.release(peer)
        held[peer] = known.count > 1 ? (known.count - 1, known.address) : nil
        if known.count == 1 { attached?.device.release(known.address) }
    }

    func centralChanged(_ central: CentralInfo) {
        for session in peripherals { session.centralChanged(central) }
    }
}

// MARK: - Scanning and connecting for managers

extension BluetoothSystem {
    /// Somebody scans for the first time, or nobody any more (behaviour 9.11).
    func scansChanged() {
        let scanning = centrals.filter(\.scans)
        guard !scanning.isEmpty else { return attached?.device.endScan(for: self) ?? () }
        do throws(GAPError) {
            try attached?.device.scan(
                scanning.contains(where: \.isWaitedFor) ? .attentive : .background,
                for: self,
                onSighting: { [weak self] in self?.heard($0) },
                onEnd: { [weak self] in if let error = $0 { self?.trouble("the scan has ended: \(error)") } }
            )
        } catch {
            trouble("cannot scan: \(error)")
        }
    }

    private func heard(_ sighting: Sighting) {
        guard sighting.isForApps else { return }
        let identifier = peer(at: sighting.address).identifier
        peers.setAdvertisedName(sighting.data.localName?.text, of: identifier, at: loop.now)
        peers.heard(identifier, rssi: sighting.rssi, at: loop.now)
        guard let peer = peers[identifier] else { return }
        let heard = HeardAdvertisement(sighting)
        for session in centrals { session.heard(heard, from: peer) }
    }

    /// A manager wants to be connected to `peer`: joins the link that there is, or asks for one (behaviour 3.9).
    func connectionWanted(to peer: UUID) {
        if let link = link(to: peer), !link.isEnding {
            // Before it is ready it is not for anybody, and then for all who want it.
            if link.isReady { for session in centrals { session.linkIsUp(link) } }
        } else if link(to: peer) == nil, let address = peers[peer]?.address {
            attached?.device.connector.want(address)
        }
    }

    /// A manager has changed its mind.
    func connectionUnwanted(to peer: UUID) {
        guard let address = peers[peer]?.address, !centrals.contains(where: { $0.wants(peer) }) else { return }
        attached?.device.connector.unwant(address)
        link(to: peer)?.endIfUnused()
    }

    func connectionFailed(_ address: BluetoothAddress, _ error: GAPError) {
        // Refused because of another link, to this peer or, as some controllers say, to any. The connection stays pending.
        guard let status = error.status, status != .connectionAlreadyExists else { return }
        let peer = peer(at: address).identifier
        for session in centrals { session.connectionFailed(to: peer, ServiceError(connecting: status)) }
    }
}

extension HCIStatus {
    /// Whether a link was lost for want of a radio path: the next attempt may do better.
    fileprivate var isOfTheAir: Bool { self == .connectionTimeout || self == .connectionFailedToBeEstablished }
}

extension Sighting {
    /// The longest extended advertisement that apps are shown (behaviour 2.26).
    private static let maximumExtendedLength = 124

    /// Whether apps are shown it: not when nobody could connect to it or tell it from others, for lack of an address, and of
    /// extended advertisements those on 2M alone (behaviour 2.26).
    fileprivate var isForApps: Bool {
        guard !isAnonymous else { return false }
        guard let phys else { return true }
        return phys.secondary == .le2M && data.encodedLength <= Self.maximumExtendedLength
    }
}
