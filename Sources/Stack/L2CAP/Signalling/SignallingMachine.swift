import BluetoothTypes

/// The state machine of the signalling channel of one link (Core Vol 3 Part A 4). It opens, reconfigures and closes
/// credit-based channels.
///
/// Every request of the peer gets one response, in one packet. Every request of this end finishes exactly once: by its
/// response, a rejection or the timer.
struct SignallingMachine {
    /// The maximum number of pending requests of this end.
    static let maximumPending = 16
    /// The maximum number of channels, including those being opened or closed.
    static let maximumChannels = 32
    /// How long a request waits for a response.
    ///
    /// This is the Response Timeout of 1 to 60 s (Core Vol 3 Part A 6.2.1), and for connection parameters
    /// TGAP(conn_param_timeout) (Vol 3 Part C Appendix A).
    static let responseTimeout = Duration.seconds(30)
    /// How long a request waits after the peer has sent a pending result: the Extended Response Timeout of 60 to 300 s
    /// (Vol 3 Part A 6.2.2).
    static let extendedResponseTimeout = Duration.seconds(60)

    let role: L2CAPRole
    /// The channels at this end, by their identifiers here; bounded by ``ChannelIdentifier/dynamicRange``.
    var endpoints: [ChannelIdentifier: Endpoint] = [:]
    private(set) var pending: [UInt8: PendingRequest] = [:]
    /// The channels of requests that got no response in time, until their identifiers are used again. A late response
    /// may still open them at the peer.
    private(set) var abandoned: [UInt8: [ChannelIdentifier: Endpoint]] = [:]
    private(set) var lastIdentifier: UInt8 = 0
    private(set) var lastChannel = ChannelIdentifier.dynamicRange.upperBound

    init(role: L2CAPRole) {
        self.role = role
    }

    /// The first broken invariant; nil if all hold. Checked by the connection.
    var brokenInvariant: String? {
        guard pending.count <= Self.maximumPending, endpoints.count <= Self.maximumChannels else {
            return "too many requests or channels"
        }
        let peers = endpoints.values.compactMap { $0.openPeer?.identifier }
        guard Set(peers).count == peers.count else { return "two open channels have one identifier at the peer" }
        var opening = endpoints.count { $0.value.peer == nil }
        for case .open(let channels, _, _, _) in pending.values {
            guard channels.allSatisfy({ endpoints[$0].map { $0.peer == nil } ?? false }) else {
                return "a pending request opens a channel that is not being opened"
            }
            opening -= channels.count
        }
        return opening == 0 ? nil : "a channel is being opened without a pending request"
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .received(let payload): receive(payload)
        case .requestParameters(let parameters, let ticket): requestParameters(parameters, ticket)
        case .decided(let isAccepted, let identifier):
            [.send(SignallingPacket(ParameterUpdateResponse(isAccepted: isAccepted), identifier: identifier))]
        case .open(let mode, let spsm, let parameters, let count, let ticket):
            open(mode, spsm, parameters, count: count, ticket)
        case .ruled(let ruling, let request): answer(request, ruling)
        case .reconfigure(let channels, let mtu, let mps, let ticket): reconfigure(channels, mtu: mtu, mps: mps, ticket)
        case .grant(let credits, let channel): grant(credits, channel)
        case .disconnect(let channel, let closure): disconnect(channel, closure)
        case .timeout(let identifier): timeout(identifier)
        }
    }
}

// MARK: - Outgoing requests

extension SignallingMachine {
    /// Sends a request and starts waiting for its response; nil if too many requests are pending.
    mutating func start(_ request: PendingRequest, _ command: some SignallingCommand) -> [Action]? {
        guard pending.count < Self.maximumPending else { return nil }
        let identifier = nextIdentifier()
        pending[identifier] = request
        return [
            .send(SignallingPacket(command, identifier: identifier)),
            .startTimer(identifier: identifier, Self.responseTimeout),
        ]
    }

    /// Returns the next command identifier, 1 to 255. None is reused before all others, except those that are pending,
    /// have been used (Vol 3 Part A 4).
    mutating func nextIdentifier() -> UInt8 {
        repeat {
            lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
        } while pending[lastIdentifier] != nil
        abandoned[lastIdentifier] = nil
        return lastIdentifier
    }

