import BluetoothTypes

/// A service that takes credit-based channels on one SPSM.
package final class ChannelServer {
    /// The service's number.
    package let spsm: SPSM
    /// What this end of each channel takes.
    package let parameters: ChannelParameters
    /// What the link has to fulfil.
    package let requirement: SecurityLevel
    /// The least MTU of a peer that the service can work with, in octets.
    package var minimumPeerMTU = 0
    /// Whether the service is known in enhanced mode alone (Core Vol 3 Part A 4.25).
    package var isEnhancedOnly = false
    /// Most channels of the service on one link.
    package var maximumChannelsPerLink = L2CAPConnection.maximumDynamicChannels
    /// How many more channels the service takes, on all links together; any number at first.
    package var room: () -> Int = { .max }
    /// Decides whether a peer that fulfils the requirement may have a channel; everybody may at first.
    package var authorize: (L2CAPConnection) -> Bool = { _ in true }
    /// Takes each channel that a peer has opened. Nothing has been received on it yet.
    package var onOpen: ((L2CAPCreditBasedChannel) -> Void)?

    /// The channels that are open, in the order of their opening.
    package private(set) var channels: [L2CAPCreditBasedChannel] = []

    init(spsm: SPSM, parameters: ChannelParameters, requirement: SecurityLevel) {
        self.spsm = spsm
        self.parameters = parameters
        self.requirement = requirement
    }

    func add(_ channel: L2CAPCreditBasedChannel) {
        channels.append(channel)
        onOpen?(channel)
    }

    func remove(_ channel: L2CAPCreditBasedChannel) {
        channels.removeAll { $0 === channel }
    }
}

/// Why nobody can listen on an SPSM.
package enum ChannelListenError: Error, Hashable, Sendable {
    /// Somebody listens there already.
    case inUse(SPSM)
    /// The number is none that a service may have.
    case invalid(SPSM)
    /// All numbers are given out.
    case exhausted
}

/// The services of one system that take credit-based channels. All its links share them.
package final class ChannelServers {
    private var servers: [SPSM: ChannelServer] = [:]
    private var nextDynamic = SPSM.dynamicRange.lowerBound

    /// No services.
    package init() {}

    /// The service on `spsm`.
    package subscript(_ spsm: SPSM) -> ChannelServer? { servers[spsm] }

    /// Listens on `spsm`, or on a number of the dynamic range that was not in use lately (behaviours 8.1 and 8.2).
    package func listen(
        on spsm: SPSM? = nil,
        parameters: ChannelParameters = ChannelParameters(),
        requirement: SecurityLevel = SecurityLevel.none
    ) throws(ChannelListenError) -> ChannelServer {
        let number: SPSM
        if let spsm { number = spsm } else { number = try unusedDynamic() }
        guard number.isValid else { throw .invalid(number) }
        guard servers[number] == nil else { throw .inUse(number) }
        let server = ChannelServer(spsm: number, parameters: parameters, requirement: requirement)
        servers[number] = server
        return server
    }

    /// Takes no more channels on `spsm`, and closes those that are open (behaviour 8.9).
    package func stopListening(on spsm: SPSM) {
        guard let server = servers.removeValue(forKey: spsm) else { return }
        server.onOpen = nil
        for channel in server.channels { channel.disconnect() }
    }

    private func unusedDynamic() throws(ChannelListenError) -> SPSM {
        for _ in SPSM.dynamicRange {
            let candidate = SPSM(rawValue: nextDynamic)
            let isLast = nextDynamic == SPSM.dynamicRange.upperBound
            nextDynamic = isLast ? SPSM.dynamicRange.lowerBound : nextDynamic + 1
            if servers[candidate] == nil { return candidate }
        }
        throw .exhausted
    }
}
