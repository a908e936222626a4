import BluetoothTypes
import EventLoops

// MARK: - Requests by the owner

extension L2CAPConnection {
    /// Requests connection parameters from the central (Core Vol 3 Part A 4.20). For peripherals only.
    ///
    /// One request can be pending at a time. `completion` is called exactly once.
    package func requestParameterUpdate(
        _ parameters: ConnectionParameters,
        completion: @escaping (ParameterUpdateOutcome) -> Void
    ) {
        guard isOpen else { return completion(.closed) }
        let ticket = expect {
            if case .parameters(let outcome) = $0 { completion(outcome) } else { completion(.closed) }
        }
        perform(signalling.handle(.requestParameters(parameters, ticket)))
    }

    /// Opens a channel in LE Credit Based Flow Control mode (Vol 3 Part A 4.22).
    ///
    /// `completion` is called exactly once, before anything is received on the channel.
    package func openChannel(
        on spsm: SPSM,
        parameters: ChannelParameters = ChannelParameters(),
        completion: @escaping (Result<L2CAPCreditBasedChannel, ChannelOpenError>) -> Void
    ) {
        open(.creditBased, on: spsm, parameters: parameters, count: 1) { result in
            completion(result.flatMap { $0.channels.first.map { .success($0) } ?? .failure(.invalidResponse) })
        }
    }

    /// Opens one to five channels in Enhanced Credit Based Flow Control mode (Vol 3 Part A 4.25).
    ///
    /// `completion` is called exactly once: with at least one channel and the reason why others were refused, or with
    /// an error.
    package func openEnhancedChannels(
        _ count: Int,
        on spsm: SPSM,
        parameters: ChannelParameters = ChannelParameters(),
        completion: @escaping (Result<EnhancedChannels, ChannelOpenError>) -> Void
    ) {
        open(.enhanced, on: spsm, parameters: parameters, count: count, completion: completion)
    }

    /// Channels that were opened by one request.
    package struct EnhancedChannels {
        /// The open channels, at least one.
        package let channels: [L2CAPCreditBasedChannel]
        /// Why fewer channels were opened than requested; nil if all were opened.
        package let refusal: ChannelResult?
    }

    /// Changes the sizes that this end accepts on one to five enhanced channels (Vol 3 Part A 4.27).
    ///
    /// - Parameters:
    ///   - channels: The channels to reconfigure.
    ///   - mtu: The new MTU, in octets, which must not be below the current MTU of any of the channels.
    ///   - mps: The new MPS, 64 to 65,533 octets. It may be below the current one only for a single channel.
    ///   - completion: Called exactly once, with nil if the peer accepted.
    package func reconfigure(
        _ channels: [L2CAPCreditBasedChannel],
        mtu: Int,
        mps: Int,
        completion: @escaping (ReconfigureError?) -> Void
    ) {
        guard isOpen else { return completion(.closed) }
        let ticket = expect {
            if case .reconfigured(let error) = $0 { completion(error) } else { completion(.closed) }
        }
        perform(signalling.handle(.reconfigure(channels.map(\.identifier), mtu: mtu, mps: mps, ticket)))
    }

    private func open(
        _ mode: ChannelMode,
        on spsm: SPSM,
        parameters: ChannelParameters,
        count: Int,
        completion: @escaping (Result<EnhancedChannels, ChannelOpenError>) -> Void
    ) {
        guard isOpen else { return completion(.failure(.closed)) }
        let ticket = expect { [weak self] outcome in
            switch outcome {
            case .opened(let numbers, let result):
                let channels = numbers.compactMap { self?[$0] }
                let refusal = result == .success && channels.count == count ? nil : result
                completion(.success(EnhancedChannels(channels: channels, refusal: refusal)))
            case .notOpened(let error): completion(.failure(error))
            default: completion(.failure(.closed))
            }
        }
        perform(signalling.handle(.open(mode, spsm, parameters, count: count, ticket)))
    }

    private func expect(
        _ completion: @escaping (SignallingMachine.Outcome) -> Void
    ) -> SignallingMachine.Ticket {
        lastTicket &+= 1
        completions[lastTicket] = completion
        return lastTicket
    }
}

// MARK: - Requests by channels

extension L2CAPConnection {
    func disconnect(_ channel: L2CAPCreditBasedChannel, because closure: ChannelClosure) {
        guard isOpen, self[channel.identifier] === channel else { return }
        perform(signalling.handle(.disconnect(channel.identifier, closure)))
    }

