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
    /// The bearers besides the one on the fixed channel, if there may be any.
    package let enhanced: EnhancedBearers?
    /// Called when the peer has broken the protocol on an enhanced bearer, for which the link should go.
    package var onEnhancedFailure: ((ATTBearerClosure) -> Void)?

    /// How far the opening of enhanced bearers is from this side.
    private enum Opening {
        /// Nobody wants it, or it has been tried.
        case none
        /// It waits for the link to be encrypted.
        case wanted
    }

    /// Enhanced bearers that this side opens: as many requests as may be under way besides the first one.
    package static let enhancedBearers = 3

    private var opening = Opening.none

    private weak var server: GATTServer?

    init(_ bearer: ATTBearer, _ enhanced: EnhancedBearers?, server: GATTServer?, security: SecureLink) {
        self.bearer = bearer
        self.enhanced = enhanced
        self.server = server
        client = GATTClient(bearer: bearer)
        session = server?.attach(bearer, security: security.linkSecurity)
        enhanced?.serve(client: client, session: session) { [weak self] in self?.onEnhancedFailure?($0) }
        follow(security)
    }

    /// Opens enhanced bearers as soon as the link is encrypted well enough; nobody pairs for them. Once: what the peer refuses,
    /// or closes later, goes over the fixed channel.
    package func wantEnhancedBearers() {
        opening = .wanted
        openEnhancedBearers()
    }

    private func openEnhancedBearers() {
        guard case .wanted = opening, let enhanced, enhanced.mayOpen else { return }
        opening = .none
        enhanced.open(Self.enhancedBearers) { _ in }
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
        openEnhancedBearers()
    }

    /// The link is gone: the peer is subscribed to nothing any more.
    func end() {
        enhanced?.close()
        if let session { server?.detach(session) }
    }
}
