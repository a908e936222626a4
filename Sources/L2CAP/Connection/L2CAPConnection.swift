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

    /// The role of this end of the link.
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
    let servers: ChannelServers
    let loop: any EventLoop
    var signalling: SignallingMachine
    var signallingTimers: [UInt8: ScheduledTask] = [:]
    var completions: [SignallingMachine.Ticket: (SignallingMachine.Outcome) -> Void] = [:]
    var lastTicket: SignallingMachine.Ticket = 0
    private(set) var isOpen = true
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
    package var creditBasedChannels: [L2CAPCreditBasedChannel] { dynamicChannels.compactMap(\.self) }
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
            if let since = recombination.incompleteSince, since + Self.recombinationTimeout <= loop.now {
                let channel = recombination.incompleteChannel
                if let received = recombination.abandon() { onDiscard?(.incomplete(received: received)) }
                if let channel { frameIsBroken(on: channel) }
            }
            armRecombinationTimer()
        }
    }
}
