import BluetoothTypes

// Channels that the peer opens (Core Vol 3 Part A 4.22, 4.23, 4.25 and 4.26).

extension SignallingMachine {
    /// Validates a request on its own terms. The owner decides whether to accept it.
    func requested(_ request: IncomingRequest) -> [Action] {
        // AB-C06: an invalid SPSM.
        guard request.spsm.isValid else { return refuse(request, .spsmNotSupported) }
        let sizes = request.mode.minimumSize...
        let fits =
            sizes.contains(request.mtu) && sizes.contains(request.mps)
            && request.mps <= ChannelParameters.maximumMPS
        switch request.mode {
        case .creditBased:
            return fits ? [.rule(request)] : refuse(request, .unacceptableParameters)
        case .enhanced:
            // AB-C03: the list contradicts itself. A request without credits is not allowed either (Vol 3 Part A 4.25).
            let isSound = fits && request.credits > 0 && !ChannelList(request.sources).contradictsItself
            return isSound ? [.rule(request)] : refuse(request, .invalidParameters)
        }
    }

    /// Opens the channels that the owner allows and for which identifiers are free.
    mutating func answer(_ request: IncomingRequest, _ ruling: Ruling) -> [Action] {
        guard case .accept(let wanted, let limit) = ruling else {
            if case .refuse(let result) = ruling { return refuse(request, result) }
            return []
        }
        let parameters = wanted.fitted(to: request.mode)
        let inUse = Set(endpoints.values.compactMap { $0.peer?.identifier })
        var result = ChannelResult.success
        var opened: [OpenedChannel] = []
        let destinations = request.sources.map { source -> ChannelIdentifier in
            let refusal = Self.refusal(of: source, inUse: inUse)
            guard refusal == nil, opened.count < limit, let own = unusedChannels(1).first else {
                // The first reason is the one reported.
                if result == .success { result = refusal ?? .insufficientResources }
                return .null
            }
            opened.append(add(own, source, request, parameters))
            return own
        }
        guard !opened.isEmpty else { return refuse(request, result) }
        return [respond(request, parameters, result, destinations)] + opened.map { .opened($0, isIncoming: true) }
    }

    private static func refusal(of source: ChannelIdentifier, inUse: Set<ChannelIdentifier>) -> ChannelResult? {
        guard source.isDynamic else { return .invalidSource }
        return inUse.contains(source) ? .sourceAlreadyAllocated : nil
    }

    private mutating func add(
        _ own: ChannelIdentifier,
        _ source: ChannelIdentifier,
        _ request: IncomingRequest,
        _ parameters: ChannelParameters
    ) -> OpenedChannel {
        let peer = PeerEnd(identifier: source, mtu: request.mtu, mps: request.mps, credits: request.credits)
        endpoints[own] = Endpoint(spsm: request.spsm, mode: request.mode, parameters: parameters, state: .open(peer))
        return OpenedChannel(own: own, peer: peer, spsm: request.spsm, mode: request.mode, parameters: parameters)
    }

    private func respond(
        _ request: IncomingRequest,
        _ parameters: ChannelParameters,
        _ result: ChannelResult,
        _ destinations: [ChannelIdentifier]
    ) -> Action {
        switch request.mode {
        case .creditBased:
            var response = CreditBasedConnectionResponse()
            response.destination = destinations.first ?? .null
            response.mtu = UInt16(parameters.mtu)
            response.mps = UInt16(parameters.mps)
            response.credits = UInt16(parameters.window)
            return .send(SignallingPacket(response, identifier: request.identifier))
        case .enhanced:
            var response = EnhancedConnectionResponse()
            response.mtu = UInt16(parameters.mtu)
            response.mps = UInt16(parameters.mps)
            response.credits = UInt16(parameters.window)
            response.result = result
            response.destinations = ChannelList(destinations)
            return .send(SignallingPacket(response, identifier: request.identifier))
        }
    }

    /// Refuses all channels. The response has an entry for each channel of the request, and zero in all other fields
    /// (AB-C03).
    private func refuse(_ request: IncomingRequest, _ result: ChannelResult) -> [Action] {
        switch request.mode {
        case .creditBased:
            let refusal = CreditBasedConnectionResponse(refused: result)
            return [.send(SignallingPacket(refusal, identifier: request.identifier))]
        case .enhanced:
            let refusal = EnhancedConnectionResponse(refused: result, count: request.sources.count)
            return [.send(SignallingPacket(refusal, identifier: request.identifier))]
        }
    }
}

extension SignallingMachine.IncomingRequest {
    init(_ request: CreditBasedConnectionRequest, _ identifier: UInt8) {
        self.init(
            identifier: identifier,
            spsm: request.spsm,
            mode: .creditBased,
            mtu: Int(request.mtu),
            mps: Int(request.mps),
            credits: Int(request.credits),
            sources: [request.source]
        )
    }

    init(_ request: EnhancedConnectionRequest, _ identifier: UInt8) {
        self.init(
            identifier: identifier,
            spsm: request.spsm,
            mode: .enhanced,
            mtu: Int(request.mtu),
            mps: Int(request.mps),
            credits: Int(request.credits),
            sources: request.sources.channels
        )
    }
}
