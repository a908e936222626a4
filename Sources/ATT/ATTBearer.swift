import BluetoothTypes
import EventLoops
import L2CAP

/// The Attribute Protocol on one channel, in both roles at once (Core Vol 3 Part F 3).
///
/// Each role keeps its own order: one request of ours under way and one of the peer's, one indication of ours and one
/// of the peer's. The exchange of the MTU is dealt with here; all else goes to whoever has set the handlers.
///
/// A link has one bearer on the fixed channel, and may have several *enhanced* ones on credit-based channels. Those get
/// their MTU from the channel, so that they exchange none, and no signed writes (Core Vol 3 Part F 3.2.8 and 3.4.5.4).
///
/// A peer that does not answer within ``transactionTimeout`` closes the bearer: whoever waits hears of it, nothing is
/// sent or taken any more, and the owner should end the link.
package final class ATTBearer {
    /// The MTU before an exchange, and the least that one can lead to (Core Vol 3 Part G 5.2.1).
    package static let defaultMTU = 23
    /// The least MTU of an enhanced bearer (Vol 3 Part G 5.3.1).
    package static let minimumEnhancedMTU = 64
    /// The longest attribute value, in octets (Vol 3 Part F 3.2.9).
    package static let maximumAttributeLength = 512
    /// How long a request waits for its response, and an indication for its confirmation (Vol 3 Part F 3.3.3).
    package static let transactionTimeout = Duration.seconds(30)
    /// Most requests of ours that wait behind the one under way.
    package static let maximumWaitingRequests = 64
    /// Most indications of ours that wait behind the one under way.
    package static let maximumWaitingIndications = 20
    /// Most requests of the peer that wait while one is being answered.
    package static let maximumPeerRequests = 16
    /// PDUs that may wait for the controller before commands and notifications are held back (behaviour 5.14).
    package static let maximumQueuedPDUs = 20

    enum State {
        case open
        case closed(ATTBearerClosure)
    }

    /// The longest PDU that either side may send now, in octets.
    package internal(set) var mtu = ATTBearer.defaultMTU
    /// The longest PDU that this side takes, which an exchange tells the peer.
    package let preferredMTU: Int

    /// Most octets of a value in one command, notification or indication now: three less than the MTU, and never more
    /// than a value may have.
    package var maximumValueLength: Int { min(mtu - 3, Self.maximumAttributeLength) }

    /// Called after an exchange has changed the MTU.
    package var onMTUChange: ((Int) -> Void)?
    /// Called once when the bearer is closed, except by ``close()``.
    package var onClose: ((ATTBearerClosure) -> Void)?

    /// As server: takes each request of the peer. Without a handler they are not supported.
    package var onRequest: ((ATTPDU, ATTReply) -> Void)?
    /// As server: takes each command of the peer, and the moment at which it began to arrive.
    package var onCommand: ((ATTPDU, _ moment: LinkMoment) -> Void)?
    /// As client: takes each notified value, and the moment at which it began to arrive.
    package var onNotification: ((_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) -> Void)?
    /// As client: takes each indicated value, which the bearer has confirmed, and the moment at which it began to arrive.
    package var onIndication: ((_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) -> Void)?

    /// As client: called once when the bearer is closed, by whomever, after everybody who waited has heard of it.
    package var onClientClose: ((ATTBearerClosure) -> Void)?
    /// As client: called once when there is room for commands after ``askForCommandRoom()`` was answered no.
    package var onCommandRoom: (() -> Void)?
    /// As server: called once when there is room for notifications and indications after
    /// ``askForNotificationRoom()`` was answered no.
    package var onNotificationRoom: (() -> Void)?

    typealias ResponseHandler = (Result<ATTPDU, ATTBearerError>, LinkMoment) -> Void
    typealias ConfirmationHandler = (Result<Void, ATTBearerError>) -> Void

    /// Whether this is an enhanced bearer.
    package let isEnhanced: Bool
    /// The loop that the bearer lives on.
    package let loop: any EventLoop

    let channel: any L2CAPChannel
    var state = State.open
    var requests = ATTTransactionQueue<(opcode: ATTOpcode, completion: ResponseHandler)>(
        maximumWaiting: maximumWaitingRequests
    )
    var indications = ATTTransactionQueue<ConfirmationHandler>(maximumWaiting: maximumWaitingIndications)
    var peerRequests = ATTServerQueue(maximumWaiting: maximumPeerRequests)
    var hasExchangedMTU = false
    var exchangeWaiters: [(Result<Int, ATTBearerError>) -> Void] = []
    var joined = JoinedNotifications()
    private var timer: ScheduledTask?
    private var wantsCommandRoom = false
    private var wantsNotificationRoom = false

    /// A bearer on `channel`, whose callbacks it takes over.
    ///
    /// - Parameters:
    ///   - preferredMTU: the longest PDU that this side takes, 23 to 65,535 octets; the channel has to take payloads as
    ///     long. For an enhanced bearer the smaller of both ends' channel MTUs, at least 64, which is in force at once.
    ///   - isEnhanced: whether this is an enhanced bearer.
    package init(channel: any L2CAPChannel, loop: any EventLoop, preferredMTU: Int, isEnhanced: Bool = false) {
        self.channel = channel
        self.loop = loop
        self.isEnhanced = isEnhanced
        let least = isEnhanced ? Self.minimumEnhancedMTU : Self.defaultMTU
        self.preferredMTU = min(max(preferredMTU, least), Int(UInt16.max))
        if isEnhanced {
            mtu = self.preferredMTU
            hasExchangedMTU = true
        }
        channel.onReceive = { [weak self] payload, moment in self?.receive(payload, at: moment) }
        (channel as? L2CAPFixedChannel)?.onOversized = { [weak self] beginning, length, moment in
            self?.receive(oversized: ATTOpcode(rawValue: beginning[0]), length: length, at: moment)
        }
        channel.onDrain = { [weak self] in self?.drained() }
        channel.onClose = { [weak self] in self?.close(.linkLost) }
    }

    /// The present moment of the link: what begins to arrive from now on is later.
    package var moment: LinkMoment { channel.moment }

    /// Whether nothing can be sent or received any more.
    package var closure: ATTBearerClosure? {
        if case .closed(let closure) = state { closure } else { nil }
    }

    /// The channel of an enhanced bearer was reconfigured. An MTU never shrinks (Core Vol 3 Part A 4.27).
    package func channelMTUChanged(to new: Int) {
        guard isEnhanced, new > mtu, case .open = state else { return }
        mtu = min(new, Int(UInt16.max))
        onMTUChange?(mtu)
    }

    /// Ends the bearer from this side. Whoever waits hears of it.
    package func close() {
        onClose = nil
        close(.local)
    }

    func close(_ closure: ATTBearerClosure) {
        guard case .open = state else { return }
        state = .closed(closure)
        channel.onReceive = nil
        (channel as? L2CAPFixedChannel)?.onOversized = nil
        channel.onDrain = nil
        channel.onClose = nil
        // The channel of an enhanced bearer is nobody else's.
        if isEnhanced { (channel as? L2CAPCreditBasedChannel)?.disconnect() }
        if let timer { loop.cancel(timer) }
        timer = nil
        peerRequests.removeAll()
        joined = JoinedNotifications()
        let handler = onClose
        let error = ATTBearerError.closed(closure)
        for request in requests.removeAll() { request.completion(.failure(error), moment) }
        for confirm in indications.removeAll() { confirm(.failure(error)) }
        onClientClose?(closure)
        onClientClose = nil
        handler?(closure)
        onRequest = nil
        onCommand = nil
        onNotification = nil
        onIndication = nil
        onMTUChange = nil
        onClose = nil
        onCommandRoom = nil
        onNotificationRoom = nil
    }
}

