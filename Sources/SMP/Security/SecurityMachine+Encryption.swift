import BluetoothTypes
import Cryptography

// What the controller says of the link, and what is left of a link that nobody can rely on.
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
            // Keys do not go over a link that is not encrypted (AB-S11).
            return [.encryptionChanged] + perform(pairing.handle(.cancel(.unspecifiedReason)))
        case .failed(let failure):
            if key == .pairing { return perform(pairing.handle(.encrypted(false))) }
            guard state == .encrypting else { return [] }
            state = .idle
            // The bond stays, and no pairing takes its place (behaviour 6.12).
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
        // Nobody here gave a key: whatever the controller used is not worth anything (AB-L06).
        case nil: return []
        case .pairing:
            guard let level = pairing.agreedLevel else { return [] }
            // It counts from now on, as it does for the peer, which may repeat at once what was refused (Vol 3 Part C 10.3.1); and
            // until the pairing fails, if it does.
            encryption = level
            isProven = false
            isTentative = true
            return [.encryptionChanged] + perform(pairing.handle(.encrypted(true)))
        case .kept(let key):
            // Removed or replaced while the peer took its time: it is nobody's key now.
            guard let level = keys?.level, self.key?.key == key else { return giveUp(.forgotten) }
            encryption = level
            isProven = true
            return supersede() + [.encryptionChanged] + settle()
        }
    }

    /// The peer has shown its key, and was not at that pairing: somebody else has begun it in the clear. It never was, and
    /// nothing is said about it, which the peer would not understand.
    private mutating func supersede() -> [Action] {
        guard pairing.isUnderWay else { return [] }
        let actions = perform(pairing.handle(.drop))
        // Who waited for it waits on.
        state = .encrypting
        return actions
    }

    /// The link is encrypted with the bond's key: some have what they waited for; for the others, pairing.
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

    /// The link is not to be relied on any more: whatever it is encrypted with, or will be in a moment, is not worth
    /// anything, and the owner ends it.
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
