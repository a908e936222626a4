import BluetoothTypes
import EventLoops
import HCI
import HCIHost

/// L2CAP on one LE link: the fixed channels and the signalling channel.
///
/// The owner creates it when the link comes up and calls ``close()`` when the link is gone.
package final class L2CAPConnection {
    /// Which end of the link this is.
    package enum Role: Sendable {
        /// The end that decides on connection parameters.
        case central
        /// The end that may ask for them.
        case peripheral
    }

    /// How long the rest of a PDU may take after its first octet, however steadily octets come (AB-C11).
    package static let recombinationTimeout = Duration.seconds(30)
    /// How long a request on the signalling channel waits for its answer: the Response Timeout of 1 to 60 s (Core Vol 3
    /// Part A 6.2.1), for connection parameters TGAP(conn_param_timeout) (Vol 3 Part C Appendix A).
    package static let responseTimeout = Duration.seconds(30)
    /// How long a request waits when the peer has said that the answer follows: the Extended Response Timeout of 60 to
    /// 300 s (Vol 3 Part A 6.2.2).
    package static let extendedResponseTimeout = Duration.seconds(60)
    /// Most credit-based channels on one link, those included that are being opened or closed.
    package static let maximumDynamicChannels = 32
    /// PDUs that may wait for the controller when the peer asks for one more answer. A peer that keeps to the protocols
    /// waits for its answers; one that sends and takes nothing gets no more of them (AB-A06, AB-C09).
    package static let maximumQueuedAnswers = 64
    /// Most octets of a payload that the signalling channel takes in order to refuse it; the specification's limit is
    /// ``SignallingPacket/maximumLength``.
    static let maximumSignallingPayload = 255

    /// Which end of the link this is.
    package let role: Role

    /// As central: whether to follow a peripheral's request. Asked about legal ones only; at first it follows them all.
    package var parameterPolicy: (ConnectionParameters) -> Bool = { _ in true }
    /// As central: a request that was accepted, to be passed to the controller.
    package var onParametersAccepted: ((ConnectionParameters) -> Void)?
    /// How the link is protected, kept up to date by the owner; services may ask for more (``SecurityLevel``).
    package var protection: LinkSecurity {
        get { protections.now }
        set { protections.change(to: newValue, at: moment) }
    }
    /// The present moment of the link. It is also that of the PDU which is arriving: a link has one at a time.
    package private(set) var moment = LinkMoment.first
    /// Hears of everything that was thrown away.
    package var onDiscard: ((L2CAPDiscard) -> Void)?

    /// The services that take credit-based channels of the peer.
    let servers: ChannelServers
    let loop: any EventLoop
    var signalling: SignallingMachine
    var signallingTimers: [UInt8: ScheduledTask] = [:]
    var completions: [SignallingMachine.Ticket: (SignallingMachine.Outcome) -> Void] = [:]
    var lastTicket: SignallingMachine.Ticket = 0
    private(set) var protections = SecurityHistory(LinkSecurity())
    private(set) var isOpen = true
    // Whether what arrives has waited for somebody to listen.
    private var isCatchingUp = false
    private let link: any ACLLink
    private var channels: [L2CAPFixedChannel] = []
    // One place for each number of the dynamic range.
    private var dynamicChannels: [L2CAPCreditBasedChannel?] = ChannelIdentifier.dynamicRange.map { _ in nil }
    private var dynamicCount = 0
    // The place whose channel sent last.
    private var lastTurn = 0
    private var recombination = Recombination()
    private var recombinationTimer: ScheduledTask?

    /// L2CAP on `link`, whose callbacks it takes over. It listens from the loop's next task on: by then whoever made it
    /// has registered the channels, and what the peer sent in the link's first moments finds them.
    ///
    /// - Parameter servers: the services of the system; without it, the peer can open no channels.
    package init(link: any ACLLink, role: Role, loop: any EventLoop, servers: ChannelServers = ChannelServers()) {
        self.link = link
        self.role = role
        self.loop = loop
        self.servers = servers
        signalling = SignallingMachine(role: role)
        link.onDrain = { [weak self] in self?.drained() }
        loop.execute { [weak self] in self?.listen() }
    }

    /// PDUs of all channels that wait for the controller; 0 when the link is gone.
    package var queuedPDUs: Int { isOpen ? link.queuedPDUs : 0 }

    /// Opens a fixed channel that takes payloads of up to `maximumPayload` octets. A second call for a channel
    /// replaces the first.
    package func register(_ identifier: ChannelIdentifier, maximumPayload: Int) -> L2CAPFixedChannel {
        let channel = L2CAPFixedChannel(identifier, maximumPayload: maximumPayload, connection: self)
        channels.removeAll { $0.identifier == identifier }
        channels.append(channel)
        return channel
    }

    /// Queues a payload on a channel, whether anybody here listens to it or not. The basic header goes into the
    /// headroom (Core Vol 3 Part A 3.1).
    ///
    /// - Precondition: `payload` has at most 65,535 octets.
    package func send(_ payload: consuming PacketBuffer, on channel: ChannelIdentifier) {
        guard isOpen else { return }
        let length = UInt16(payload.count)
        payload.prepend(integer: channel.rawValue)
        payload.prepend(integer: length)
        link.send(payload)
    }

    /// Ends everything: the link is gone, or is to be forgotten. Every channel hears of it once.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        link.onReceive = nil
        link.onDrain = nil
        if let recombinationTimer { loop.cancel(recombinationTimer) }
        recombinationTimer = nil
        closeSignalling()
        let closing = channels
        channels = []
        for channel in closing { channel.close() }
        let dynamic = dynamicChannels.compactMap(\.self)
        for index in dynamicChannels.indices { dynamicChannels[index] = nil }
        dynamicCount = 0
        for channel in dynamic { channel.close(.linkLost) }
    }
}

