import BluetoothService
import BluetoothTypes
import Bonds
import GAP
import GATT
import HCI
import L2CAP
import SMP

// Who the peer is, and that nobody listens.
extension Explorer {
    /// Opens the bonds, which belong to the controller.
    func openBonds(of controller: ControllerInformation) throws(ToolError) {
        let opened = try storage()
        do throws(BondError) {
            let adapter = AdapterIdentity(controller)
            security.bonds = try BondStore(storage: opened, adapter: adapter, random: random)
        } catch {
            throw .bonds(error)
        }
        guard plan.trust.sharesOutOfBand, let own = OwnOutOfBandData(random: random) else { return }
        security.ownOutOfBand = own
        Console.line("out of band: \(own.shared.digits)")
    }

    /// The address of which bonded peers know this device, the same each time that its bonds are opened.
    func ownAddress(on controller: ControllerInformation) -> OwnAddress {
        guard plan.trust.keepsBonds, let identity = security.bonds?.identity else {
            return OwnAddress(.staticRandom, publicAddress: controller.publicAddress, random: random)
        }
        return OwnAddress(identity.address)
    }

    /// Encrypts the link, by the bond or by pairing, if that is wanted, and explores.
    func secure(_ connection: HCIConnection, _ l2cap: L2CAPConnection, _ client: GATTClient) {
        security.setOutOfBand(plan.trust.outOfBand, from: connection.peerAddress)
        guard let link = security.attach(connection, l2cap, ownAddress: ownAddress) else { return }
        link.name = plan.name
        secureLink = link
        link.onPaired = { bond in
            Console.line(bond.map { "bonded with \($0.address)" } ?? "paired, and nothing is kept")
        }
        // Whatever the peer refuses for want of security is repeated when the link is secure.
        client.onInsufficientSecurity = { [weak link, plan] error, retry in
            guard plan.trust.pairs, let link else { return retry(false) }
            link.secure(after: error, completion: retry)
        }
        let secured: (Result<Void, SecurityError>) -> Void = { [weak self, weak link] result in
            guard let self, isSecuring else { return }
            switch result {
            case .success:
                if let level = link?.manager.encryption.level { Console.line("encrypted: \(level.inWords)") }
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

    /// Why the link is not secured, and what to do.
    private func reason(of error: SecurityError) -> String {
        if error == .keysRefused, let refusal = secureLink?.keysRefusal { return "\(refusal)" }
        let advice: String? =
            switch error {
            case .pairing(let failure): failure.advice
            case .peerLostKey: "remove it with harald bonds forget, or let --pair ask whether to pair anew"
            default: nil
            }
        return "\(error)" + (advice.map { "; \($0)" } ?? "")
    }
}
