import BluetoothTypes
import Cryptography
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import SMP

/// The owner of a ``SecureLink``: the link, with the protocols on it.
package protocol SecureLinkOwner: AnyObject {
    /// Called when the security of the link was `old` and has changed.
    func secureLink(_ secureLink: SecureLink, changedFrom old: LinkSecurity)
    /// Called when another link to the peer has replaced this one. This link is over, although its disconnection on the
    /// air may take a while.
    func secureLinkWasReplaced(_ secureLink: SecureLink)
}

/// The security of one link: its Security Manager, its bond, and its current protection.
///
/// A level is trusted only if this host requested encryption and the controller reported that it is on (AB-H05). A link
/// that loses its encryption ends.
package final class SecureLink {
    package let connection: HCIConnection
    package let manager: SecurityManager
    /// The bond with the peer, as currently stored; nil if there is none.
    ///
    /// The existence of a bond does not prove the peer's identity until the link is encrypted with it (AB-G03).
    package var bond: Bond? { bondIdentifier.flatMap { device.bonds?.bond($0) } }
    /// The current security of the link, as far as it is trusted.
    package var linkSecurity: LinkSecurity { l2cap.linkSecurity }
    /// The owner's identifier for the peer, for prompts and for the bond that a pairing creates.
    package var identifier: BondIdentifier?
    /// The name of the peer; nil if it is unknown.
    package var name: String?
    /// Whether the user authorized the peer for what requires authorization (Core Vol 3 Part C 10.5).
    package var isAuthorized = false {
        didSet { update() }
    }
    /// Whether the user has consented to pair with the peer, so that a pairing in which nothing is compared or entered
    /// does not ask (behaviour 16.5).
    package var hasConsent = false {
        didSet { reconfigure() }
    }
    /// The reason why the keys of the last pairing were not stored, after ``SecurityError/keysRefused``.
    package private(set) var keysRefusal: BondError?
    /// Called with each event of the link. At a change of ``linkSecurity``, the owner of the link has been notified.
    package var onEvent: ((Event) -> Void)?
    /// The owner of the link, which is notified of what concerns the layers above before ``onEvent`` is called.
    package weak var owner: (any SecureLinkOwner)?

    /// An event of a link.
    package enum Event: Hashable, Sendable {
        /// ``linkSecurity`` has changed; this is the new value.
        case changed(LinkSecurity)
        /// A pairing has succeeded, with the bond that it created, if any. The bond has been stored durably.
        case paired(Bond?)
        /// The peer has proved to have no key for the existing bond (behaviour 6.12).
        case bondLost
        /// A pairing or encryption has failed, whichever side started it.
        case failed(SecurityError)
    }

    /// The number of the link, unique within the device.
    package let number: UInt64
    private let device: DeviceSecurity
    /// The identifier of the peer's bond; nil if there is none.
    private(set) var bondIdentifier: BondIdentifier?
    /// The link's prompt, open or waiting.
    private var prompt: (ticket: UInt64, answer: (PairingAnswer) -> Void)?
    private(set) var pairing = PairingStage.none
    /// Whether the peer has paired on this link without a bond. Such a pairing proves nothing about an existing bond.
    private(set) var hasPairedWithoutBond = false
    private(set) var state = LinkState.open(.none)
    /// The number of requests for security that apps wait for.
    private var appRequests = 0
    private let l2cap: L2CAPConnection

    package typealias Completion = (Result<Void, SecurityError>) -> Void

    init(
        number: UInt64,
        connection: HCIConnection,
        l2cap: L2CAPConnection,
        ownAddress: BluetoothAddress,
        device: DeviceSecurity
    ) {
        self.number = number
        self.connection = connection
        self.l2cap = l2cap
        self.device = device
        bondIdentifier = device.bond(behind: connection.peerAddress)?.identifier
        manager = SecurityManager(
            channel: l2cap.register(.securityManager, maximumPayload: SecurityManager.maximumPayload),
            role: connection.role == .central ? .initiator : .responder,
            ownAddress: ownAddress,
            peerAddress: (connection.peerResolvableAddress ?? connection.peerAddress).plain,
            loop: device.loop,
            random: device.random,
            configuration: device.configuration,
            identity: device.identity(for: ownAddress)
        )
        manager.delegate = self
        reconfigure()
    }

    var isOpen: Bool {
        if case .over = state { return false }
        return true
    }

    /// The identity address of the peer if it is known, or else its address on the air.
    package var peer: BluetoothAddress { bond?.address ?? connection.peerAddress.plain }

    func prompted(_ cause: PairingCause) -> PromptedPeer {
        PromptedPeer(
            link: number,
            address: peer,
            name: name ?? bond?.name,
            identifier: bond?.identifier ?? identifier,
            cause: cause
        )
    }

    var cause: PairingCause {
        guard appRequests == 0 else { return .app }
        let isProven = bond != nil && manager.encryption != nil && !hasPairedWithoutBond
        return connection.role == .central || isProven ? .known : .stranger
    }

    /// The security that the configuration of the device requires of all links.
    var requiredByDevice: SecurityLevel { device.configuration.floor.asked }

    package var lostBonds: SecurityPolicy.LostBonds {
        let ofCentrals = connection.role == .peripheral ? device.policy.lostBondsOfCentrals : nil
        return ofCentrals ?? device.policy.lostBonds
    }

    func reconfigure() {
        var configuration = device.configuration
        // Without a bond store, bonding is not offered.
        configuration.bonds = configuration.bonds && device.bonds != nil
        if connection.role == .peripheral, let capability = device.policy.capabilityAsPeripheral {
            configuration.ioCapability = capability
        }
        // Without a prompter there is no input or output (AB-A14).
        if device.prompter == nil { configuration.ioCapability = .noInputNoOutput }
        let isGiven = hasConsent || !device.policy.asksConsent
        manager.consent = isGiven ? .given : device.prompter == nil ? .missing : .asked
        manager.configuration = configuration
        manager.outOfBand = device.outOfBand
        update()
    }

    func begin() {
        guard connection.role == .central, bond != nil, device.policy.encryptsBondedPeers else { return }
        state.procedure = .encrypting
        manager.secure(.encrypted) { [weak self] _ in self?.state.procedure = .none }
    }

    /// Calls `completion` when the automatic encryption after connecting has finished, successfully or not (behaviour
    /// 6.11).
    ///
    /// If there is nothing to wait for, `completion` is called immediately.
    package func prepare(_ completion: @escaping Completion) {
        guard case .encrypting = state.procedure else { return completion(.success(())) }
        manager.secure(.encrypted, completion: completion)
    }

    /// Ends the link because it was lost. Called by its owner, who is notified first.
    package func end() {
        let procedure = state.procedure
        state = .over
        manager.linkLost()
        device.ended(self)
        guard case .replacing(let waiting) = procedure else { return }
        for completion in waiting { completion(.failure(.linkLost)) }
    }
}

