import BluetoothTypes
import GAP
import L2CAP
import ServiceMessages

/// The PSMs on which a peripheral manager accepts channels.
final class PublishedChannels {
    var onOpen: ((_ psm: UInt16, CentralInfo, ChannelID) -> Void)?

    private unowned let links: SharedLinks
    private let servers: ChannelServers
    private let manager: AppManager
    private var published: [SPSM] = []

    init(_ links: SharedLinks, _ servers: ChannelServers, of manager: AppManager) {
        self.links = links
        self.servers = servers
        self.manager = manager
    }

    var count: Int { published.count }

    /// Accepts channels on a free PSM (behaviours 8.1, 8.2), with the same encryption requirement as protected
    /// attributes (behaviour 8.4).
    func publish(needsEncryption: Bool) throws(ServiceError) -> UInt16 {
        let quota = ServiceLimits.publishedChannels
        if let refusal = links.managers.refusal("PSMs", quota, \.publishedChannels, for: manager) { throw refusal }
        let requirement = needsEncryption ? links.configuration.protectedValuesRequirement : .none
        let server: ChannelServer
        do {
            server = try servers.listen(parameters: AppChannel.parameters, requirement: requirement)
        } catch {
            throw ServiceError(.outOfSpace, reason: "no PSM is free: \(error)")
        }
        let psm = server.spsm
        server.rules.room = { [weak self] in self?.manager.channels.room ?? 0 }
        server.onOpen = { [weak self] channel in self?.opened(channel, on: psm) }
        published.append(psm)
        return psm.rawValue
    }

    /// Stops accepting channels on a PSM, and closes its open channels (behaviour 8.9).
    func unpublish(_ psm: UInt16) -> ServiceError? {
        guard let index = published.firstIndex(of: SPSM(rawValue: psm)) else {
            return ServiceError(.invalidParameters, reason: "no channel is published on PSM \(psm)")
        }
        servers.stopListening(on: published.remove(at: index))
        return nil
    }

    func unpublishAll() {
        for psm in published { servers.stopListening(on: psm) }
        published = []
    }

    private func opened(_ channel: L2CAPCreditBasedChannel, on psm: SPSM) {
        guard let link = links.all.first(where: { $0.link.l2cap === channel.connection }),
            let id = manager.channels.add(channel, of: link.peer)
        else { return channel.disconnect() }
        onOpen?(psm.rawValue, link.centralInfo, id)
    }
}
