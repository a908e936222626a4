import ATT
import BluetoothTypes
import GATT
import HCI
import HCIHost
import SMP

// The procedures for local requests for security (Core Vol 3 Part C 10.3.2).
extension SecureLink {
    /// Makes sure that the link satisfies `level` and the minimum of the device's configuration.
    ///
    /// This uses the bond's key if it is strong enough, and pairing otherwise. As peripheral, it asks the central to do
    /// so.
    ///
    /// A bonded peer has to prove its identity before it pairs again (AB-S09). If it cannot, the bond is lost, and
    /// ``SecurityPolicy/lostBonds`` decides.
    ///
    /// - Parameters:
    ///   - isForApp: Whether an app of this device waits for it. If not, a prompt is ordered as if the peer had begun
    ///     (AB-S16).
    ///   - completion: Called once.
    package func secure(_ level: SecurityLevel, isForApp: Bool = true, completion: @escaping Completion) {
        guard isOpen else { return completion(.failure(.linkLost)) }
        let completion = isForApp ? counted(completion) : completion
        // The prompter is a weak reference and may be gone without notice.
        reconfigure()
        let level = level.joined(with: requiredByDevice)
        manager.secure(level) { [weak self] result in
            guard let self, case .failure(let error) = result else { return completion(result) }
            switch error {
            case .peerLostKey: replaceLostBond(level, completion)
            case .refusedByPerson where pairing.isReplacementRefused: completion(.failure(.peerLostKey))
            default: completion(result)
            }
        }
        causeChanged()
    }

    /// Secures the link as required by a request that the peer refused for lack of security (table 10.2).
    ///
    /// - Parameter completion: Called with the outcome. After ``SecuringOutcome/secured`` the request can be repeated.
    package func secure(
        after refusal: ATTErrorCode,
        isForApp: Bool = true,
        completion: @escaping (SecuringOutcome) -> Void
    ) {
        guard let level = level(after: refusal) else { return completion(.untried) }
        secure(level, isForApp: isForApp) { result in
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
            // The peer does not tell which level it requires, so try the next higher one.
            guard let level = manager.encryption else { return .encrypted }
            return level.isAuthenticated ? .secureConnections : .authenticated
        default: return nil
        }
    }

    /// Pairs for an app, whatever keys there are. A bonded peer has to prove its identity first.
    package func pair(completion: @escaping Completion) {
        let completion = counted(completion)
        defer { causeChanged() }
        guard bond != nil, connection.role == .central, manager.encryption == nil else {
            return manager.pair(completion: completion)
        }
        secure(.encrypted) { [weak self] result in
            guard let self, case .success = result else { return completion(result) }
            manager.pair(completion: completion)
        }
    }
}