// MARK: - Current protection

extension SecureLink {
    /// Records the current security of the link, and reports it to the layers above. A key below the minimum of the
    /// device's configuration protects nothing (AB-S07).
    func update() {
        let floor = device.configuration.floor
        var inUse: KeyLevel?
        var hasKey = true
        if case .open = state {
            inUse = manager.encryption.flatMap { $0.isAtLeast(floor) ? $0 : nil }
            // The peer has to prove that it has the key even if the key is too weak (AB-A10).
            hasKey = inUse != nil || manager.keys != nil && manager.encryption == nil
        }
        var new = LinkSecurity()
        new.encryption = inUse
        new.usableKey = inUse ?? manager.keys.flatMap { $0.level.isAtLeast(floor) ? $0.level : nil }
        new.hasKey = hasKey
        new.isSecureConnectionsOnly = floor.isAuthenticated && floor.isSecureConnections
        new.isAuthorized = isAuthorized
        let old = linkSecurity
        guard new != old else { return }
        l2cap.linkSecurity = new
        owner?.secureLink(self, changedFrom: old)
        onEvent?(.changed(new))
    }

    func report(_ kind: @autoclosure () -> SecurityEvent.Kind) {
        device.report(SecurityEvent(kind(), peer: peer, link: connection.handle))
    }

    /// Ends a link whose security was lost (Core Vol 3 Part C 10.3.2, AB-L07).
    func securityLost() {
        guard isOpen else { return }
        report(.securityLost)
        disconnect()
    }

    func disconnect(_ reason: HCIStatus = .authenticationFailure) {
        if case .open(let procedure) = state { state = .ending(procedure) }
        update()
        device.send(Disconnect(handle: connection.handle, reason: reason))
    }

    /// Ends the link in favour of another one to the same peer.
    func giveWay() {
        guard isOpen else { return }
        report(.gaveWay)
        disconnect(.remoteUserTerminated)
        end()
        owner?.secureLinkWasReplaced(self)
    }
}

// MARK: - Events from the controller

