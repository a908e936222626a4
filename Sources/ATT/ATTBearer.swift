import BluetoothTypes
import EventLoops
import L2CAP

/// An ATT bearer: the Attribute Protocol on one channel, as client and server at once (Core Vol 3 Part F 3).
///
/// Each direction has its own order: one outstanding request and one outstanding indication per side. The bearer
/// handles the MTU exchange itself and passes everything else to its handlers.
///
/// A link has one bearer on the fixed channel, and may have several *enhanced* bearers on credit-based channels. An
/// enhanced bearer derives its MTU from the channel, so it supports neither the MTU exchange nor signed writes (Core
/// Vol 3 Part F 3.2.8 and 3.4.5.4).
///
/// If the peer does not answer within ``transactionTimeout``, the bearer closes: pending operations fail, nothing more
/// is sent or received, and the owner should disconnect the link.
package final class ATTBearer {
    /// The MTU before an exchange, and the smallest that an exchange can result in (Core Vol 3 Part G 5.2.1).
    package static let defaultMTU = 23
    /// The minimum MTU of an enhanced bearer (Vol 3 Part G 5.3.1).
    package static let minimumEnhancedMTU = 64
    /// The maximum length of an attribute value, in octets (Vol 3 Part F 3.2.9).
    package static let maximumAttributeLength = 512
    /// How long a request waits for its response, and an indication for its confirmation (Vol 3 Part F 3.3.3).
    package static let transactionTimeout = Duration.seconds(30)
    /// The maximum number of local requests queued behind the outstanding one.
    package static let maximumWaitingRequests = 64
    /// The maximum number of local indications queued behind the outstanding one.
    package static let maximumWaitingIndications = 20
    /// The maximum number of peer requests queued behind the one being answered.
    package static let maximumPeerRequests = 16
    /// The number of PDUs queued for the controller at which commands and notifications are held back (behaviour 5.14).
    package static let maximumQueuedPDUs = 20

    enum State {
        case open
        case closed(ATTBearerClosure)
    }

    /// The current MTU, in octets.
    package internal(set) var mtu = ATTBearer.defaultMTU
    /// The longest PDU that this side accepts, in octets, as announced in an exchange.
    package let preferredMTU: Int

    /// The longest value that fits into a command, notification or indication: the MTU less three octets, but no more
    /// than ``maximumAttributeLength``.
    package var maximumValueLength: Int { min(mtu - 3, Self.maximumAttributeLength) }

    /// Called after an exchange or a reconfiguration of the channel has changed the MTU.
    package var onMTUChange: ((Int) -> Void)?
    /// Called once when the bearer closes for any reason other than ``close()``.
    package var onClose: ((ATTBearerClosure) -> Void)?

    /// Server role: called with each request of the peer. Without a handler, requests are answered with Request Not
    /// Supported.
    package var onRequest: ((ATTPDU, ATTReply) -> Void)?
    /// Server role: called with each command of the peer and the moment at which it began to arrive.
    package var onCommand: ((ATTPDU, _ moment: LinkMoment) -> Void)?
    /// Client role: called with each notified value and the moment at which it began to arrive.
    package var onNotification: ((_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) -> Void)?
    /// Client role: called with each indicated value, which the bearer has already confirmed, and the moment at which
    /// it began to arrive.
    package var onIndication: ((_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) -> Void)?

    /// Client role: called once when the bearer closes for any reason, after pending operations have completed.
    package var onClientClose: ((ATTBearerClosure) -> Void)?
    /// Client role: called once when there is room for commands again after ``askForCommandRoom()`` returned false.
    package var onCommandRoom: (() -> Void)?
    /// Server role: called once when there is room for notifications and indications again after
    /// ``askForNotificationRoom()`` returned false.
    package var onNotificationRoom: (() -> Void)?

    typealias ResponseHandler = (Result<ATTPDU, ATTBearerError>, LinkMoment) -> Void
    typealias ConfirmationHandler = (Result<Void, ATTBearerError>) -> Void

    /// Whether this is an enhanced bearer (EATT).
    package let isEnhanced: Bool
    /// The event loop on which the bearer runs and calls its handlers.
    package let loop: any EventLoop
    /// The security of the link at each of its moments.
    package let history: LinkHistory

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

    /// Creates a bearer on `channel` and replaces the channel's callbacks.
    ///
    /// - Parameters:
    ///   - preferredMTU: The longest PDU that this side accepts, 23 to 65,535 octets. The channel must accept payloads
    ///     of that length. For an enhanced bearer this is the smaller of the two channel MTUs, at least 64, and takes
    ///     effect at once.
    ///   - isEnhanced: Whether `channel` carries an enhanced bearer.
    package init(channel: any L2CAPChannel, loop: any EventLoop, preferredMTU: Int, isEnhanced: Bool = false) {
        self.channel = channel
        history = channel.history
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

    /// The current moment of the link. PDUs that begin to arrive from now on have a later moment.
    package var moment: LinkMoment { history.moment }

    /// The reason why the bearer is closed; nil while it is open.
    package var closure: ATTBearerClosure? {
        if case .closed(let closure) = state { closure } else { nil }
    }

    /// Applies the MTU of a reconfigured channel to its enhanced bearer. An MTU never shrinks (Core Vol 3 Part A 4.27).
    package func channelMTUChanged(to new: Int) {
        guard isEnhanced, new > mtu, case .open = state else { return }
        mtu = min(new, Int(UInt16.max))
        onMTUChange?(mtu)
    }

    /// Closes the bearer from this side. Pending operations fail with ``ATTBearerClosure/local``.
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
        // An enhanced bearer owns its channel.
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

// MARK: - Time-outs and backpressure

extension ATTBearer {
    /// The deadline and the moment of a transaction that starts now.
    var start: TransactionStart {
        TransactionStart(deadline: loop.now + Self.transactionTimeout, moment: moment)
    }

    /// Arms the timer that both queues share. It is not rescheduled for each transaction: when it fires, it checks the
    /// oldest.
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

    /// Client role: whether a command can be sent now. If false, ``onCommandRoom`` is called once when there is room.
    package func askForCommandRoom() -> Bool {
        wantsCommandRoom = !hasRoom
        return !wantsCommandRoom
    }

    /// Server role: whether a notification or an indication can be sent now. If false, ``onNotificationRoom`` is called
    /// once when there is room.
    ///
    /// There is no room while a local MTU exchange is outstanding (Core Vol 3 Part F 3.4.2.2).
    package func askForNotificationRoom() -> Bool {
        wantsNotificationRoom = !hasNotificationRoom
        return !wantsNotificationRoom
    }

    /// Calls the room handlers that are waiting, if there is room.
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
