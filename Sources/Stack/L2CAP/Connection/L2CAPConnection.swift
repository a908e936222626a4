import BluetoothTypes
import EventLoops
import HCI
import HCIHost

/// L2CAP on one LE link: the fixed channels, the signalling channel and the credit-based channels.
///
/// The owner creates it when the link is established and calls ``close()`` when the link is gone. All methods and
/// handlers run on the event loop.
package final class L2CAPConnection {
    /// How long a PDU may take from its first octet to its last, however steadily octets arrive (AB-C11).
    package static let recombinationTimeout = Duration.seconds(30)
    /// The maximum number of credit-based channels on one link, including those being opened or closed.
    package static let maximumDynamicChannels = SignallingMachine.maximumChannels
    /// The number of PDUs in the queue of the link above which requests of the peer go unanswered.
    ///
    /// A conforming peer waits for its answers. A peer that only sends, and never receives, gets no more of them
    /// (AB-A06, AB-C09).
    package static let maximumQueuedAnswers = 64
    /// The longest payload of the signalling channel, in octets, that is received completely so that it can be
    /// rejected. The specification's limit is ``SignallingPacket/maximumLength``.
    static let maximumSignallingPayload = 255

    package let role: L2CAPRole

    /// Decides, as central, whether to accept connection parameters from the peripheral. Called only for legal ones; by
    /// default all are accepted.
    package var parameterPolicy: (ConnectionParameters) -> Bool = { _ in true }
    /// Called, as central, with accepted parameters, which the owner passes to the controller.
    package var onParametersAccepted: ((ConnectionParameters) -> Void)?
    /// The security of the link at each of its moments. The channels share it.
    package let history = LinkHistory()
    /// The security of the link, kept up to date by the owner. Servers may require a minimum (``SecurityLevel``).
    package var linkSecurity: LinkSecurity {
        get { history.linkSecurity }
        set { _ = history.change(to: newValue) }
    }
    /// The current moment of the link, which is also that of the PDU being received.
    package var moment: LinkMoment { history.moment }
    /// Called for everything that was dropped.
    package var onDiscard: ((L2CAPDiscard) -> Void)?

    /// The servers that accept credit-based channels from the peer.
    private let servers: ChannelServers
    private let loop: any EventLoop
    private(set) var signalling: SignallingMachine
    private(set) var signallingTimers: [UInt8: ScheduledTask] = [:]
    private(set) var completions: [SignallingMachine.Ticket: (SignallingMachine.Outcome) -> Void] = [:]
    private var lastTicket: SignallingMachine.Ticket = 0
    private var isOpen = true
    // Whether data is being delivered that arrived before the connection began to listen.
    private var isCatchingUp = false
    private let link: any ACLLink
    private var channels: [L2CAPFixedChannel] = []
    // One slot for each identifier of the dynamic range.
    private var dynamicChannels: [L2CAPCreditBasedChannel?] = ChannelIdentifier.dynamicRange.map { _ in nil }
    private var dynamicCount = 0
    // The slot of the channel that sent last.
    private var lastTurn = 0
    private var recombination = Recombination()
    private var recombinationTimer: ScheduledTask?

    /// Creates L2CAP on `link` and takes over its callbacks.
    ///
    /// Receiving starts with the next task of the loop. By then the creator has registered the fixed channels, so that
    /// they receive what the peer sends right after the link is established.
    ///
    /// - Parameters:
    ///   - link: The data path of the connection.
    ///   - role: The role of this end.
    ///   - loop: The event loop that everything runs on.
    ///   - servers: The servers of this system; by default none, so that the peer cannot open channels.
    package init(link: any ACLLink, role: L2CAPRole, loop: any EventLoop, servers: ChannelServers = ChannelServers()) {
        self.link = link
        self.role = role
        self.loop = loop
        self.servers = servers
        signalling = SignallingMachine(role: role)
        link.onDrain = { [weak self] in self?.drained() }
        loop.execute { [weak self] in self?.listen() }
    }

    /// The PDUs of all channels that are waiting for the controller; 0 once the link is closed.
    package var queuedPDUs: Int { isOpen ? link.queuedPDUs : 0 }

    /// Opens a fixed channel that accepts payloads of up to `maximumPayload` octets.
    ///
    /// A second call for the same identifier replaces the first channel.
    package func register(_ identifier: ChannelIdentifier, maximumPayload: Int) -> L2CAPFixedChannel {
        let channel = L2CAPFixedChannel(identifier, maximumPayload: maximumPayload, connection: self)
        channels.removeAll { $0.identifier == identifier }
        channels.append(channel)
        return channel
    }

    /// Queues a payload on a channel, registered or not. The basic header goes into the headroom (Core Vol 3 Part A
    /// 3.1).
    ///
    /// - Precondition: `payload` has at most 65,535 octets.
    package func send(_ payload: consuming PacketBuffer, on channel: ChannelIdentifier) {
        guard isOpen else { return }
        let length = UInt16(payload.count)
        payload.prepend(integer: channel.rawValue)
        payload.prepend(integer: length)
        link.send(payload)
    }

    /// Records that the controller has turned encryption on or off, or changed its key. Call this before anything that
    /// arrived since is delivered.
    package func encryptionChanged() { history.encryptionChanged() }

    /// Closes the connection and all its channels, because the link is gone or is being abandoned. Calls every
    /// `onClose` handler once.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        link.onReceive = nil
        link.onDrain = nil
        if let recombinationTimer = recombinationTimer.take() { loop.cancel(recombinationTimer) }
        closeSignalling()
        let closing = channels
        channels = []
        for channel in closing { channel.close() }
        let dynamic = dynamicChannels.compactMap(\.self)
        for index in dynamicChannels.indices { dynamicChannels[index] = nil }
        dynamicCount = 0
        for channel in dynamic { channel.close(.linkLost) }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }
}