// MARK: - Dynamic channels

extension L2CAPConnection {
    /// The credit-based channel with this number at this end.
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

    /// The credit-based channels that are open, in the order of their numbers.
    package var creditBasedChannels: [L2CAPCreditBasedChannel] { dynamicChannels.compactMap(\.self) }
}

// MARK: - Receiving

extension L2CAPConnection {
    private func listen() {
        guard isOpen else { return }
        // What has waited for this came before whatever is known of the link's security, and has the first moment.
        isCatchingUp = true
        link.onReceive = { [weak self] fragment, isStart in self?.receive(fragment, isStart: isStart) }
        isCatchingUp = false
    }

    private func receive(_ fragment: PacketBuffer, isStart: Bool) {
        guard isOpen else { return }
        let unfinished = isStart ? recombination.incompleteChannel : nil
        if isStart, !isCatchingUp { moment.advance() }
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

    /// An SDU would have a hole, and the credits would not add up.
    private func frameIsBroken(on channel: ChannelIdentifier) {
        if let channel = self[channel] { disconnect(channel, because: .violation(.brokenFrame)) }
    }

    private func limit(of identifier: ChannelIdentifier) -> Int? {
        if identifier == .signalling { return Self.maximumSignallingPayload }
        if let channel = self[identifier] { return channel.mps }
        // Data on channels that nobody opened are ignored (Vol 3 Part A 2.1; L2CAP/LE/CID/BI-01). So is Apple's
        // own channel 0x003A, which only Apple's systems speak.
        for channel in channels where channel.identifier == identifier { return channel.maximumPayload }
        return nil
    }

    private func drained() {
        for channel in channels { channel.onDrain?() }
        if dynamicCount > 0 { takeTurns() }
    }

    /// A frame of each channel that has one, in turn, as long as the link has room: no channel can starve another.
    private func takeTurns() {
        var idle = 0
        while idle < dynamicChannels.count, queuedPDUs < L2CAPCreditBasedChannel.maximumLinkQueue {
            lastTurn = (lastTurn + 1) % dynamicChannels.count
            if dynamicChannels[lastTurn]?.sendFrame() == true { idle = 0 } else { idle += 1 }
        }
    }

    /// One timer that is set again when it finds a younger PDU: most PDUs come and go without touching it.
    private func armRecombinationTimer() {
        guard recombinationTimer == nil, let since = recombination.incompleteSince else { return }
        let deadline = since + Self.recombinationTimeout
        recombinationTimer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            recombinationTimer = nil
            if let since = recombination.incompleteSince, since + Self.recombinationTimeout <= loop.now {
                let channel = recombination.incompleteChannel
                if let received = recombination.abandon() { onDiscard?(.incomplete(received: received)) }
                if let channel { frameIsBroken(on: channel) }
            }
            armRecombinationTimer()
        }
    }
}