extension SecureLink {
    func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        manager.longTermKey(random: random, diversifier: diversifier)
    }

    func encryptionChanged(_ status: HCIStatus, isOn: Bool) {
        guard status == .success else { return manager.encryptionChanged(.failed(EncryptionFailure(status))) }
        let wasEncrypted = manager.encryption != nil
        l2cap.encryptionChanged()
        manager.encryptionChanged(isOn ? .on : .off)
        if wasEncrypted, !isOn { securityLost() }
    }

    func encryptionRefreshed(_ status: HCIStatus) {
        guard status != .success else {
            l2cap.encryptionChanged()
            return manager.encryptionChanged(.refreshed)
        }
        manager.encryptionChanged(.failed(EncryptionFailure(status)))
        securityLost()
    }

    /// Handles changed bonds. If the peer's bond was removed, the link ends, whether it is encrypted or being
    /// encrypted.
    func bondsChanged() {
        guard bondIdentifier != nil, bond == nil else { return reconfigure() }
        bondIdentifier = nil
        manager.forget()
    }
}

// MARK: - Prompts

extension SecureLink {
    /// Counts a request of an app until its completion.
    func counted(_ completion: @escaping Completion) -> Completion {
        appRequests += 1
        return { [weak self] in
            self?.appRequests -= 1
            completion($0)
        }
    }

    /// Moves the link's prompt forward if an app has come to need the pairing.
    func causeChanged() { device.causeChanged(of: self) }

    /// Whether a prompt is open or waits for its turn.
    var hasPrompt: Bool { prompt != nil }

    /// Keeps the handler of a prompt that is to be shown. It replaces that of an earlier prompt.
    func promptWaits(_ ticket: UInt64, answer: @escaping (PairingAnswer) -> Void) { prompt = (ticket, answer) }

    /// Passes on the user's answer to a prompt, unless the prompt is over. Each prompt has one answer, besides keys
    /// that are being typed.
    func answerPrompt(_ ticket: UInt64, _ answer: PairingAnswer) {
        guard let waiting = prompt, waiting.ticket == ticket else { return }
        if case .typing = answer {} else { prompt = nil }
        waiting.answer(answer)
    }

    /// Forgets the prompt, whose answer no longer matters.
    func promptEnded() { prompt = nil }
}

// MARK: - Lost bonds

extension SecureLink {
    /// Handles a peer that has no key, as central: asks the user whether to pair again, if the policy says so.
    func replaceLostBond(_ level: SecurityLevel, _ completion: @escaping Completion) {
        guard lostBonds == .asked, isOpen else { return completion(.failure(.peerLostKey)) }
        let checked: Completion = { [weak self] result in
            guard case .success = result, let self, !level.isMet(by: manager.encryption) else {
                return completion(result)
            }
            completion(.failure(.tooWeak))
        }
        if case .replacing(let waiting) = state.procedure {
            state.procedure = .replacing(waiting + [checked])
            return
        }
        state.procedure = .replacing([checked])
        device.ask(.confirmReplacement, of: self) { [weak self] answer in
            guard let self else { return }
            guard answer == .accept else { return finishReplacing(.failure(.refusedByPerson)) }
            manager.pair { [weak self] in self?.finishReplacing($0) }
        }
    }

    private func finishReplacing(_ result: Result<Void, SecurityError>) {
        guard case .replacing(let waiting) = state.procedure else { return }
        state.procedure = .none
        for completion in waiting { completion(result) }
    }
}

// MARK: - Actions of the Security Manager

extension SecureLink: SecurityManagerDelegate {
    package func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action) {
        switch action {
        case .askPermission: manager.permitted(mayBegin())
        case .ask(let prompt, let answer): ask(prompt, answer)
        case .closePrompt: device.closePrompt(of: self)
        // Keypresses of the peer are not displayed.
        case .peerPressedKey: break
        // Out-of-band data is used up on every link.
        case .usedOutOfBand: device.outOfBandIsUsed()
        case .encrypt(let key): encrypt(with: key)
        case .store(let keys, let isBonding): manager.stored((try? store(keys, isBonding: isBonding)) != nil)
        case .encryptionChanged: followEncryption()
        case .fail(let error): failed(error)
        case .endLink: if isOpen { disconnect() }
        }
    }

    package func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys? { bond?.keys }

    /// Stores the signature counters, which never decrease.
    package func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws {
        guard let identifier = bondIdentifier, let bonds = device.bonds else { throw SecurityError.keysRefused }
        do throws(BondError) {
            try bonds.update(identifier) { bond in
                bond.keys.localSignCounter = max(bond.keys.localSignCounter, keys.localSignCounter)
                bond.keys.peerSignCounter = max(bond.keys.peerSignCounter, keys.peerSignCounter)
            }
        } catch {
            report(.signatureNotKept(error))
            throw error
        }
    }
}

extension SecureLink {
    private func mayBegin() -> Bool {
        let cause = cause
        let isStranger = cause == .stranger
        guard device.mayPair(with: peer, isStranger: isStranger), !isStranger || device.strangerBegins() else {
            report(.notNow(cause))
            return false
        }
        pairing = .underWay(cause)
        return true
    }

