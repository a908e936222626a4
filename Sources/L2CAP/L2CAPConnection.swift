import BluetoothTypes
import EventLoops
import HCI

/// L2CAP on one LE link: the fixed channels and the signalling channel.
///
/// The owner creates it when the link comes up and calls ``close()`` when the link is gone.
public final class L2CAPConnection {
    /// Which end of the link this is.
    public enum Role: Sendable {
        /// The end that decides on connection parameters.
        case central
        /// The end that may ask for them.
        case peripheral
    }

    /// How long the rest of a PDU may take after its first octet, however steadily octets come (AB-C11).
    public static let recombinationTimeout = Duration.seconds(30)
    /// How long a request for connection parameters waits for its answer: TGAP(conn_param_timeout) (Core Vol 3 Part C
    /// Appendix A).
    public static let parameterUpdateTimeout = Duration.seconds(30)
    /// Most octets of a payload that the signalling channel takes in order to refuse it; the specification's limit is
    /// ``SignallingPacket/maximumLength``.
    static let maximumSignallingPayload = 255

    /// Which end of the link this is.
    public let role: Role

    /// As central: whether to follow a peripheral's request, which is legal whatever this says. Apple's rules at
    /// first (behaviour 3.27).
    public var parameterPolicy: (ConnectionParameters) -> Bool = { AppleConnectionParameterRules().accept($0) }
    /// As central: a request that was accepted, to be passed to the controller.
    public var onParametersAccepted: ((ConnectionParameters) -> Void)?
    /// Hears of everything that was thrown away.
    public var onDiscard: ((L2CAPDiscard) -> Void)?

    private let link: any ACLLink
    private let loop: any EventLoop
    private var isOpen = true
    private var channels: [L2CAPFixedChannel] = []
    private var recombination = Recombination()
    private var recombinationTimer: ScheduledTask?
    private var signalling: SignallingMachine
    private var signallingTimer: ScheduledTask?
    private var updateCompletion: ((ParameterUpdateOutcome) -> Void)?

    /// L2CAP on `link`, whose callbacks it takes over. It listens from the loop's next task on: by then whoever made it
    /// has registered the channels, and what the peer sent in the link's first moments finds them.
    public init(link: any ACLLink, role: Role, loop: any EventLoop) {
        self.link = link
        self.role = role
        self.loop = loop
        signalling = SignallingMachine(role: role)
        link.onDrain = { [weak self] in self?.drained() }
        loop.execute { [weak self] in self?.listen() }
    }

    /// PDUs of all channels that wait for the controller; 0 when the link is gone.
    public var queuedPDUs: Int { isOpen ? link.queuedPDUs : 0 }

    /// Opens a fixed channel that takes payloads of up to `maximumPayload` octets. A second call for a channel
    /// replaces the first.
    public func register(_ identifier: ChannelIdentifier, maximumPayload: Int) -> L2CAPFixedChannel {
        let channel = L2CAPFixedChannel(identifier, maximumPayload: maximumPayload, connection: self)
        channels.removeAll { $0.identifier == identifier }
        channels.append(channel)
        return channel
    }

    /// Queues a payload on a channel, whether anybody here listens to it or not. The basic header goes into the
    /// headroom (Core Vol 3 Part A 3.1).
    ///
    /// - Precondition: `payload` has at most 65,535 octets.
    public func send(_ payload: consuming PacketBuffer, on channel: ChannelIdentifier) {
        guard isOpen else { return }
        let length = UInt16(payload.count)
        payload.prepend(integer: channel.rawValue)
        payload.prepend(integer: length)
        link.send(payload)
    }

    /// As peripheral: asks the central for connection parameters (Vol 3 Part A 4.20). One request at a time;
    /// `completion` is called exactly once.
    public func requestParameterUpdate(
        _ parameters: ConnectionParameters,
        completion: @escaping (ParameterUpdateOutcome) -> Void
    ) {
        guard isOpen else { return completion(.closed) }
        guard updateCompletion == nil else { return completion(.busy) }
        updateCompletion = completion
        perform(signalling.handle(.request(parameters, at: loop.now)))
    }

    /// Ends everything: the link is gone, or is to be forgotten. Every channel hears of it once.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        link.onReceive = nil
        link.onDrain = nil
        for timer in [recombinationTimer, signallingTimer].compactMap(\.self) { loop.cancel(timer) }
        recombinationTimer = nil
        signallingTimer = nil
        finishUpdate(.closed)
        let closing = channels
        channels = []
        for channel in closing { channel.close() }
    }
}

// MARK: - Receiving

extension L2CAPConnection {
    private func listen() {
        guard isOpen else { return }
        link.onReceive = { [weak self] fragment, isStart in self?.receive(fragment, isStart: isStart) }
    }

    private func receive(_ fragment: PacketBuffer, isStart: Bool) {
        guard isOpen else { return }
        let (interrupted, outcome) = recombination.handle(fragment, isStart: isStart, at: loop.now) { limit(of: $0) }
        if let interrupted { onDiscard?(interrupted) }
        switch outcome {
        case .none: armRecombinationTimer()
        case .discarded(let discard): onDiscard?(discard)
        case .payload(.signalling, let payload):
            perform(signalling.handle(.received(payload)))
        case .payload(let identifier, let payload):
            for channel in channels where channel.identifier == identifier {
                channel.onReceive?(payload)
                return
            }
        }
    }

    private func limit(of identifier: ChannelIdentifier) -> Int? {
        if identifier == .signalling { return Self.maximumSignallingPayload }
        // Data on channels that nobody opened are ignored (Vol 3 Part A 2.1; L2CAP/LE/CID/BI-01). So is Apple's
        // own channel 0x003A, which only Apple's systems speak.
        for channel in channels where channel.identifier == identifier { return channel.maximumPayload }
        return nil
    }

    private func drained() {
        for channel in channels { channel.onDrain?() }
    }

    /// One timer that is set again when it finds a younger PDU: most PDUs come and go without touching it.
    private func armRecombinationTimer() {
        guard recombinationTimer == nil, let since = recombination.incompleteSince else { return }
        let deadline = since + Self.recombinationTimeout
        recombinationTimer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            recombinationTimer = nil
            if let since = recombination.incompleteSince, since + Self.recombinationTimeout <= loop.now,
                let received = recombination.abandon()
            {
                onDiscard?(.incomplete(received: received))
            }
            armRecombinationTimer()
        }
    }
}

// MARK: - Signalling

extension L2CAPConnection {
    private func perform(_ actions: [SignallingMachine.Action]) {
        for action in actions {
            guard isOpen else { return }
            switch action {
            case .send(let packet): send(packet.encoded(), on: .signalling)
            case .decide(let parameters, let identifier): decide(parameters, identifier: identifier)
            case .startTimer(let deadline): startSignallingTimer(at: deadline)
            case .finished(let outcome): finishUpdate(outcome)
            case .discarded(let fault): onDiscard?(.signalling(fault))
            }
        }
    }

    private func decide(_ parameters: ConnectionParameters, identifier: UInt8) {
        let isAccepted = parameterPolicy(parameters)
        perform(signalling.handle(.decided(isAccepted, identifier: identifier)))
        if isAccepted { onParametersAccepted?(parameters) }
    }

    private func startSignallingTimer(at deadline: Instant) {
        signallingTimer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            signallingTimer = nil
            perform(signalling.handle(.timeout))
        }
    }

    private func finishUpdate(_ outcome: ParameterUpdateOutcome) {
        if let signallingTimer { loop.cancel(signallingTimer) }
        signallingTimer = nil
        let completion = updateCompletion
        updateCompletion = nil
        completion?(outcome)
    }
}