// MARK: - Invariants

extension L2CAPConnection {
    /// The first broken invariant; nil if all hold. Checked in debug builds after each fragment and timer, and after
    /// the end.
    private var brokenInvariant: String? {
        let open = dynamicCount == 0 ? [] : creditBasedChannels
        guard dynamicCount == open.count else { return "the count of the channels is wrong" }
        guard isOpen else {
            let isEmpty = open.isEmpty && channels.isEmpty && completions.isEmpty
            let hasTimer = recombinationTimer != nil || !signallingTimers.isEmpty
            return isEmpty && !hasTimer ? nil : "a closed connection has channels, requests or timers"
        }
        guard signalling.pending.count == signallingTimers.count,
            signalling.pending.keys.allSatisfy({ signallingTimers[$0] != nil })
        else { return "the pending requests and their timers differ" }
        guard open.count == signalling.endpoints.values.count(where: { $0.openPeer != nil }),
            open.allSatisfy({ signalling.endpoints[$0.identifier]?.openPeer?.identifier == $0.peerIdentifier })
        else { return "the open channels and those of the signalling differ" }
        guard (recombination.incompleteSince == nil) || recombinationTimer != nil else {
            return "nothing limits the time for an incomplete PDU"
        }
        return signalling.brokenInvariant
    }
}

// MARK: - Dynamic channels

extension L2CAPConnection {
    /// The credit-based channel with this identifier at this end; nil if there is none.
    subscript(channel: ChannelIdentifier) -> L2CAPCreditBasedChannel? {
        get {
            guard channel.isDynamic else { return nil }
            return dynamicChannels[Int(channel.rawValue - ChannelIdentifier.dynamicRange.lowerBound)]
        }
        set {
            guard channel.isDynamic else { return }
            let place = Int(channel.rawValue - ChannelIdentifier.dynamicRange.lowerBound)
            dynamicCount += (newValue == nil ? 0 : 1) - (dynamicChannels[place] == nil ? 0 : 1)
            dynamicChannels[place] = newValue
        }
    }