    /// Returns up to `count` unused identifiers of the dynamic range, least recently used first (L2CAP/LE/CFC/BV-29).
    mutating func unusedChannels(_ count: Int) -> [ChannelIdentifier] {
        var found: [ChannelIdentifier] = []
        let used = endpoints.count
        for _ in ChannelIdentifier.dynamicRange where found.count < count {
            guard used + found.count < Self.maximumChannels else { break }
            let isLast = lastChannel == ChannelIdentifier.dynamicRange.upperBound
            lastChannel = isLast ? ChannelIdentifier.dynamicRange.lowerBound : lastChannel + 1
            let candidate = ChannelIdentifier(rawValue: lastChannel)
            if endpoints[candidate] == nil { found.append(candidate) }
        }
        return found
    }

    /// Ends the wait for a response.
    mutating func finish(_ identifier: UInt8) -> PendingRequest? { pending.removeValue(forKey: identifier) }

    /// No longer expects a late response.
    mutating func forget(_ identifier: UInt8) { abandoned[identifier] = nil }

    /// Continues to wait, for another response to the same request.
    mutating func extend(_ identifier: UInt8, _ request: PendingRequest) { pending[identifier] = request }

    private mutating func timeout(_ identifier: UInt8) -> [Action] {
        guard let request = finish(identifier) else { return [] }
        if case .open(let channels, _, _, _) = request {
            abandoned[identifier] = endpoints.filter { channels.contains($0.key) }
        }
        if case .reconfigure(let channels, let mtu, let mps, _) = request {
            keepLargerSizes(of: channels, mtu: mtu, mps: mps)
        }
        return fail(request, parameters: .timedOut, open: .timedOut, reconfigure: .timedOut)
    }

    /// Finishes a request that gets no proper response.
    mutating func fail(
        _ request: PendingRequest,
        parameters: ParameterUpdateOutcome,
        open: ChannelOpenError,
        reconfigure: ReconfigureError
    ) -> [Action] {
        switch request {
        case .parameters(let ticket): return [.finished(ticket, .parameters(parameters))]
        case .open(let channels, _, let ticket, _):
            for channel in channels { endpoints[channel] = nil }
            return [.finished(ticket, .notOpened(open))]
        case .reconfigure(let channels, _, _, let ticket):
            return restoreSizes(of: channels) + [.finished(ticket, .reconfigured(reconfigure))]
        case .disconnect(let channel, _):
            endpoints[channel] = nil
            return []
        }
    }
}

// MARK: - Receiving

extension SignallingMachine {
    // AB-C09: whatever is wrong with a packet, it gets at most one Command Reject.
    private mutating func receive(_ payload: PacketBuffer) -> [Action] {
        guard payload.count >= SignallingPacket.headerLength, payload[1] != 0 else {
            return [.discarded(.unanswerable)]
        }
        let code = SignallingCode(rawValue: payload[0])
        let identifier = payload[1]
        if payload.count > SignallingPacket.maximumLength {
            guard !code.isUnanswered else { return [.discarded(.unexpected(code))] }
            // AB-C03: five channels fit the limit, so it is the list that is too long, and that has a result of its
            // own.
            if code == .enhancedConnectionRequest { return malformed(code, identifier, payload) }
            var limit = PacketBuffer(headroom: 0)
            limit.append(integer: UInt16(SignallingPacket.maximumLength))
            return reject(code, identifier, CommandReject(.signallingMTUExceeded, data: limit))
        }
        do {
            let packet = try SignallingPacket(reading: payload)
            return code.isUnanswered ? try answered(packet) : try command(packet)
        } catch {
            guard !code.isUnanswered else { return [.discarded(.unexpected(code))] }
            return malformed(code, identifier, payload)
        }
    }

    /// Handles a command that gets no response: a response to one of our requests, an unexpected one, or credits.
    private mutating func answered(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        if packet.code == .flowControlCredit { return credited(try FlowControlCredit(reading: packet.data)) }
        guard let request = pending[packet.identifier] else {
            return [.discarded(.unexpected(packet.code))] + (try endLate(packet))
        }
        let identifier = packet.identifier
        switch (packet.code, request) {
        case (.commandReject, _): return rejected(try CommandReject(reading: packet.data), identifier, request)
        case (.parameterUpdateResponse, .parameters(let ticket)):
            let response = try ParameterUpdateResponse(reading: packet.data)
            _ = finish(identifier)
            let outcome = response.result == 0 ? ParameterUpdateOutcome.accepted : .rejected
            return [.stopTimer(identifier: identifier), .finished(ticket, .parameters(outcome))]
        case (.creditBasedConnectionResponse, .open(let channels, .creditBased, let ticket, _)):
            let response = try CreditBasedConnectionResponse(reading: packet.data)
            return opened(response, identifier, channels, ticket)
        case (.enhancedConnectionResponse, .open(let channels, .enhanced, let ticket, let isExtended)):
            let response = try EnhancedConnectionResponse(reading: packet.data)
            return opened(response, identifier, channels, ticket, isExtended: isExtended)
        case (.reconfigureResponse, .reconfigure(let channels, let mtu, let mps, let ticket)):
            let response = try ReconfigureResponse(reading: packet.data)
            return reconfigured(response, identifier, channels, mtu: mtu, mps: mps, ticket)
        case (.disconnectionResponse, .disconnect(let channel, let peer)):
            let response = try DisconnectionResponse(reading: packet.data)
            return disconnected(response, identifier, channel, peer: peer)
        default:
            // AB-C05: a response of another type than the request expects is ignored.
            return [.discarded(.unexpected(packet.code))]
        }
    }

