import BluetoothService
import BluetoothTypes
import GAP
import GATT
import SMP
import Security
import ServiceMessages

// Security of the link.
extension Explorer {
    /// Encrypts the link if the plan asks for that, by the bond or by pairing, and then explores.
    func secure(_ access: AccessLink, _ client: GATTClient) {
        let link = access.secureLink
        link.name = foundName
        link.onEvent = { [weak self] event in
            guard case .paired(let bond) = event else { return }
            self?.report.say(bond.map { "bonded with \($0.address)" } ?? "paired, without keeping a bond")
        }
        // A request that the peer refuses for insufficient security is repeated once the link is secure.
        client.onInsufficientSecurity = { [weak self, weak link, plan] refusal, done in
            guard plan.pairs, let link else { return done(.untried) }
            link.secure(after: refusal) { outcome in
                if case .failed(let reason) = outcome, let error = reason.error as? SecurityError {
                    self?.reportOnce(error)
                }
                done(outcome)
            }
        }
        let secured: (Result<Void, SecurityError>) -> Void = { [weak self, weak link] result in
            guard let self, isSecuring else { return }
            switch result {
            case .success:
                if let level = link?.manager.encryption { report.say("encrypted: \(level.inWords)") }
                explore(client)
            case .failure(.linkLost): break
            case .failure(let error): end(.failure(.notSecured(name, reason: reason(of: error))))
            }
        }
        link.prepare { [plan, weak link] result in
            guard plan.pairs, let link else { return secured(result) }
            link.secure(.encrypted, completion: secured)
        }
    }

    /// Prints why the security level could not be raised. Prints each reason once, even if several values need the
    /// level.
    private func reportOnce(_ error: SecurityError) {
        let sentence = reason(of: error)
        if lastRefusal != sentence { report.say("security not raised: \(sentence)") }
        lastRefusal = sentence
    }

    /// Returns why the link is not secured, and what to do.
    private func reason(of error: SecurityError) -> String {
        if error == .keysRefused, let refusal = link?.secureLink.keysRefusal { return "\(refusal)" }
        let advice: String? =
            switch error {
            case .pairing(let failure): failure.advice
            case .peerLostKey:
                "remove the bond with harald bonds forget, or use --pair to be asked whether to pair again"
            default: nil
            }
        return "\(error)" + (advice.map { "; \($0)" } ?? "")
    }
}
