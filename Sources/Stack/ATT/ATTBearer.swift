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
    package static let maximumWaitingRequests = 64
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
    package private(set) var mtu = ATTBearer.defaultMTU
    /// The longest PDU that this side accepts, in octets, as announced in an exchange.
    private let preferredMTU: Int

    /// The longest value that fits into a command, notification or indication: the MTU less three octets, but no more
    /// than ``maximumAttributeLength``.
    package var maximumValueLength: Int { min(mtu - 3, Self.maximumAttributeLength) }

    /// The longest PDU that is accepted now. During an own exchange the peer may already know the new MTU, and a long
    /// value may overtake its response (behaviour 5.28).
    var receivableLength: Int { exchangeWaiters.isEmpty ? mtu : preferredMTU }

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

    package let isEnhanced: Bool
    package let loop: any EventLoop
    package let history: LinkHistory

    private let channel: any L2CAPChannel
    private(set) var state = State.open
    private(set) var requests = ATTTransactionQueue<(opcode: ATTOpcode, completion: ResponseHandler)>(
        maximumWaiting: maximumWaitingRequests
    )
    private var indications = ATTTransactionQueue<ConfirmationHandler>(maximumWaiting: maximumWaitingIndications)
    private var peerRequests = ATTServerQueue(maximumWaiting: maximumPeerRequests)
    private var hasExchangedMTU = false
    private var exchangeWaiters: [(Result<Int, ATTBearerError>) -> Void] = []
    private var joined = JoinedNotifications()
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
        channel.onReceive = { [weak self] payload, moment in
            guard let self else { return }
            receive(payload, at: moment)
            assert(brokenInvariant == nil, brokenInvariant ?? "")
        }
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
        if let timer = timer.take() { loop.cancel(timer) }
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
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        let isWaiting = requests.current != nil || indications.current != nil
        switch state {
        case .open:
            guard !isWaiting || timer != nil else { return "nothing limits the time of a transaction" }
            return requests.brokenInvariant ?? indications.brokenInvariant ?? peerRequests.brokenInvariant
        case .closed:
            let isEmpty = requests.isEmpty && indications.isEmpty && peerRequests.isEmpty && exchangeWaiters.isEmpty
            return isEmpty && timer == nil ? nil : "a closed bearer has transactions or a timer"
        }
    }
}

// MARK: - Time-outs and backpressure

extension ATTBearer {
    private var start: TransactionStart {
        TransactionStart(deadline: loop.now + Self.transactionTimeout, moment: moment)
    }

