import BluetoothTypes

// Channels that this end opens (Core Vol 3 Part A 4.22, 4.23, 4.25 and 4.26).

extension SignallingMachine {
    mutating func open(
        _ mode: ChannelMode,
        _ spsm: SPSM,
        _ wanted: ChannelParameters,
        count: Int,
        _ ticket: Ticket
    ) -> [Action] {
        let limit = mode == .creditBased ? 1 : ChannelList.maximumChannels
        guard spsm.isValid, (1...limit).contains(count) else { return [.finished(ticket, .notOpened(.notAllowed))] }
        let channels = unusedChannels(count)
        let parameters = wanted.fitted(to: mode)
        let request = PendingRequest.open(channels, mode, ticket, isExtended: false)
        guard channels.count == count,
            let actions = mode == .creditBased
                ? start(request, CreditBasedConnectionRequest(spsm, channels[0], parameters))
                : start(request, EnhancedConnectionRequest(spsm, channels, parameters))
        else { return [.finished(ticket, .notOpened(.noResources))] }
        for channel in channels {
            endpoints[channel] = Endpoint(spsm: spsm, mode: mode, parameters: parameters, state: .opening)
        }
        return actions
    }

    mutating func opened(
        _ response: CreditBasedConnectionResponse,
        _ identifier: UInt8,
        _ channels: [ChannelIdentifier],
        _ ticket: Ticket
    ) -> [Action] {
        _ = finish(identifier)
        let stop = Action.stopTimer(identifier: identifier)
        guard response.result == .success, let channel = channels.first else {
            for channel in channels { endpoints[channel] = nil }
            return [stop, .finished(ticket, .notOpened(.refused(response.result)))]
        }
        let peer = PeerEnd(response.destination, response.mtu, response.mps, response.credits)
        let (actions, isOpen) = settle(channel, peer)
        let outcome: Outcome = isOpen ? .opened([channel], .success) : .notOpened(.invalidResponse)
        return [stop] + actions + [.finished(ticket, outcome)]
    }

    mutating func opened(
        _ response: EnhancedConnectionResponse,
        _ identifier: UInt8,
        _ channels: [ChannelIdentifier],
        _ ticket: Ticket,
        isExtended: Bool
    ) -> [Action] {
        if response.result.isPending {
            // The longer timer starts only once, so that a peer cannot delay a request for ever (Vol 3 Part A 6.2.2).
            extend(identifier, .open(channels, .enhanced, ticket, isExtended: true))
            let timer = Action.startTimer(identifier: identifier, Self.extendedResponseTimeout)
            return isExtended ? [] : [timer]
        }
        _ = finish(identifier)
        let (actions, open, isInvalid) = settle(channels, response)
        let stop = Action.stopTimer(identifier: identifier)
        guard open.isEmpty else { return [stop] + actions + [.finished(ticket, .opened(open, response.result))] }
        let isRefused = !isInvalid && response.result != .success
        let error: ChannelOpenError = isRefused ? .refused(response.result) : .invalidResponse
        return [stop] + actions + [.finished(ticket, .notOpened(error))]
    }

    /// Closes the channels that a response opens at the peer although it has come too late: the peer would keep them
    /// for the life of the link.
    mutating func endLate(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        guard let late = abandoned[packet.identifier] else { return [] }
        let channels = late.keys.sorted { $0.rawValue < $1.rawValue }
        let numbers: [ChannelIdentifier]
        switch (packet.code, late.values.first?.mode) {
        case (.creditBasedConnectionResponse, .creditBased):
            let response = try CreditBasedConnectionResponse(reading: packet.data)
            numbers = response.result == .success ? [response.destination] : []
        case (.enhancedConnectionResponse, .enhanced):
            let response = try EnhancedConnectionResponse(reading: packet.data)
            if response.result.isPending { return [] }
            numbers = response.result == .success || response.result.isPartial ? response.destinations.channels : []
        default: return []
        }
        forget(packet.identifier)
        return zip(channels, numbers).flatMap { own, number in late[own].map { end($0, own, at: number) } ?? [] }
    }