    /// The open credit-based channels, in the order of their identifiers.
    var creditBasedChannels: [L2CAPCreditBasedChannel] { dynamicChannels.compactMap(\.self) }
}

// MARK: - Receiving

extension L2CAPConnection {
    private func listen() {
        guard isOpen else { return }
        // Data that arrived before this call predates everything known about the security of the link, so it has the
        // first moment.
        isCatchingUp = true
        link.onReceive = { [weak self] fragment, isStart in self?.receive(fragment, isStart: isStart) }
        isCatchingUp = false
    }

    private func receive(_ fragment: PacketBuffer, isStart: Bool) {
        guard isOpen else { return }
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let unfinished = isStart ? recombination.incompleteChannel : nil
        if isStart, !isCatchingUp { history.advance() }
        let (interrupted, outcome) = recombination.handle(fragment, isStart: isStart, at: loop.now) { limit(of: $0) }
        if let interrupted { onDiscard?(interrupted) }
        if let unfinished { frameIsBroken(on: unfinished) }
        switch outcome {
        case .none: armRecombinationTimer()
        case .discarded(let discard): discarded(discard)
        case .tooLong(let identifier, let length, let limit, let beginning):
            discarded(.tooLong(identifier, length: length, limit: limit))
            oversized(identifier, length: length, beginning)
        case .beginning(let identifier, let length, let beginning):
            oversized(identifier, length: length, beginning)
        case .payload(let identifier, let payload): deliver(payload, on: identifier)
        }
    }

    private func deliver(_ payload: PacketBuffer, on identifier: ChannelIdentifier) {
        if identifier == .signalling { return receiveSignalling(payload) }
        if let channel = self[identifier] { return channel.receive(payload, at: moment) }
        for channel in channels where channel.identifier == identifier {
            channel.onReceive?(payload, moment)
            return
        }
    }

    private func oversized(_ identifier: ChannelIdentifier, length: Int, _ beginning: PacketBuffer) {
        guard isOpen, !beginning.isEmpty else { return }
        for channel in channels where channel.identifier == identifier {
            channel.onOversized?(beginning, length, moment)
            return
        }
    }

    private func receiveSignalling(_ payload: PacketBuffer) {
        let code = SignallingCode(rawValue: payload.first ?? 0)
        guard code.isUnanswered || queuedPDUs < Self.maximumQueuedAnswers else {
            return discarded(.signalling(.unheeded(code)))
        }
        perform(signalling.handle(.received(payload)))
    }

    private func discarded(_ discard: L2CAPDiscard) {
        onDiscard?(discard)
        switch discard {
        case .tooLong(let channel, _, _):
            // A frame above the MPS (Core Vol 3 Part A 3.4.3).
            if let channel = self[channel] { disconnect(channel, because: .violation(.frameTooLong)) }
        case .overrun(let channel, _, _): frameIsBroken(on: channel)
        default: break
        }
    }

    /// Closes a channel that lost part of a frame: an SDU would have a gap, and the credits would no longer add up.
    private func frameIsBroken(on channel: ChannelIdentifier) {
        if let channel = self[channel] { disconnect(channel, because: .violation(.brokenFrame)) }
    }

    private func limit(of identifier: ChannelIdentifier) -> Int? {
        if identifier == .signalling { return Self.maximumSignallingPayload }
        if let channel = self[identifier] { return channel.mps }
        // Data on channels that are not open is ignored (Vol 3 Part A 2.1; L2CAP/LE/CID/BI-01). That includes Apple's
        // proprietary channel 0x003A, which only Apple's systems implement.
        for channel in channels where channel.identifier == identifier { return channel.maximumPayload }
        return nil
    }

    private func drained() {
        for channel in channels { channel.onDrain?() }
        if dynamicCount > 0 { takeTurns() }
    }

