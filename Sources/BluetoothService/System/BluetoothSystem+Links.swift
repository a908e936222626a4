import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost
import SMP

// MARK: - Links

extension BluetoothSystem {
    /// Returns the link to a peer, if there is one.
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

    /// Called when a link is ready or its preparation failed. A bonded peer that cannot prove its identity is
    /// disconnected (behaviour 6.12).
    private func prepared(_ link: PeerLink, _ result: Result<Void, SecurityError>) {
        switch result {
        case .success:
            tellWatchers(of: link, .connected)
            alert(.connected, of: link.peer)
            if link.servesCentral { for session in peripherals { session.centralConnected(link.centralInfo) } }
            for session in centrals { session.linkIsUp(link) }
            // The apps that requested the link may have cancelled meanwhile.
            link.endIfUnused()
        // The disconnection reports the details.
        case .failure(.linkLost): break
        case .failure(let error):
            for session in centrals { session.connectionFailed(to: link.peer, ServiceError(error)) }
            link.disconnect()
        }
    }

    /// Called when a link has ended.
    func ended(_ link: PeerLink, _ end: AccessLink.End) {
        links.removeAll { $0 === link }
        observers.tell(.links, .linkEnded(end), of: link.subject, andThen: { ended(link, by: end) })
    }

    private func ended(_ link: PeerLink, by end: AccessLink.End) {
        switch end {
        case .disconnected(let reason): over(link, reason)
        case .replaced: over(link, .remoteUserTerminated)
        // Managers are notified of the state alone (behaviour 1.11).
        case .controllerGone: _ = close(link)
        }
    }

    /// Closes a link that is gone and unsubscribes its central (behaviour 7.40).
    ///
    /// - Returns: The users of the link.
    private func close(_ link: PeerLink) -> [Attachment] {
        let users = link.close()
        release(link.peer)
        for session in peripherals { session.centralLeft(link.peer) }
        return users
    }

    /// Reports a lost link to all managers that used it or waited for it.
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
        // Connection requests that arrived while the link was ending need a new link.
        if centrals.contains(where: { $0.wants(link.peer) }) { connectionWanted(to: link.peer) }
    }

    /// Reports a change to the managers that registered for connection events.
    func tellWatchers(of link: PeerLink, _ change: ConnectionChange) {
        for session in centrals { session.tell(of: link, change) }
    }

    /// Keeps a peer in the tables, whatever their limits, until ``release(_:)`` has been called as often (AB-G02).
    func hold(_ peer: UUID) {
        guard let address = peers[peer]?.address else { return }
        peers.hold(peer)
        if let known = held[peer] {
            held[peer] = (known.count + 1, known.address)
        } else {
            // The release has to use this address, even if the peer bonds meanwhile and is then known by another one.
            held[peer] = (1, address)
            attached?.device.keep(address)
        }
    }

    /// Balances one call of ``hold(_:)``.
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
    /// Starts, updates or ends the scan after the scans of managers have changed (behaviour 9.11).
    func scansChanged() {
        let scanning = centrals.filter(\.scans)
        guard !scanning.isEmpty else { return attached?.device.endScan(for: self) ?? () }
        do throws(GAPError) {
            try attached?.device.scan(
                scanning.contains(where: \.isWaitedFor) ? .attentive : .background,
                for: self,
                onSighting: { [weak self] in self?.heard($0) },
                onEnd: { [weak self] in if let error = $0 { self?.trouble("the scan ended: \(error)") } }
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

    /// Called when a manager requests a connection to `peer`. Joins an existing link, or requests one (behaviour 3.9).
    func connectionWanted(to peer: UUID) {
        if let link = link(to: peer), !link.isEnding {
            // A link that is not ready yet is announced later, to all managers that wait for it.
            if link.isReady { for session in centrals { session.linkIsUp(link) } }
        } else if link(to: peer) == nil, let address = peers[peer]?.address {
            attached?.device.connector.want(address)
        }
    }

    /// Called when a manager no longer needs a connection to `peer`.
    func connectionUnwanted(to peer: UUID) {
        guard let address = peers[peer]?.address, !centrals.contains(where: { $0.wants(peer) }) else { return }
        attached?.device.connector.unwant(address)
        link(to: peer)?.endIfUnused()
    }

    func connectionFailed(_ address: BluetoothAddress, _ error: GAPError) {
        // The controller refused because of another link: to this peer or, with some controllers, to any. The
        // connection stays pending.
        guard let status = error.status, status != .connectionAlreadyExists else { return }
        let peer = peer(at: address).identifier
        for session in centrals { session.connectionFailed(to: peer, ServiceError(connecting: status)) }
    }
}

extension HCIStatus {
    /// Whether the link was lost for radio reasons, so that the next attempt may succeed.
    fileprivate var isOfTheAir: Bool { self == .connectionTimeout || self == .connectionFailedToBeEstablished }
}

extension Sighting {
    /// The longest extended advertisement that is reported to apps (behaviour 2.26).
    private static let maximumExtendedLength = 124

    /// Whether apps receive the advertisement. Anonymous ones are left out, since a peer without an address can neither
    /// be connected nor identified. Of extended advertisements, only those on 2M are reported (behaviour 2.26).
    fileprivate var isForApps: Bool {
        guard !isAnonymous else { return false }
        guard let phys else { return true }
        return phys.secondary == .le2M && data.encodedLength <= Self.maximumExtendedLength
    }
}
