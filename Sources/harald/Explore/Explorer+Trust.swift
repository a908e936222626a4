import BluetoothService
import BluetoothTypes
import Bonds
import GAP
import GATT
import HCI
import HCIHost
import SMP
import Security

// Who the peer is, and that nobody listens.
extension Explorer {
    /// Opens the bonds, which belong to the controller.
    func openBonds(of controller: ControllerInformation) throws(ToolError) -> BondStore {
        let opened = try storage()
        let store: BondStore
        do throws(BondError) {
            store = try BondStore(storage: opened, adapter: AdapterIdentity(controller), random: random)
        } catch {
            throw .bonds(error)
        }
        if plan.trust.sharesOutOfBand, let own = OwnOutOfBandData(random: random) {
            device.security.ownOutOfBand = own
            Console.line("out of band: \(own.shared.digits)")
        }
        return store
    }

    /// Encrypts the link, by the bond or by pairing, if that is wanted, and explores.
    func secure(_ access: AccessLink, _ client: GATTClient) {
        let link = access.security
        device.security.setOutOfBand(plan.trust.outOfBand, from: link.connection.peerAddress)
        link.name = plan.name
        link.onPaired = { bond in
            Console.line(bond.map { "bonded with \($0.address)" } ?? "paired, and nothing is kept")
        }
        // Whatever the peer refuses for want of security is repeated when the link is secure.
        client.onInsufficientSecurity = { [weak self, weak link, plan] refusal, done in
            guard plan.trust.pairs, let link else { return done(.untried) }
            link.secure(after: refusal) { outcome in
                if case .failed(let reason) = outcome, let error = reason.error as? SecurityError {
                    self?.tellOnce(error)
                }
                done(outcome)
            }
        }
        let secured: (Result<Void, SecurityError>) -> Void = { [weak self, weak link] result in
            guard let self, isSecuring else { return }
            switch result {
            case .success:
                if let level = link?.manager.encryption { Console.line("encrypted: \(level.inWords)") }
                explore(client)
            case .failure(.linkLost): break
            case .failure(let error): end(.failure(.notSecured(plan.name, reason: reason(of: error))))
            }
        }
        link.prepare { [plan, weak link] result in
            guard plan.trust.pairs, let link else { return secured(result) }
            link.secure(.encrypted, completion: secured)
        }
    }

    /// Why the link does not get more secure, once, whatever number of values asks for it.
    private func tellOnce(_ error: SecurityError) {
        let sentence = reason(of: error)
        if lastRefusal != sentence { Console.line("not made more secure: \(sentence)") }
        lastRefusal = sentence
    }

    /// Why the link is not secured, and what to do.
    private func reason(of error: SecurityError) -> String {
        if error == .keysRefused, let refusal = link?.security.keysRefusal { return "\(refusal)" }
        let advice: String? =
            switch error {
            case .pairing(let failure): failure.advice
            case .peerLostKey: "remove it with harald bonds forget, or let --pair ask whether to pair anew"
            default: nil
            }
        return "\(error)" + (advice.map { "; \($0)" } ?? "")
    }
}
