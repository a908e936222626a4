import ATT
import BluetoothTypes
import GATT
import SMP
import Security

/// The Attribute Protocol on a link: a client of the peer's server, and a session of the local server. Both follow the
/// security of the link.
package final class LinkAttributes {
    /// The bearer on the fixed channel.
    package var bearer: ATTBearer { client.bearer }
    package let client: GATTClient
    /// The local server's session with the peer; nil without a server.
    package let session: GATTServerSession?
    /// The enhanced bearers; nil if there can be none.
    package let enhanced: EnhancedBearers?
    /// Called when the peer violated the protocol on an enhanced bearer. Disconnect the link then.
    package var onEnhancedFailure: ((ATTBearerClosure) -> Void)?

    /// The number of enhanced bearers that this side opens, and thus of requests possible in addition to the one on the
    /// fixed channel.
    package static let enhancedBearers = 3

    /// Whether enhanced bearers were requested and wait for encryption.
    private var wantsEnhanced = false

    private weak var server: GATTServer?

    init(_ bearer: ATTBearer, _ enhanced: EnhancedBearers?, server: GATTServer?, secureLink: SecureLink) {
        self.enhanced = enhanced
        self.server = server
        client = GATTClient(bearer: bearer)
        session = server?.attach(bearer)
        enhanced?.serve(client: client, session: session) { [weak self] in self?.onEnhancedFailure?($0) }
        follow(secureLink)
    }

    /// Opens enhanced bearers once the link is sufficiently encrypted, without pairing for them. There is one attempt:
    /// if the peer refuses the bearers or closes them later, the fixed channel is used.
    package func wantEnhancedBearers() {
        wantsEnhanced = true
        openEnhancedBearers()
    }

    private func openEnhancedBearers() {
        guard wantsEnhanced, let enhanced, enhanced.mayOpen else { return }
        wantsEnhanced = false
        enhanced.open(Self.enhancedBearers) { _ in }
    }

    /// Connects GATT, which has no access to keys, to the security of the link.
    private func follow(_ secureLink: SecureLink) {
        client.sign = { [weak secureLink] in secureLink?.manager.sign($0) }
        session?.verifySignature = { [weak secureLink] in secureLink?.manager.verify($0, signature: $1) ?? false }
        // The peer's subscriptions cause this, not an app's request.
        session?.onSecurityNeeded = { [weak secureLink] in secureLink?.secure($0, isForApp: false) { _ in } }
    }

    func linkSecurityChanged(from old: LinkSecurity) {
        client.linkSecurityChanged()
        session?.linkSecurityChanged(from: old)
        openEnhancedBearers()
    }

    /// Called when the link has ended. The peer's subscriptions end.
    func end() {
        enhanced?.close()
        if let session { server?.detach(session) }
    }
}
