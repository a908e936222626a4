import BluetoothTypes

// Reconfiguration, credits and disconnection (Core Vol 3 Part A 4.6, 4.7, 4.24, 4.27 and 4.28).

// MARK: - Reconfiguration

extension SignallingMachine {
    mutating func reconfigure(
        _ channels: [ChannelIdentifier],
        mtu: Int,
        mps: Int,
        _ ticket: Ticket
    ) -> [Action] {
        let current = channels.compactMap { endpoints[$0] }.filter { $0.mode == .enhanced && $0.openPeer != nil }
        let sizes = ChannelMode.enhanced.minimumSize...
        let isAllowed =
            (1...ChannelList.maximumChannels).contains(channels.count) && current.count == channels.count
            && !ChannelList(channels).contradictsItself
            && sizes.contains(mps) && mps <= ChannelParameters.maximumMPS && mtu <= ChannelParameters.maximumMTU
            && current.allSatisfy { $0.parameters.mtu <= mtu }
            && (channels.count == 1 || current.allSatisfy { $0.parameters.mps <= mps })
        guard isAllowed else { return [.finished(ticket, .reconfigured(.notAllowed))] }
        let isBusy = pending.values.contains { if case .reconfigure = $0 { true } else { false } }
        let request = ReconfigureRequest(channels, mtu: UInt16(mtu), mps: UInt16(mps))
        guard !isBusy, let actions = start(.reconfigure(channels, mtu: mtu, mps: mps, ticket), request) else {
            return [.finished(ticket, .reconfigured(.busy))]
        }
        // Larger sizes apply at once: the peer may use them before its response arrives here.
        return zip(channels, current).map { channel, endpoint in
            .resized(channel, mtu: mtu, mps: max(mps, endpoint.parameters.mps))
        } + actions
    }

    mutating func reconfigured(
        _ response: ReconfigureResponse,
        _ identifier: UInt8,
        _ channels: [ChannelIdentifier],
        mtu: Int,
        mps: Int,
        _ ticket: Ticket
    ) -> [Action] {
        _ = finish(identifier)
        let isAccepted = response.result == .success
        if isAccepted {
            for channel in channels {
                endpoints[channel]?.parameters.mtu = mtu
                endpoints[channel]?.parameters.mps = mps
            }
        }
        let finished = Action.finished(ticket, .reconfigured(isAccepted ? nil : .refused(response.result)))
        return [.stopTimer(identifier: identifier)] + restoreSizes(of: channels) + [finished]
    }

    /// Accepts the larger sizes for good: without a response, the peer may have adopted them.
    mutating func keepLargerSizes(of channels: [ChannelIdentifier], mtu: Int, mps: Int) {
        for channel in channels {
            guard let old = endpoints[channel]?.parameters else { continue }
            endpoints[channel]?.parameters.mtu = max(mtu, old.mtu)
            endpoints[channel]?.parameters.mps = max(mps, old.mps)
        }
    }

    func restoreSizes(of channels: [ChannelIdentifier]) -> [Action] {
        channels.compactMap { channel in
            endpoints[channel].map { .resized(channel, mtu: $0.parameters.mtu, mps: $0.parameters.mps) }
        }
    }

    mutating func reconfigureRequested(_ request: ReconfigureRequest, _ identifier: UInt8) -> [Action] {
        let mtu = Int(request.mtu)
        let mps = Int(request.mps)
        let result = refusal(of: request) ?? .success
        var actions = [Action.send(SignallingPacket(ReconfigureResponse(result), identifier: identifier))]
        guard result == .success else { return actions }
        for number in request.channels.channels {
            guard let channel = openChannel(ofPeer: number), var peer = endpoints[channel]?.openPeer else { continue }
            peer.mtu = mtu
            peer.mps = mps
            endpoints[channel]?.state = .open(peer)
            actions.append(.peerResized(channel, mtu: mtu, mps: mps))
        }
        return actions
    }

