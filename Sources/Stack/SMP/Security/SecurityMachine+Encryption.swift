import BluetoothTypes
import Cryptography

// Encryption changes reported by the controller, and the end of links that are no longer trusted.
extension SecurityMachine {
    mutating func changed(_ report: EncryptionChangeReport) -> [Action] {
        let key = pending
        pending = nil
        switch report {
        case .on, .refreshed: return encrypted(with: key)
        case .off:
            encryption = nil
            isProven = false
            isTentative = false
            // Keys are never distributed over an unencrypted link (AB-S11).
            return [.encryptionChanged] + perform(pairing.handle(.cancel(.unspecifiedReason)))
        case .failed(let failure):
            if key == .pairing { return perform(pairing.handle(.encrypted(false))) }
            guard state == .encrypting else { return [] }
            state = .idle
            // The bond stays, and no pairing replaces it (behaviour 6.12).
            switch failure {
            case .keyMissing:
                lostKey = self.key
                return fail(.peerLostKey)
            case .timedOut: return fail(.encryptionTimedOut)
            case .other: return fail(.encryptionFailed)
            }
        }
    }

    private mutating func encrypted(with key: PendingKey?) -> [Action] {
        switch key {
        // This host supplied no key, so the one that the controller used proves nothing (AB-L06).
        case nil: return []
        case .pairing:
            guard let level = pairing.agreedLevel else { return [] }
            // The level applies at once, as it does for the peer, which may immediately repeat a refused request (Vol 3
            // Part C 10.3.1). It is withdrawn if the pairing fails.
            encryption = level
            isProven = false
            isTentative = true
            return [.encryptionChanged] + perform(pairing.handle(.encrypted(true)))
        case .kept(let key):
            // The key was removed or replaced while the peer was responding, so it is no longer valid.
            guard let level = keys?.level, self.key?.key == key else { return giveUp(.forgotten) }
            encryption = level
            isProven = true
            return supersede() + [.encryptionChanged] + settle()
        }
    }

    /// Drops a pairing when the peer proves that it has the bond's key.
    ///
    /// The peer did not take part in the pairing, so someone else started it while the link was unencrypted. It is
    /// dropped silently, because the peer would not understand a Pairing Failed.
    private mutating func supersede() -> [Action] {
        guard pairing.isUnderWay else { return [] }
        let actions = perform(pairing.handle(.drop))
        // The waiters of the dropped pairing keep waiting.
        state = .encrypting
        return actions
    }

    /// Finishes the waiters that the bond's key satisfies, and pairs for the others.
    private mutating func settle() -> [Action] {
        let encryption = encryption
        let met = waiters.filter { $0.level?.isMet(by: encryption) ?? false }
        waiters.removeAll { $0.level?.isMet(by: encryption) ?? false }
        var actions = finish(met, nil)
        switch state {
        case .encrypting:
            state = .idle
            actions += proceed()
        case .awaitsCentral where waiters.isEmpty:
            state = .idle
            actions.append(.stopTimer)
        default: break
        }
        return actions
    }

    mutating func lost() -> [Action] {
        let wasBusy = state != .idle
        isTentative = false
        let actions = pairing.isUnderWay ? perform(pairing.handle(.linkLost)) : wasBusy ? fail(.linkLost) : []
        end()
        return [.stopTimer] + actions
    }

    /// Abandons a link whose current or imminent encryption can no longer be trusted. The owner ends the link.
    mutating func giveUp(_ error: SecurityError) -> [Action] {
        let actions = perform(pairing.handle(.drop))
        end()
        return actions + [.stopTimer, .endLink] + fail(error)
    }

    private mutating func end() {
        state = .ended
        encryption = nil
        isProven = false
        isTentative = false
        pending = nil
        linkKeys = nil
    }
}

/// A change of a link's encryption, as reported by the controller.
package enum EncryptionChangeReport: Hashable, Sendable {
    case on
    /// The key of an encrypted link was changed (HCI Encryption Key Refresh Complete).
    case refreshed
    case off
    case failed(EncryptionFailure)
}

/// The reason why a link could not be encrypted.
package enum EncryptionFailure: Hashable, Sendable {
    /// The peer does not have the key: PIN or Key Missing (error 0x06).
    case keyMissing
    /// The peer did not respond (errors 0x08, 0x22).
    case timedOut
    case other
}
