import BluetoothTypes
import Bonds
import Cryptography
import HCI
import HCIHost
import Privacy
import SMP

extension SecureLink: SecurityManagerDelegate {
    package func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action) {
        switch action {
        case .askPermission: manager.permitted(mayBegin())
        case .ask(let prompt, let answer): ask(prompt, answer)
        case .closePrompt: device.closePrompt(of: self)
        // Keypresses of the peer are not displayed.
        case .peerPressedKey: break
        // Out-of-band data is used up on every link.
        case .usedOutOfBand: device.ownOutOfBand = nil
        case .encrypt(let key): encrypt(with: key)
        case .store(let keys, let isBonding): manager.stored((try? store(keys, isBonding: isBonding)) != nil)
        case .encryptionChanged: followEncryption()
        case .fail(let error): failed(error)
        case .endLink: if isOpen { disconnect() }
        }
    }

    /// Returns the stored keys of the peer.
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
            tell(.signatureNotKept(error))
            throw error
        }
    }
}

// MARK: - Actions of the Security Manager

extension SecureLink {
    /// Whether the peer has waited long enough after its failures (AB-S12).
    private func mayBegin() -> Bool {
        guard device.mayPair(with: peer) else { return false }
        pairing = .underWay
        return true
    }

    /// Prompts the user, unless the policy decides.
    private func ask(_ prompt: PairingPrompt, _ answer: @escaping (PairingAnswer) -> Void) {
        if prompt == .confirmReplacement {
            // A peer that has the key uses it: this one has lost it, or is an impostor (AB-S09).
            bondIsLost()
            guard lostBonds == .asked else {
                pairing = .replacementRefused
                return answer(.refuse)
            }
        }
        device.ask(prompt, of: self, answer: answer)
    }

    /// Passes the key to the controller.
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

    /// Stores the keys of a pairing.
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
        pairing = .none
        hasPairedWithoutBond = !isBonding
        device.pairingSucceeded(with: peer)
        tell(.paired(hasBond: isBonding))
        update()
        if isBonding, let bond {
            device.bondChanged(bond.identifier)
            device.settle(on: self)
        }
        onPaired?(isBonding ? bond : nil)
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
        // A peer that paired under its identity address may use that address again. From peers that use private
        // addresses, identity addresses are ignored (Core Vol 6 Part B 6).
        new.showsIdentity = connection.peerResolvableAddress == nil && connection.peerAddress.plain == address
        // The peer's settings as a client, and the cache of its database, outlast the keys.
        let old = bond.flatMap { bonds.bond($0.identifier) }
        new.record = old?.record
        new.cache = old?.cache
        return try bonds.add(new)
    }

    /// Propagates a change of encryption to the layers above.
    private func followEncryption() {
        if manager.encryption != nil {
            // A pairing that an attacker started ends when the peer proves its key, and does not count as the peer's
            // failure.
            if !manager.isPairing { pairing = .none }
            bondIsUsed()
        }
        update()
    }

    /// Propagates a failure to the layers above, and records its consequences.
    private func failed(_ error: SecurityError) {
        if pairing != .none, error.countsAsFailedPairing { device.pairingFailed(with: peer) }
        pairing = .none
        tell(.failed(error))
        if error == .peerLostKey { bondIsLost() }
        onFailure?(error)
    }

    // MARK: The bond

    private func bondIsUsed() {
        guard let identifier = bond?.identifier else { return }
        device.bonds?.use(identifier)
        device.tellPrivacy()
        // If the peer was reported to have lost the key, the report came from another device, or the peer has recovered
        // the key.
        if bond?.isLost == true, pairing == .none, !hasPairedWithoutBond { changeBond { $0.isLost = false } }
    }

    private func bondIsLost() {
        guard let identifier = bond?.identifier else { return }
        changeBond { $0.isLost = true }
        tell(.bondLost)
        device.bondChanged(identifier)
        onBondLost?()
    }

    private func changeBond(_ change: (inout Bond) -> Void) {
        guard let identifier = bondIdentifier, let bonds = device.bonds else { return }
        do throws(BondError) {
            try bonds.update(identifier, change)
        } catch {
            tell(.bondNotKept(error))
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