    /// Finishes a request that the peer rejected, whatever the reason.
    private mutating func rejected(
        _ rejection: CommandReject,
        _ identifier: UInt8,
        _ request: PendingRequest
    ) -> [Action] {
        _ = finish(identifier)
        return [.stopTimer(identifier: identifier)]
            + fail(request, parameters: .notUnderstood, open: .notUnderstood, reconfigure: .notUnderstood)
    }

    private mutating func command(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        let identifier = packet.identifier
        switch packet.code {
        case .parameterUpdateRequest: return try parametersRequested(packet)
        case .creditBasedConnectionRequest:
            return requested(IncomingRequest(try CreditBasedConnectionRequest(reading: packet.data), identifier))
        case .enhancedConnectionRequest:
            return requested(IncomingRequest(try EnhancedConnectionRequest(reading: packet.data), identifier))
        case .reconfigureRequest:
            return reconfigureRequested(try ReconfigureRequest(reading: packet.data), identifier)
        case .disconnectionRequest:
            return disconnectionRequested(try DisconnectionRequest(reading: packet.data), identifier)
        default: return reject(packet.code, identifier, CommandReject())
        }
    }

    private func malformed(_ code: SignallingCode, _ identifier: UInt8, _ payload: PacketBuffer) -> [Action] {
        // A channel list that is too long, odd or empty has a result of its own, provided that the fields before it are
        // complete (Vol 3 Part A 4.26 and 4.28; AB-C03, AB-C04).
        let length = Int(payload[2]) | Int(payload[3]) << 8
        let octets = payload.count - SignallingPacket.headerLength
        guard length == octets else { return reject(code, identifier, CommandReject()) }
        switch code {
        case .enhancedConnectionRequest where octets >= 8:
            let refusal = EnhancedConnectionResponse(refused: .invalidParameters, count: (octets - 8) / 2)
            return [.send(SignallingPacket(refusal, identifier: identifier))]
        case .reconfigureRequest where octets >= 4:
            let refusal = ReconfigureResponse(.unacceptableParameters)
            return [.send(SignallingPacket(refusal, identifier: identifier))]
        default: return reject(code, identifier, CommandReject())
        }
    }

    func reject(_ code: SignallingCode, _ identifier: UInt8, _ rejection: CommandReject) -> [Action] {
        [
            .send(SignallingPacket(rejection, identifier: identifier)),
            .discarded(.rejected(code, rejection.reason)),
        ]
    }
}

// MARK: - Connection parameter updates (Core Vol 3 Part A 4.20 and 4.21): the peripheral requests, the central decides

extension SignallingMachine {
    mutating func requestParameters(_ parameters: ConnectionParameters, _ ticket: Ticket) -> [Action] {
        guard role == .peripheral, parameters.isLegal else { return [.finished(ticket, .parameters(.notAllowed))] }
        let isBusy = pending.values.contains { if case .parameters = $0 { true } else { false } }
        let actions = isBusy ? nil : start(.parameters(ticket), parameters)
        return actions ?? [.finished(ticket, .parameters(.busy))]
    }

    func parametersRequested(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        // Only a peripheral may send the request, and only a central answers it (Vol 3 Part A 4.20;
        // L2CAP/LE/CPU/BI-02).
        guard role == .central else { return reject(packet.code, packet.identifier, CommandReject()) }
        let parameters = try ConnectionParameters(reading: packet.data)
        // AB-C10: illegal values reach neither the policy nor a controller.
        guard parameters.isLegal else {
            let refusal = ParameterUpdateResponse(isAccepted: false)
            return [.send(SignallingPacket(refusal, identifier: packet.identifier))]
        }
        return [.decide(parameters, identifier: packet.identifier)]
    }
}
