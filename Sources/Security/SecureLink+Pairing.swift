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
        // Nothing is shown.
        case .peerPressedKey: break
        // No link uses it again.
        case .usedOutOfBand: device.ownOutOfBand = nil
        case .encrypt(let key): encrypt(with: key)
        case .store(let keys, let isBonding): manager.stored((try? store(keys, isBonding: isBonding)) != nil)
        case .encryptionChanged: followEncryption()
        case .fail(let error): failed(error)
        case .endLink: if isOpen { disconnect() }
        }
    }

    /// What is kept of the peer.
    package func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys? { bond?.keys }

    /// Keeps the numbers of signatures, which never go back.
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

// MARK: - What the Security Manager wants done

extension SecureLink {
    /// Whether the peer has waited long enough after what failed (AB-S12).
    private func mayBegin() -> Bool {
        guard device.mayPair(with: peer) else { return false }
        pairing = .underWay
        return true
    }

    /// Asks a person, unless the policy answers.
    private func ask(_ prompt: PairingPrompt, _ answer: @escaping (PairingAnswer) -> Void) {
        if prompt == .confirmReplacement {
            // Who has the key uses it: this peer has lost it, or is somebody else (AB-S09).
            bondIsLost()
            guard lostBonds == .asked else {
                pairing = .replacementRefused
                return answer(.refuse)
            }
        }
        device.ask(prompt, of: self, answer: answer)
    }

    /// Gives the controller the key.
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

    /// Keeps the keys.
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
        // Who has not shown the key of a bonded peer gets an identifier of its own, and so not that bond (AB-S10, behaviour
        // 6.20).
        let free = identifier.flatMap { bonds.bond($0) == nil ? $0 : nil }
        var new = Bond(
            identifier: bond?.identifier ?? free ?? BondIdentifier(random: device.random),
            address: address,
            keys: keys,
            name: name ?? bond?.name
        )
        // Whoever pairs without hiding who he is may come back so; others are ignored then (Core Vol 6 Part B 6).
        new.showsIdentity = connection.peerResolvableAddress == nil && connection.peerAddress.plain == address
        // What the peer has chosen and what was found there outlast the keys.
        let old = bond.flatMap { bonds.bond($0.identifier) }
        new.record = old?.record
        new.cache = old?.cache
        return try bonds.add(new)
    }

    /// Tells those above.
    private func followEncryption() {
        if manager.encryption != nil {
            // A pairing that somebody else has begun is over when the peer shows its key, and is not held against it.
            if !manager.isPairing { pairing = .none }
            bondIsUsed()
        }
        update()
    }

    /// Tells those above, and notes what the failure means.
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
        // Whoever said that the key was lost was somebody else, or has found it again.
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
    /// Whether the peer has to wait after it, if it was a pairing (Core Vol 3 Part H 2.3.6). A link that is lost in the
    /// middle of one counts: it may be a guess that went wrong.
    var countsAsFailedPairing: Bool {
        self != .cancelled && self != .forgotten
    }
}
