import ATT
import BluetoothTypes
import GATT
import SMP
import Security

/// The attribute protocol on a link: a client of the peer, and a server's session for it. Both know at every moment how well
/// the link is protected.
package final class LinkAttributes {
    /// The bearer on the fixed channel.
    package let bearer: ATTBearer
    /// Asks the peer.
    package let client: GATTClient
    /// Serves the peer, if there is a server.
    package let session: GATTServerSession?

    private weak var server: GATTServer?

    init(_ bearer: ATTBearer, server: GATTServer?, security: SecureLink) {
        self.bearer = bearer
        self.server = server
        client = GATTClient(bearer: bearer)
        session = server?.attach(bearer, security: security.linkSecurity)
        follow(security)
    }

    /// GATT knows no keys; it is connected to them here.
    private func follow(_ security: SecureLink) {
        client.security = security.linkSecurity
        security.tellAttributes = { [weak self] in self?.changed(to: $0) }
        client.sign = { [weak security] in security?.manager.sign($0) }
        session?.verifySignature = { [weak security] in security?.manager.verify($0, signature: $1) ?? false }
        session?.onSecurityNeeded = { [weak security] in security?.secure($0) { _ in } }
    }

    /// The link is protected in another way.
    private func changed(to security: LinkSecurity) {
        client.security = security
        session?.security = security
    }

    /// The link is gone: the peer is subscribed to nothing any more.
    func end() {
        if let session { server?.detach(session) }
    }
}
