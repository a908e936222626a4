import ATT
import BluetoothTypes
import GATT
import HCI
import HCIHost
import SMP

// Core Vol 3 Part C 10.3.2: what is done when somebody here needs security.
extension SecureLink {
    /// Makes the link as secure as `level`, or as the device's configuration asks where that is more: with the key of the
    /// bond if it is good enough, by pairing otherwise. As peripheral the central is asked to.
    ///
    /// A peer that is bonded has to prove that it is who it was before it pairs anew (AB-S09); when it cannot, the bond is
    /// lost, and ``SecurityPolicy/lostBonds`` decides.
    package func secure(_ level: SecurityLevel, completion: @escaping Completion) {
        guard isOpen else { return completion(.failure(.linkLost)) }
        // Whoever asks persons may be gone without a word.
        reconfigure()
        let level = level.joined(with: device.configuration.floor.asked)
        manager.secure(level) { [weak self] result in
            guard let self, case .failure(let error) = result else { return completion(result) }
            switch error {
            case .peerLostKey: replaceLostBond(level, completion)
            case .refusedByPerson where pairing == .replacementRefused: completion(.failure(.peerLostKey))
            default: completion(result)
            }
        }
    }

    /// Makes the link as secure as it has to be for a request that the peer has refused for this (table 10.2), so that it
    /// may be repeated. `completion` is told what came of it.
    package func secure(after refusal: ATTErrorCode, completion: @escaping (SecuringOutcome) -> Void) {
        guard let level = level(after: refusal) else { return completion(.untried) }
        secure(level) { result in
            switch result {
            case .success: completion(.secured)
            case .failure(let error): completion(.failed(UnderlyingError(error)))
            }
        }
    }

    func level(after refusal: ATTErrorCode) -> SecurityLevel? {
        switch refusal {
        case .insufficientEncryption: return .encrypted
        case .encryptionKeySizeTooShort: return (manager.encryption?.asked ?? .encrypted).with(keySize: 16)
        case .insufficientAuthentication:
            // How good a key the peer wants it does not say: the next better one.
            guard let level = manager.encryption else { return .encrypted }
            return level.isAuthenticated ? .secureConnections : .authenticated
        default: return nil
        }
    }

    /// Pairs, whatever keys there are. A peer that is bonded has to prove first that it is who it was.
    package func pair(completion: @escaping Completion) {
        guard bond != nil, connection.role == .central, manager.encryption == nil else {
            return manager.pair(completion: completion)
        }
        secure(.encrypted) { [weak self] result in
            guard let self, case .success = result else { return completion(result) }
            manager.pair(completion: completion)
        }
    }

    /// As central: the peer has no key. Asks whether to pair anew, if the policy is to ask.
    private func replaceLostBond(_ level: SecurityLevel, _ completion: @escaping Completion) {
        guard lostBonds == .asked, isOpen else { return completion(.failure(.peerLostKey)) }
        let checked: Completion = { [weak self] result in
            guard case .success = result, let self, !level.isMet(by: manager.encryption) else {
                return completion(result)
            }
            completion(.failure(.tooWeak))
        }
        if case .replacing(let waiting) = life.undertaking {
            life.undertaking = .replacing(waiting + [checked])
            return
        }
        life.undertaking = .replacing([checked])
        device.ask(.confirmReplacement, of: self) { [weak self] answer in
            guard let self else { return }
            guard answer == .accept else { return finishReplacing(.failure(.refusedByPerson)) }
            manager.pair { [weak self] in self?.finishReplacing($0) }
        }
    }

    private func finishReplacing(_ result: Result<Void, SecurityError>) {
        guard case .replacing(let waiting) = life.undertaking else { return }
        life.undertaking = .none
        for completion in waiting { completion(result) }
    }
}