    /// Validates the whole request, which is applied to all channels or none (AB-C04).
    private func refusal(of request: ReconfigureRequest) -> ReconfigureResult? {
        let mps = Int(request.mps)
        let numbers = request.channels.channels
        let sizes = ChannelMode.enhanced.minimumSize...ChannelParameters.maximumMPS
        guard sizes.contains(mps), Set(numbers).count == numbers.count else { return .unacceptableParameters }
        let peers = numbers.compactMap { number -> PeerEnd? in
            guard let channel = openChannel(ofPeer: number), let endpoint = endpoints[channel] else { return nil }
            return endpoint.mode == .enhanced ? endpoint.openPeer : nil
        }
        guard peers.count == numbers.count else { return .invalidDestination }
        guard peers.allSatisfy({ $0.mtu <= Int(request.mtu) }) else { return .mtuReduced }
        guard peers.count == 1 || peers.allSatisfy({ $0.mps <= mps }) else { return .mpsReduced }
        return nil
    }

    /// Returns this end's identifier of the channel that the peer calls `number`.
    private func openChannel(ofPeer number: ChannelIdentifier) -> ChannelIdentifier? {
        endpoints.first { $0.value.openPeer?.identifier == number }?.key
    }
}

// MARK: - Credits

extension SignallingMachine {
    mutating func grant(_ credits: UInt16, _ channel: ChannelIdentifier) -> [Action] {
        guard endpoints[channel]?.openPeer != nil else { return [] }
        return [.send(SignallingPacket(FlowControlCredit(channel, credits: credits), identifier: nextIdentifier()))]
    }

    /// Adds credits to a channel. Zero credits and credits for unknown channels are ignored (Vol 3 Part A 10.1;
    /// L2CAP/ECFC/BI-01).
    func credited(_ command: FlowControlCredit) -> [Action] {
        guard let channel = openChannel(ofPeer: command.channel), command.credits > 0 else {
            return [.discarded(.unexpected(.flowControlCredit))]
        }
        return [.credited(channel, command.credits)]
    }
}

// MARK: - Disconnection

extension SignallingMachine {
    /// Closes a channel. Its user is released at once, but the identifier is not reused before the peer has answered.
    mutating func disconnect(_ channel: ChannelIdentifier, _ closure: ChannelClosure) -> [Action] {
        guard endpoints[channel]?.openPeer != nil else { return [] }
        return requestEnd(of: channel) + [.closed(channel, closure)]
    }

    mutating func requestEnd(of channel: ChannelIdentifier) -> [Action] {
        guard var endpoint = endpoints[channel], let peer = endpoint.openPeer else { return [] }
        let request = DisconnectionRequest(destination: peer.identifier, source: channel)
        guard let actions = start(.disconnect(channel, peer: peer.identifier), request) else {
            // So many requests are unanswered that the peer has evidently stopped listening.
            endpoints[channel] = nil
            return [.send(SignallingPacket(request, identifier: nextIdentifier()))]
        }
        endpoint.state = .closing(peer)
        endpoints[channel] = endpoint
        return actions
    }

    /// Completes a disconnection. A response for other channels is ignored (Vol 3 Part A 4.7).
    mutating func disconnected(
        _ response: DisconnectionResponse,
        _ identifier: UInt8,
        _ channel: ChannelIdentifier,
        peer: ChannelIdentifier
    ) -> [Action] {
        guard response.source == channel, response.destination == peer else {
            return [.discarded(.unexpected(.disconnectionResponse))]
        }
        _ = finish(identifier)
        endpoints[channel] = nil
        return [.stopTimer(identifier: identifier)]
    }

    mutating func disconnectionRequested(_ request: DisconnectionRequest, _ identifier: UInt8) -> [Action] {
        guard let endpoint = endpoints[request.destination], let peer = endpoint.peer else {
            var channels = PacketBuffer(headroom: 0)
            request.write(to: &channels)
            return reject(.disconnectionRequest, identifier, CommandReject(.invalidChannel, data: channels))
        }
        // A request whose source is not the peer's end of the channel gets no response (Vol 3 Part A 4.6).
        guard peer.identifier == request.source else { return [.discarded(.unexpected(.disconnectionRequest))] }
        endpoints[request.destination] = nil
        let response = Action.send(SignallingPacket(DisconnectionResponse(request), identifier: identifier))
        guard endpoint.openPeer == nil else { return [response, .closed(request.destination, .peer)] }
        // AB-C08: both ends requested disconnection at once. The peer's request serves as the response to ours.
        let ours = pending.first { if case .disconnect(request.destination, _) = $0.value { true } else { false } }
        guard let ours else { return [response] }
        _ = finish(ours.key)
        return [response, .stopTimer(identifier: ours.key)]
    }
}