    private mutating func end(_ endpoint: Endpoint, _ own: ChannelIdentifier, at number: ChannelIdentifier) -> [Action]
    {
        let isKnown = endpoints.values.contains { $0.peer?.identifier == number }
        // An identifier that is in use again belongs to another channel.
        guard number.isDynamic, !isKnown, endpoints[own] == nil, endpoints.count < Self.maximumChannels else {
            return []
        }
        var endpoint = endpoint
        endpoint.state = .open(PeerEnd(identifier: number, mtu: 0, mps: 0, credits: 0))
        endpoints[own] = endpoint
        return requestEnd(of: own)
    }

    /// Settles each channel of a request according to the response.
    private mutating func settle(
        _ channels: [ChannelIdentifier],
        _ response: EnhancedConnectionResponse
    ) -> (actions: [Action], open: [ChannelIdentifier], isInvalid: Bool) {
        var actions: [Action] = []
        var open: [ChannelIdentifier] = []
        var isInvalid = false
        let numbers = response.destinations.channels
        let mayOpen = response.result == .success || response.result.isPartial
        for (index, channel) in channels.enumerated() {
            // AB-C05: the list may be shorter than the request's; channels beyond its end are not open.
            guard mayOpen, index < numbers.count, numbers[index] != .null else {
                endpoints[channel] = nil
                continue
            }
            let peer = PeerEnd(numbers[index], response.mtu, response.mps, response.credits)
            let (more, isOpen) = settle(channel, peer)
            actions += more
            if isOpen { open.append(channel) } else { isInvalid = true }
        }
        // A channel whose identifier at the peer was assigned to a later one as well has been closed.
        open.removeAll { endpoints[$0]?.openPeer == nil }
        return (actions, open, isInvalid)
    }

    private mutating func settle(_ channel: ChannelIdentifier, _ peer: PeerEnd) -> (actions: [Action], isOpen: Bool) {
        guard var endpoint = endpoints.removeValue(forKey: channel), peer.identifier.isDynamic else {
            return ([], false)
        }
        // The peer already uses the identifier for another channel: neither may be used (Vol 3 Part A 4.23 and 4.26;
        // L2CAP/ECFC/BV-29).
        if let original = endpoints.first(where: { $0.value.peer?.identifier == peer.identifier })?.key {
            return (disconnect(original, .violation(.duplicateChannel)), false)
        }
        let sizes = endpoint.mode.minimumSize...
        guard sizes.contains(peer.mtu), sizes.contains(peer.mps), peer.mps <= ChannelParameters.maximumMPS else {
            // The peer considers the channel open, so it has to be closed.
            endpoint.state = .open(peer)
            endpoints[channel] = endpoint
            return (requestEnd(of: channel), false)
        }
        endpoint.state = .open(peer)
        endpoints[channel] = endpoint
        let opened = OpenedChannel(
            own: channel,
            peer: peer,
            spsm: endpoint.spsm,
            mode: endpoint.mode,
            parameters: endpoint.parameters
        )
        return ([.opened(opened, isIncoming: false)], true)
    }
}

extension SignallingMachine.PeerEnd {
    init(_ identifier: ChannelIdentifier, _ mtu: UInt16, _ mps: UInt16, _ credits: UInt16) {
        self.init(identifier: identifier, mtu: Int(mtu), mps: Int(mps), credits: Int(credits))
    }
}

extension CreditBasedConnectionRequest {
    init(_ spsm: SPSM, _ source: ChannelIdentifier, _ parameters: ChannelParameters) {
        self.spsm = spsm
        self.source = source
        mtu = UInt16(parameters.mtu)
        mps = UInt16(parameters.mps)
        credits = UInt16(parameters.window)
    }
}

extension EnhancedConnectionRequest {
    init(_ spsm: SPSM, _ sources: [ChannelIdentifier], _ parameters: ChannelParameters) {
        self.spsm = spsm
        self.sources = ChannelList(sources)
        mtu = UInt16(parameters.mtu)
        mps = UInt16(parameters.mps)
        credits = UInt16(parameters.window)
    }
}
