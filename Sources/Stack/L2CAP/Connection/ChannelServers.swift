import BluetoothTypes

/// A server that accepts credit-based channels on one SPSM.
package final class ChannelServer {
    /// The requests that a server accepts, in addition to its minimum security.
    package struct Rules {
        /// The minimum MTU of the peer, in octets. A request with a lower one is refused.
        package var minimumPeerMTU = 0
        /// Whether the server accepts only enhanced channels (Core Vol 3 Part A 4.25).
        package var isEnhancedOnly = false
        package var maximumChannelsPerLink = L2CAPConnection.maximumDynamicChannels
        /// Returns how many more channels the server accepts on all links together; unlimited by default.
        package var room: () -> Int = { .max }
        /// Decides whether a peer that meets the requirement may open a channel; by default every peer may.
        package var authorize: (L2CAPConnection) -> Bool = { _ in true }
    }

    package let spsm: SPSM
    /// The requests that the server accepts; by default all that its minimum security permits.
    package var rules = Rules()
    /// Called for each channel that a peer has opened, before anything is received on it.
    package var onOpen: ((L2CAPCreditBasedChannel) -> Void)?

    /// The open channels, in the order in which they were opened.
    package private(set) var channels: [L2CAPCreditBasedChannel] = []

    // The parameters of this end of each channel.
    private let parameters: ChannelParameters
    // The minimum security of the link.
    private let requirement: SecurityLevel

    init(spsm: SPSM, parameters: ChannelParameters, requirement: SecurityLevel) {
        self.spsm = spsm
        self.parameters = parameters
        self.requirement = requirement
    }

    /// Decides on a request: checks, in this order, that the server accepts its mode, that the link is secure enough,
    /// that the peer is authorized, and that there is capacity.
    ///
    /// - Parameters:
    ///   - linkSecurity: The security that the request arrived under.
    ///   - open: The number of the server's channels on the link.
    func ruling(
        on request: SignallingMachine.IncomingRequest,
        of connection: L2CAPConnection,
        over linkSecurity: LinkSecurity,
        open: Int
    ) -> SignallingMachine.Ruling {
        guard request.mode == .enhanced || !rules.isEnhancedOnly else { return .refuse(.spsmNotSupported) }
        if let refusal = linkSecurity.channelRefusal(of: requirement) { return .refuse(refusal) }
        guard rules.authorize(connection) else { return .refuse(.insufficientAuthorization) }
        guard request.mtu >= rules.minimumPeerMTU else { return .refuse(.unacceptableParameters) }
        return .accept(parameters, atMost: max(0, min(rules.maximumChannelsPerLink - open, rules.room())))
    }

    func add(_ channel: L2CAPCreditBasedChannel) {
        channels.append(channel)
        onOpen?(channel)
    }

    func remove(_ channel: L2CAPCreditBasedChannel) {
        channels.removeAll { $0 === channel }
    }
}

/// An error that is thrown when a server cannot listen.
package enum ChannelListenError: Error, Hashable, Sendable {
    /// Another server already listens on the SPSM.
    case inUse(SPSM)
    /// The SPSM is outside the valid range.
    case invalid(SPSM)
    /// Every SPSM of the dynamic range is in use.
    case exhausted
}

/// The servers of one system that accept credit-based channels. All its links share them.
package final class ChannelServers {
    private var servers: [SPSM: ChannelServer] = [:]
    private var nextDynamic = SPSM.dynamicRange.lowerBound

    package init() {}

    package subscript(_ spsm: SPSM) -> ChannelServer? { servers[spsm] }

    /// Starts listening on `spsm`, or on a number of the dynamic range that was not used recently (behaviours 8.1 and
    /// 8.2).
    ///
    /// - Parameters:
    ///   - spsm: The SPSM; nil to allocate one.
    ///   - parameters: The parameters of this end of each channel.
    ///   - requirement: The minimum security of the link.
    /// - Throws: ``ChannelListenError`` if the SPSM is invalid or in use, or no number is free.
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

    /// Stops listening on `spsm` and closes the server's open channels (behaviour 8.9).
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
