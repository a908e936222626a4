import ATT
import BluetoothTypes
import Bonds
import Foundation
import GAP
import GATT
import SMP
import Security

// MARK: - Pairing and bonding

extension PeerLink {
    /// Subscribes to security events of the link, and restores what the attribute protocol keeps for bonded peers.
    func followSecurity() {
        secured.identifier = BondIdentifier(peer)
        secured.name = system.peers[peer]?.name
        secured.onEvent = { [weak self] in self?.handle($0) }
        // After a refusal, or instead of a request that would be refused, the link is encrypted or the two devices
        // pair; only the user notices (behaviour 6.1).
        client.onInsufficientSecurity = { [weak self] in self?.secured.secure(after: $0, completion: $1) }
        client.outOfSyncPolicy = .repeatIfUnchanged
        if let record = secured.bond?.record { served?.restore(record) }
    }

    private func handle(_ event: SecureLink.Event) {
        switch event {
        case .changed(let security):
            system.observers.tell(.links, .secured(security), of: subject)
            informationChanged()
        case .paired(let bond): if bond != nil { bonded() }
        case .bondLost: tellOfLostBond()
        case .failed(let error): tellOfFailure(of: error)
        }
    }

    /// Called when the peer has been bonded. Stores with the bond what the peer has configured so far.
    private func bonded() {
        guard let identifier = secured.bond?.identifier, let record = served?.record else { return }
        system.keeper.note(identifier) { $0.record = record }
        informationChanged()
    }

    private func tellOfLostBond() {
        guard let bond = secured.bond else { return }
        let isAsked = secured.lostBonds == .asked && system.prompter != nil
        system.tell(.peerForgotUs(BondedPeer(bond), isAsked: isAsked))
    }

    private func tellOfFailure(of error: SecurityError) {
        switch error {
        case .pairing(let failure): system.tell(.pairingFailed(peer: label, failure))
        case .keysRefused:
            let isFull = secured.bond == nil && system.keeper.isFull
            let reason = secured.keysRefusal.map { "\($0)" } ?? "\(error)"
            let full = "the maximum number of paired devices is reached; forget one that is not needed"
            system.tell(.bondNotKept(reason: isFull ? full : reason))
        default: break
        }
    }

    /// The peer's name for the user, or else its address.
    private var label: String { (system.peers[peer]?.name ?? secured.name)?.quotedName ?? "\(secured.peer)" }
}

// MARK: - Security errors

extension PeerLink {
    /// The error of a procedure. If the procedure waited for the link to be secured, the error is the reason why that
    /// failed, where the API has a code for it, or else the peer's refusal (behaviours 6.5, 6.6).
    func serviceError(_ error: GATTError) -> ServiceError {
        guard case .notSecured(_, let reason) = error else { return ServiceError(error) }
        return serviceError(reason, otherwise: ServiceError(error))
    }

    /// The same for other operations that waited for the link to be secured; `refusal` is the peer's refusal.
    func serviceError(_ reason: UnderlyingError, otherwise refusal: ServiceError) -> ServiceError {
        guard let security = reason.error as? SecurityError else { return refusal }
        switch security {
        case .pairing(.timedOut):
            return ServiceError(
                att: ATTStatus(rawValue: ATTErrorCode.insufficientEncryption.rawValue),
                reason: "\(security)",
                cause: refusal.cause
            )
        case .keysRefused where system.keeper.isFull:
            return ServiceError(.tooManyLEPairedDevices, reason: "\(security)")
        case .peerLostKey, .encryptionTimedOut: return ServiceError(security)
        default: return refusal
        }
    }
}

// MARK: - Cached services of bonded peers

extension PeerLink {
    /// Adopts what was discovered on earlier connections with a bonded peer if its database is unchanged; nothing is
    /// then sent for it (behaviour 4.10). A peer without a database hash either indicates changes or never changes.
    func adoptCache(_ done: @escaping () -> Void) {
        let known = system.tables[peer]
        guard let bond = secured.bond else {
            client.cache = known?.found ?? AttributeCache()
            if known?.found != nil { database.values = known?.values ?? [:] }
            return done()
        }
        tableIsBonded = true
        guard let cache = bond.cache else {
            client.cache = AttributeCache()
            return client.announce(.robustCaching) { [weak self] _ in
                self?.client.readDatabaseHash { _ in done() }
            }
        }
        guard cache.hash != nil else {
            client.cache = cache
            database.values = known?.values ?? [:]
            return done()
        }
        client.adopt(cache) { [weak self] in
            if case .success(true) = $0 { self?.database.values = known?.values ?? [:] }
            done()
        }
    }

    /// Stores the cached services: with the peer's bond, or in memory if the peer is not bonded and its services never
    /// change. After a pairing on this link nothing is stored; on the next connection the hash is read and the services
    /// are discovered again.
    func keepCache() {
        guard let cache = client.cache, cache.services != nil else { return }
        guard tableIsBonded, let bond = secured.bond else { return keepInMemory(cache) }
        system.remember(KnownTable(values: database.values), of: peer)
        guard bond.cache != cache else { return }
        system.keeper.note(bond.identifier) { $0.cache = cache }
    }

    private func keepInMemory(_ cache: AttributeCache) {
        guard secured.bond == nil, cache.isForGood, cache.count <= KnownTable.maximumAttributes else {
            system.remember(nil, of: peer)
            return
        }
        system.remember(KnownTable(found: cache, values: database.values), of: peer)
    }
}

// MARK: - Notifications of this system (ANCS)

extension PeerLink {
    /// Pairs the link for a peer that requires this system's notifications, and then decides whether it gets them
    /// (behaviour 3.19).
    func authorizeNotifications(for user: Attachment) {
        secured.pair { [weak self] result in
            guard let self else { return }
            let isPaired = if case .success = result { true } else { false }
            user.emit(.notificationsAuthorized(isPaired && system.configuration.sharesNotifications))
        }
    }
}