    /// Prompts the user, unless the policy decides.
    private func ask(_ prompt: PairingPrompt, _ answer: @escaping (PairingAnswer) -> Void) {
        if prompt == .confirmReplacement {
            // A peer that has the key uses it: this one has lost it, or is an impostor (AB-S09).
            handleLostBond()
            guard lostBonds == .asked else {
                pairing = .replacementRefused(cause)
                return answer(.refuse)
            }
        }
        device.ask(prompt, of: self, answer: answer)
    }

    private func encrypt(with key: EncryptionKey) {
        let command = LEEnableEncryption(
            handle: connection.handle,
            random: key.random,
            encryptedDiversifier: key.diversifier,
            longTermKey: PacketBuffer(key.key.littleEndianBytes)
        )
        device.send(command) { [weak self] result in
            guard let self, case .failure = result else { return }
            manager.encryptionChanged(.failed(.other))
        }
    }

    func store(_ keys: PeerKeys, isBonding: Bool) throws {
        let peer = peer
        if isBonding {
            guard let bonds = device.bonds else { throw SecurityError.keysRefused }
            do throws(BondError) {
                bondIdentifier = try keep(keys, in: bonds).identifier
            } catch {
                keysRefusal = error
                throw error
            }
        }
        device.pairingSucceeded(with: peer, isStranger: pairing == .underWay(.stranger))
        pairing = .none
        hasPairedWithoutBond = !isBonding
        report(.paired(hasBond: isBonding))
        update()
        if isBonding, let bond {
            device.bondChanged(bond.identifier)
            device.settle(on: self)
        }
        onEvent?(.paired(isBonding ? bond : nil))
    }

    private func keep(_ keys: PeerKeys, in bonds: BondStore) throws(BondError) -> Bond {
        let address = keys.identityAddress ?? connection.peerAddress.plain
        // A device that has not proved it has a bonded peer's key gets an identifier of its own, and so does not
        // replace that bond (AB-S10, behaviour 6.20).
        let free = identifier.flatMap { bonds.bond($0) == nil ? $0 : nil }
        var new = Bond(
            identifier: bond?.identifier ?? free ?? BondIdentifier(random: device.random),
            address: address,
            keys: keys,
            name: name ?? bond?.name
        )
        // The peer's settings as a client, and the cache of its database, outlast the keys.
        let old = bond.flatMap { bonds.bond($0.identifier) }
        // A peer that paired under a fixed address may use that address again, and its identity address. From peers
        // that use private addresses, identity addresses are ignored (Core Vol 6 Part B 6).
        let shown = connection.peerResolvableAddress == nil ? connection.peerAddress.plain : nil
        new.showsIdentity = shown.map { $0 == address || $0.canStay } ?? false
        new.pairingAddress = shown.flatMap { $0.canStay ? $0 : nil } ?? old?.pairingAddress
        new.record = old?.record
        new.cache = old?.cache
        return try bonds.add(new)
    }

    private func followEncryption() {
        if manager.encryption != nil {
            // A pairing that an attacker started ends when the peer proves its key, and does not count as the peer's
            // failure.
            if !manager.isPairing { pairing = .none }
            bondIsUsed()
        }
        update()
    }

    private func failed(_ error: SecurityError) {
        if let cause = pairing.cause, error.countsAsFailedPairing {
            device.pairingFailed(with: peer, isStranger: cause == .stranger)
        }
        pairing = .none
        report(.failed(error))
        if error == .peerLostKey { handleLostBond() }
        onEvent?(.failed(error))
    }

    // MARK: The bond

    private func bondIsUsed() {
        guard let identifier = bond?.identifier else { return }
        device.bonds?.use(identifier)
        device.updatePrivacy()
        // If the peer was reported to have lost the key, the report came from another device, or the peer has recovered
        // the key.
        if bond?.isLost == true, pairing == .none, !hasPairedWithoutBond { changeBond { $0.isLost = false } }
    }

    private func handleLostBond() {
        guard let identifier = bond?.identifier else { return }
        changeBond { $0.isLost = true }
        report(.bondLost)
        device.bondChanged(identifier)
        onEvent?(.bondLost)
    }

    private func changeBond(_ change: (inout Bond) -> Void) {
        guard let identifier = bondIdentifier, let bonds = device.bonds else { return }
        do throws(BondError) {
            try bonds.update(identifier, change)
        } catch {
            report(.bondNotKept(error))
        }
    }
}

extension SecurityError {
    /// Whether the peer has to wait after this error, if it ended a pairing (Core Vol 3 Part H 2.3.6). A link that is
    /// lost during a pairing counts: it may have been a wrong guess.
    var countsAsFailedPairing: Bool {
        self != .cancelled && self != .forgotten
    }
}