    func give(credits: UInt16, to channel: L2CAPCreditBasedChannel) {
        guard isOpen else { return }
        perform(signalling.handle(.give(credits, channel.identifier)))
    }
}

// MARK: - Actions of the state machine

extension L2CAPConnection {
    func perform(_ actions: [SignallingMachine.Action]) {
        for action in actions {
            guard isOpen else { return }
            switch action {
            case .send(let packet): send(packet.encoded(), on: .signalling)
            case .decide(let parameters, let identifier): decide(parameters, identifier: identifier)
            case .rule(let request): perform(signalling.handle(.ruled(ruling(on: request), request)))
            case .startTimer(let identifier, let delay): startTimer(identifier, after: delay)
            case .stopTimer(let identifier): stopTimer(identifier)
            case .finished(let ticket, let outcome): completions.removeValue(forKey: ticket)?(outcome)
            case .opened(let opened, let isIncoming): add(opened, isIncoming: isIncoming)
            case .closed(let channel, let closure): remove(channel, closure)
            case .credited(let channel, let credits): self[channel]?.take(credits: credits)
            case .peerResized(let channel, let mtu, let mps): self[channel]?.reconfigure(peerMTU: mtu, peerMPS: mps)
            case .resized(let channel, let mtu, let mps): self[channel]?.accept(mtu: mtu, mps: mps)
            case .discarded(let fault): onDiscard?(.signalling(fault))
            }
        }
    }

    /// Completes all pending requests with ``SignallingMachine/Outcome/linkLost``, in the order in which they were
    /// made.
    func closeSignalling() {
        for timer in signallingTimers.values { loop.cancel(timer) }
        signallingTimers = [:]
        let waiting = completions.sorted { $0.key < $1.key }
        completions = [:]
        for (_, completion) in waiting { completion(.linkLost) }
    }

    private func decide(_ parameters: ConnectionParameters, identifier: UInt8) {
        let isAccepted = parameterPolicy(parameters)
        perform(signalling.handle(.decided(isAccepted, identifier: identifier)))
        if isAccepted { onParametersAccepted?(parameters) }
    }

    /// Checks, in this order, that a server listens, that the link is secure enough now and was when the request began
    /// to arrive, and that there is capacity.
    private func ruling(on request: SignallingMachine.IncomingRequest) -> SignallingMachine.Ruling {
        guard let server = servers[request.spsm], request.mode == .enhanced || !server.isEnhancedOnly else {
            return .refuse(.spsmNotSupported)
        }
        let linkSecurity = history.linkSecurity(since: moment)
        if let refusal = linkSecurity.channelRefusal(of: server.requirement) { return .refuse(refusal) }
        guard server.authorize(self) else { return .refuse(.insufficientAuthorization) }
        guard request.mtu >= server.minimumPeerMTU else { return .refuse(.unacceptableParameters) }
        // Channels that this end is opening count as well. If both ends open channels at once, both are refused for
        // lack of resources rather than get twice the limit (Vol 3 Part G 5.4; L2CAP/TIM/BV-03).
        let open = signalling.endpoints.values.count { $0.spsm == request.spsm }
        let room = min(server.maximumChannelsPerLink - open, server.room())
        return .accept(server.parameters, atMost: max(0, room))
    }

    private func add(_ opened: SignallingMachine.OpenedChannel, isIncoming: Bool) {
        let server = isIncoming ? servers[opened.spsm] : nil
        let channel = L2CAPCreditBasedChannel(opened, server: server, connection: self)
        self[opened.own] = channel
        server?.add(channel)
    }

    private func remove(_ identifier: ChannelIdentifier, _ closure: ChannelClosure) {
        let channel = self[identifier]
        self[identifier] = nil
        channel?.close(closure)
    }

    private func startTimer(_ identifier: UInt8, after delay: Duration) {
        stopTimer(identifier)
        signallingTimers[identifier] = loop.schedule(after: delay) { [weak self] in
            guard let self else { return }
            signallingTimers[identifier] = nil
            perform(signalling.handle(.timeout(identifier: identifier)))
        }
    }

    private func stopTimer(_ identifier: UInt8) {
        guard let timer = signallingTimers.removeValue(forKey: identifier) else { return }
        loop.cancel(timer)
    }
}