    /// Sends frames round-robin, one per channel, while the link has room, so that no channel can starve another.
    private func takeTurns() {
        var idle = 0
        while idle < dynamicChannels.count, queuedPDUs < L2CAPCreditBasedChannel.maximumLinkQueue {
            lastTurn = (lastTurn + 1) % dynamicChannels.count
            if dynamicChannels[lastTurn]?.sendFrame() == true { idle = 0 } else { idle += 1 }
        }
    }

    /// Starts the time-out for the incomplete PDU. If the timer fires during a younger PDU, it is rescheduled, so that
    /// most PDUs never touch it.
    private func armRecombinationTimer() {
        guard recombinationTimer == nil, let since = recombination.incompleteSince else { return }
        let deadline = since + Self.recombinationTimeout
        recombinationTimer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            recombinationTimer = nil
            assert(isOpen, "a timer of a closed connection")
            if let since = recombination.incompleteSince, since + Self.recombinationTimeout <= loop.now {
                let channel = recombination.incompleteChannel
                if let received = recombination.abandon() { onDiscard?(.incomplete(received: received)) }
                if let channel { frameIsBroken(on: channel) }
            }
            armRecombinationTimer()
        }
    }
}

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

    func grant(credits: UInt16, to channel: L2CAPCreditBasedChannel) {
        guard isOpen else { return }
        perform(signalling.handle(.grant(credits, channel.identifier)))
    }
}

// MARK: - Actions of the state machine

extension L2CAPConnection {
    private func perform(_ actions: [SignallingMachine.Action]) {
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
            case .credited(let channel, let credits): self[channel]?.receive(credits: credits)
            case .peerResized(let channel, let mtu, let mps): self[channel]?.reconfigure(peerMTU: mtu, peerMPS: mps)
            case .resized(let channel, let mtu, let mps): self[channel]?.accept(mtu: mtu, mps: mps)
            case .discarded(let fault): onDiscard?(.signalling(fault))
            }
        }
    }

    /// Completes all pending requests with ``SignallingMachine/Outcome/linkLost``, in the order in which they were
    /// made.
    private func closeSignalling() {
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

    /// Asks the server, if there is one, with the weakest security since the request began to arrive.
    private func ruling(on request: SignallingMachine.IncomingRequest) -> SignallingMachine.Ruling {
        guard let server = servers[request.spsm] else { return .refuse(.spsmNotSupported) }
        // Channels that this end is opening count as well. If both ends open channels at once, both are refused for
        // lack of resources rather than get twice the limit (Vol 3 Part G 5.4; L2CAP/TIM/BV-03).
        let open = signalling.endpoints.values.count { $0.spsm == request.spsm }
        return server.ruling(on: request, of: self, over: history.linkSecurity(since: moment), open: open)
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
            assert(isOpen, "a timer of a closed connection")
            perform(signalling.handle(.timeout(identifier: identifier)))
            assert(brokenInvariant == nil, brokenInvariant ?? "")
        }
    }

    private func stopTimer(_ identifier: UInt8) {
        guard let timer = signallingTimers.removeValue(forKey: identifier) else { return }
        loop.cancel(timer)
    }
}

/// Received data that was dropped, for logs and counters. None of these closes the link.
package enum L2CAPDiscard: Hashable, Sendable {
    /// A continuation fragment arrived without a PDU to continue.
    case continuationWithoutStart
    /// A new PDU began before the previous one was complete; the previous one was dropped.
    case interrupted(received: Int)
    /// The length in the basic header exceeds the limit of the channel.
    case tooLong(ChannelIdentifier, length: Int, limit: Int)
    /// The fragments hold more octets than the basic header announced.
    case overrun(ChannelIdentifier, length: Int, received: Int)
    /// The PDU was not completed within ``L2CAPConnection/recombinationTimeout``.
    case incomplete(received: Int)
    /// The channel is not registered here.
    case unassigned(ChannelIdentifier)
    /// The signalling channel received a packet that got no answer, or a Command Reject.
    case signalling(SignallingFault)
}