    /// Arms the timer that both queues share. It is not rescheduled for each transaction: when it fires, it checks the
    /// oldest.
    private func armTimer() {
        guard timer == nil,
            let first = [requests.current?.start.deadline, indications.current?.start.deadline]
                .compactMap(\.self).min()
        else { return }
        timer = loop.schedule(at: first) { [weak self] in
            guard let self else { return }
            timer = nil
            assert(closure == nil, "a timer of a closed bearer")
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

    private func offerRoom() {
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

// MARK: - Client

extension ATTBearer {
    /// Sends a request once the requests before it have completed. Calls `completion` exactly once, with the matching
    /// response and the moment at which it began to arrive.
    package func request(
        _ request: consuming ATTPDU,
        completion: @escaping (Result<ATTPDU, ATTBearerError>, _ moment: LinkMoment) -> Void
    ) {
        if let closure { return completion(.failure(.closed(closure)), moment) }
        let pdu = request.encoded()
        guard pdu.count <= mtu else { return completion(.failure(.requestTooLong(length: pdu.count)), moment) }
        let opcode = ATTOpcode(rawValue: pdu[0])
        switch requests.add(pdu, (opcode, completion), start: start) {
        case .send(let pdu):
            channel.send(pdu)
            armTimer()
        case .waits: break
        case .full: completion(.failure(.queueFull), moment)
        }
    }

    /// Negotiates the MTU with the peer (Core Vol 3 Part F 3.4.2).
    ///
    /// A bearer exchanges once. If either side has already done so, this method completes with the MTU in force. A peer
    /// that does not support the request leaves the MTU at 23.
    package func exchangeMTU(completion: @escaping (Result<Int, ATTBearerError>) -> Void) {
        if let closure { return completion(.failure(.closed(closure))) }
        if hasExchangedMTU { return completion(.success(mtu)) }
        exchangeWaiters.append(completion)
        guard exchangeWaiters.count == 1 else { return }
        request(.exchangeMTURequest(ATTExchangeMTURequest(mtu: UInt16(preferredMTU)))) { [weak self] result, _ in
            self?.finishExchange(result)
        }
    }

    private func finishExchange(_ result: Result<ATTPDU, ATTBearerError>) {
        let waiters = exchangeWaiters
        exchangeWaiters = []
        switch result {
        case .failure(.response(let error)) where error.code == .requestNotSupported: hasExchangedMTU = true
        case .failure(let error):
            waiters.forEach { $0(.failure(error)) }
            return offerRoom()
        case .success: break
        }
        for waiter in waiters { waiter(.success(mtu)) }
        offerRoom()
    }

    /// Sends a Write Command. A value longer than ``maximumValueLength`` is truncated (behaviour 5.11).
    ///
    /// - Returns: False if there is no room. Nothing is sent then, and ``onCommandRoom`` is called later.
    package func write(_ value: consuming PacketBuffer, withoutResponseTo handle: UInt16) -> Bool {
        guard askForCommandRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        channel.send(ATTPDU.frame(.writeCommand, handle, value))
        return true
    }
}

extension ATTBearer {
    /// Sends a Signed Write Command (Core Vol 3 Part F 3.4.5.4). Returns false if there is no room, if the PDU exceeds
    /// the MTU, or if this is an enhanced bearer.
    package func write(_ command: ATTSignedWriteCommand) -> Bool {
        guard !isEnhanced, askForCommandRoom() else { return false }
        let pdu = command.framed()
        guard pdu.count <= mtu else { return false }
        channel.send(pdu)
        return true
    }
}

// MARK: - Server

extension ATTBearer {
    /// Sends a notification. A value longer than ``maximumValueLength`` is truncated (behaviour 7.44).
    ///
    /// - Parameter mayJoin: Whether the peer supports Multiple Handle Value Notifications. A value that would have to
    ///   wait for the controller is then batched with others.
    /// - Returns: False if there is no room. Nothing is sent then, and ``onNotificationRoom`` is called later.
    package func notify(_ value: consuming PacketBuffer, of handle: UInt16, mayJoin: Bool = false) -> Bool {
        guard askForNotificationRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        if mayJoin, channel.queuedPDUs > 0, JoinedNotifications().fits(value, mtu: mtu) {
            join(value, of: handle)
            return true
        }
        sendJoined()
        channel.send(ATTPDU.frame(.handleValueNotification, handle, value))
        return true
    }

    /// Notifies the peer of several values in as few PDUs as possible (Core Vol 3 Part F 3.4.7.4).
    ///
    /// Call this only if the peer supports Multiple Handle Value Notifications and ``askForNotificationRoom()`` has
    /// returned true.
    package func notify(_ values: [(handle: UInt16, value: PacketBuffer)]) {
        guard closure == nil else { return }
        for (handle, value) in values {
            if JoinedNotifications().fits(value, mtu: mtu) {
                join(value, of: handle)
            } else {
                sendJoined()
                channel.send(ATTPDU.frame(.handleValueNotification, handle, value.prefix(upTo: maximumValueLength)))
            }
        }
        sendJoined()
    }

    private func join(_ value: PacketBuffer, of handle: UInt16) {
        if !joined.fits(value, mtu: mtu) { sendJoined() }
        joined.add(value, of: handle, behind: channel.queuedPDUs)
    }

    private func sendJoined() {
        guard !joined.isEmpty, let pdu = joined.take() else { return }
        channel.send(pdu)
    }

    /// Sends an indication once the indications before it are confirmed.
    ///
    /// - Parameter completion: Called exactly once, when the peer has confirmed or the bearer is closed. Not called if
    ///   this method returns false.
    /// - Returns: False if there is no room; ``onNotificationRoom`` is called later.
    package func indicate(
        _ value: consuming PacketBuffer,
        of handle: UInt16,
        completion: @escaping (Result<Void, ATTBearerError>) -> Void
    ) -> Bool {
        guard askForNotificationRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        sendJoined()
        let pdu = ATTPDU.frame(.handleValueIndication, handle, value)
        switch indications.add(pdu, completion, start: start) {
        case .send(let pdu):
            channel.send(pdu)
            armTimer()
        case .waits: break
        case .full: return false
        }
        return true
    }

    /// Sends the response for `turn` and serves the queued requests. A second response for the same turn is dropped.
    func answer(turn: UInt64, _ pdu: consuming PacketBuffer) {
        guard case .open = state, peerRequests.finish(turn: turn) else { return }
        channel.send(pdu)
        serveNext()
    }

    private func serveNext() {
        while let (request, turn) = peerRequests.next() { serve(request, turn: turn) }
    }
}

// MARK: - Transactions of both sides

extension ATTBearer {
    func finishRequest(_ result: Result<ATTPDU, ATTBearerError>, _ moment: LinkMoment) {
        let (finished, next) = requests.finish(nextStart: start)
        if let next {
            channel.send(next)
            armTimer()
        }
        finished?.completion(result, moment)
    }

    /// Completes the outstanding indication, unless the confirmation began to arrive before the indication was sent.
    func receiveConfirmation(_ payload: PacketBuffer, _ moment: LinkMoment) {
        guard payload.count == 1, let indication = indications.current, moment > indication.start.moment else { return }
        let (finished, next) = indications.finish(nextStart: start)
        if let next {
            channel.send(next)
            armTimer()
        }
        finished?(.success(()))
        offerRoom()
    }

    /// Sends the confirmation of an indication, unless the peer does not drain the answers before.
    func confirm() {
        guard takesAnswers else { return close(.tooManyRequests) }
        channel.send(ATTHandleValueConfirmation().framed())
    }

    /// Whether another answer may be queued. False when the peer does not drain the ones before (AB-A06).
    private var takesAnswers: Bool { channel.queuedPDUs < L2CAPConnection.maximumQueuedAnswers }

    func receiveRequest(_ payload: PacketBuffer, _ moment: LinkMoment) {
        guard takesAnswers, peerRequests.add((payload, moment)) else { return close(.tooManyRequests) }
        serveNext()
    }

    /// Answers the exchange before applying the new MTU, which is valid for the PDUs after the response (Vol 3 Part F
    /// 3.4.2.2).
    func serveExchange(_ request: ATTExchangeMTURequest, _ reply: ATTReply) {
        let hasChanged = agree(onMTU: Int(request.mtu))
        reply.send(.exchangeMTUResponse(ATTExchangeMTUResponse(mtu: UInt16(preferredMTU))))
        if hasChanged { onMTUChange?(mtu) }
    }

    /// Applies the result of an exchange, and returns whether the MTU changed. Values below 23 are treated as 23, and
    /// only the first exchange has an effect (AB-A04).
    func agree(onMTU peer: Int) -> Bool {
        guard !hasExchangedMTU else { return false }
        hasExchangedMTU = true
        let before = mtu
        mtu = max(Self.defaultMTU, min(peer, preferredMTU))
        return mtu != before
    }
}

/// An error of an operation on a bearer.
package enum ATTBearerError: Error, Hashable, Sendable {
    case response(ATTErrorResponse)
    case malformedResponse(ATTOpcode, PacketError)
    case oversizedResponse(ATTOpcode, length: Int)
    case requestTooLong(length: Int)
    case queueFull
    case closed(ATTBearerClosure)
}

/// The reason why a bearer closed. Disconnect the link for any reason other than ``linkLost`` and ``local``.
package enum ATTBearerClosure: Hashable, Sendable {
    /// The channel closed, in general because the link was lost.
    case linkLost
    case local
    /// The peer did not answer a request within ``ATTBearer/transactionTimeout`` (Core Vol 3 Part F 3.3.3).
    case requestTimeout
    /// The peer did not confirm an indication within ``ATTBearer/transactionTimeout``.
    case indicationTimeout
    /// The peer queued too many requests, or does not drain the answers (AB-A06).
    case tooManyRequests

    /// Whether the peer violated the protocol, so that the link should be disconnected.
    package var isFailure: Bool { self != .linkLost && self != .local }
}

/// Notified values being batched into one PDU (Core Vol 3 Part F 3.4.7.4).
struct JoinedNotifications {
    private var entries: [ATTMultipleHandleValueNotification.Entry] = []
    private var octets = 1
    // The PDUs that were queued before the batch and must be sent before it.
    private var ahead = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Whether the PDUs queued before the batch have been sent.
    var isDue: Bool { !isEmpty && ahead <= 0 }

    /// Whether the value fits into the batch as a whole. Batched values must not be truncated.
    func fits(_ value: PacketBuffer, mtu: Int) -> Bool { octets + 4 + value.count <= mtu }

    /// Adds a value. For the first value, `waiting` is the number of PDUs queued ahead of the batch.
    mutating func add(_ value: PacketBuffer, of handle: UInt16, behind waiting: Int) {
        if isEmpty { ahead = waiting }
        octets += 4 + value.count
        entries.append(.init(handle: handle, value: value))
    }

    /// Records that the controller has accepted a PDU.
    mutating func pduLeft() {
        ahead -= 1
    }

    /// Encodes and removes the batched values. A single value becomes an ordinary notification.
    mutating func take() -> PacketBuffer? {
        defer { self = JoinedNotifications() }
        guard let first = entries.first else { return nil }
        if entries.count == 1 { return ATTPDU.frame(.handleValueNotification, first.handle, first.value) }
        return ATTMultipleHandleValueNotification(entries).framed(capacity: octets)
    }
}
