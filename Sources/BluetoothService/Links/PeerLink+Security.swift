import ATT
import BluetoothTypes
import Bonds
import Foundation
import GAP
import GATT
import SMP
import Security

// MARK: - Trust

extension PeerLink {
    /// Hears of what pairing makes of the link, and gives the attribute protocol what only trusted peers have.
    func followSecurity() {
        secured.identifier = BondIdentifier(peer)
        secured.name = system.peers[peer]?.name
        secured.onChange = { [weak self] security in
            guard let self else { return }
            system.observers.tell(.links, .secured(security), of: subject)
            informationChanged()
        }
        secured.onPaired = { [weak self] bond in if bond != nil { self?.bonded() } }
        secured.onBondLost = { [weak self] in self?.tellOfLostBond() }
        secured.onFailure = { [weak self] in self?.tellOfFailure(of: $0) }
        // A request was refused, or may not even be made: the link is encrypted, or the two devices pair, and nobody but the
        // person notices (behaviour 6.1).
        client.onInsufficientSecurity = { [weak self] in self?.secured.secure(after: $0, completion: $1) }
        client.outOfSyncPolicy = .repeatIfUnchanged
        if let record = secured.bond?.record { served?.restore(record) }
    }

    /// The peer is trusted from now on. What it has chosen so far is remembered with the bond.
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
            let full = "there are as many paired devices as there may be; forget one"
            system.tell(.bondNotKept(reason: isFull ? full : reason))
        default: break
        }
    }

    /// What persons know the peer by: its name, else its address.
    private var label: String { (system.peers[peer]?.name ?? secured.name)?.quotedName ?? "\(secured.peer)" }
}

// MARK: - What could not be had

extension PeerLink {
    /// Why a procedure failed. One that was held while the link was to be secured fails for the reason of that, where the
    /// API has a word for it, and else as the peer refused it (behaviours 6.5, 6.6).
    func serviceError(_ error: GATTError) -> ServiceError {
        guard case .notSecured(_, let reason) = error else { return ServiceError(error) }
        return serviceError(reason, otherwise: ServiceError(error))
    }

    /// The same for whatever else was held for it: `refusal` is how the peer refused.
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

// MARK: - What is known of a bonded peer's services

extension PeerLink {
    /// Takes up what was found on earlier connections with a bonded peer, as long as its database is still the same: then
    /// nothing of it goes on the air (behaviour 4.10). One without a hash tells of changes, or never changes.
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

    /// Keeps what is known of a peer's services: with its bond, or in memory if it is not bonded and what was found is for good.
    /// A peer that was bonded on this link is asked for its hash the next time, and all of it found again.
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

// MARK: - This system's notifications

extension PeerLink {
    /// The peer wants this system's notifications: the link is paired, and then it is decided (behaviour 3.19).
    func authorizeNotifications(for user: Attachment) {
        secured.pair { [weak self] result in
            guard let self else { return }
            let isPaired = if case .success = result { true } else { false }
            user.emit(.notificationsAuthorized(isPaired && system.configuration.sharesNotifications))
        }
    }
}
