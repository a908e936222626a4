import L2CAP

/// Accepts the enhanced bearers that peers open, for all links of a system.
package final class EnhancedBearerListener {
    private struct Link {
        weak var bearers: EnhancedBearers?
    }

    private var links: [ObjectIdentifier: Link] = [:]

    /// Listens on the EATT PSM (Core Vol 3 Part G 5.3).
    package init(servers: ChannelServers) throws(ChannelListenError) {
        let server = try servers.listen(
            on: .enhancedAttribute,
            parameters: EnhancedBearers.parameters,
            requirement: EnhancedBearers.requirement
        )
        server.rules.isEnhancedOnly = true
        server.rules.minimumPeerMTU = ATTBearer.minimumEnhancedMTU
        server.rules.maximumChannelsPerLink = EnhancedBearers.maximumBearers
        server.rules.authorize = { [weak self] in self?[$0] != nil }
        server.onOpen = { [weak self] channel in
            guard let connection = channel.connection, let bearers = self?[connection] else {
                return channel.disconnect()
            }
            bearers.add(channel)
        }
    }

    private subscript(connection: L2CAPConnection) -> EnhancedBearers? {
        let found = links[ObjectIdentifier(connection)]?.bearers
        return found?.connection === connection ? found : nil
    }

    func add(_ bearers: EnhancedBearers) {
        links = links.filter { $0.value.bearers != nil }
        links[ObjectIdentifier(bearers.connection)] = Link(bearers: bearers)
    }

    func remove(_ bearers: EnhancedBearers) {
        guard self[bearers.connection] === bearers else { return }
        links[ObjectIdentifier(bearers.connection)] = nil
    }
}