// MARK: - Timeouts and room

extension ATTBearer {
    /// What is known of a transaction that begins now.
    var start: TransactionStart {
        TransactionStart(deadline: loop.now + Self.transactionTimeout, moment: moment)
    }

    /// One timer for both queues. It is not moved with each transaction: when it goes off it looks for the oldest.
    func armTimer() {
        guard timer == nil,
            let first = [requests.current?.start.deadline, indications.current?.start.deadline]
                .compactMap(\.self).min()
        else { return }
        timer = loop.schedule(at: first) { [weak self] in
            guard let self else { return }
            timer = nil
            if let deadline = requests.current?.start.deadline, deadline <= loop.now { return close(.requestTimeout) }
            if let deadline = indications.current?.start.deadline, deadline <= loop.now {
                return close(.indicationTimeout)
            }
            armTimer()
        }
    }

    private var hasRoom: Bool {
        guard case .open = state else { return false }
        return channel.queuedPDUs < Self.maximumQueuedPDUs
    }

    private var hasNotificationRoom: Bool { hasRoom && indications.hasRoom && exchangeWaiters.isEmpty }

    private func drained() {
        joined.pduLeft()
        if joined.isDue || channel.queuedPDUs == 0 { sendJoined() }
        offerRoom()
    }

    /// As client: whether a command would be taken now. After a no, ``onCommandRoom`` is called once when there is room.
    package func askForCommandRoom() -> Bool {
        wantsCommandRoom = !hasRoom
        return !wantsCommandRoom
    }

    /// As server: whether a notification and an indication would be taken now. After a no, ``onNotificationRoom`` is
    /// called once when there is room. There is none while our exchange of the MTU waits for its answer (Core Vol 3 Part F
    /// 3.4.2.2).
    package func askForNotificationRoom() -> Bool {
        wantsNotificationRoom = !hasNotificationRoom
        return !wantsNotificationRoom
    }

    /// Tells those who were answered no.
    func offerRoom() {
        if wantsCommandRoom, hasRoom {
            wantsCommandRoom = false
            onCommandRoom?()
        }
        if wantsNotificationRoom, hasNotificationRoom {
            wantsNotificationRoom = false
            onNotificationRoom?()
        }
    }
}
