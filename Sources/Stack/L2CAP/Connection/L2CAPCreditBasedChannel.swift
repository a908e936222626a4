import BluetoothTypes

/// An open credit-based channel: whole SDUs in both directions, with credits for flow control (Core Vol 3 Part A 10.1
/// and 10.2).
///
/// Backpressure works both ways. ``offer(_:)`` throws when the queue is full, and ``onDrain`` is called when there is
/// room again. While ``isPaused`` is set, the peer gets no more credits.
///
/// The connection retains the channel until it closes. All methods and handlers run on the event loop.
package final class L2CAPCreditBasedChannel: L2CAPChannel {
    /// The maximum number of SDUs that can be queued for sending.
    package static let maximumQueuedSDUs = 32
    /// The length of the link's queue above which this channel holds back its frames, so that it does not delay the
    /// fixed channels.
    static let maximumLinkQueue = 8

    /// The security of the link at each of its moments.
    package let history: LinkHistory

    /// Called for each SDU, with the moment at which its first frame began to arrive.
    package var onReceive: ((_ payload: PacketBuffer, _ moment: LinkMoment) -> Void)?
    /// Called once, when the channel closes; ``closure`` has the reason.
    package var onClose: (() -> Void)?
    /// Called when an SDU that had to wait has left the queue, so that there is room for another.
    package var onDrain: (() -> Void)?
    /// Called when the peer has changed ``peerMTU`` or ``peerMPS``.
    package var onReconfigure: (() -> Void)?

    /// The reason why the channel was closed; nil while it is open.
    package private(set) var closure: ChannelClosure?

    /// The connection of the channel; nil once the channel is closed.
    package private(set) weak var connection: L2CAPConnection?

    private let opened: SignallingMachine.OpenedChannel
    private weak var server: ChannelServer?
    private var receiver: FrameReceiver
    private var sender: FrameSender
    private var isPumping = false

    init(_ opened: SignallingMachine.OpenedChannel, server: ChannelServer?, connection: L2CAPConnection) {
        self.opened = opened
        receiver = FrameReceiver(opened.parameters)
        sender = FrameSender(mtu: opened.peer.mtu, mps: opened.peer.mps, credits: opened.peer.credits)
        self.server = server
        self.connection = connection
        history = connection.history
    }

    package var identifier: ChannelIdentifier { opened.own }
    package var peerIdentifier: ChannelIdentifier { opened.peer.identifier }
    package var spsm: SPSM { opened.spsm }
    package var mode: ChannelMode { opened.mode }
    /// The longest SDU that this end accepts, in octets.
    package var mtu: Int { receiver.mtu }
    /// The longest SDU that the peer accepts, in octets.
    package var peerMTU: Int { sender.mtu }
    /// The longest frame payload that this end accepts, in octets.
    package var mps: Int { receiver.mps }
    /// The longest frame payload that the peer accepts, in octets.
    package var peerMPS: Int { sender.mps }
    /// The number of SDUs that wait, at least in part, for the controller or for credits.
    package var queuedPDUs: Int { sender.queuedSDUs }
    /// Whether another SDU can be queued.
    package var hasRoom: Bool { closure == nil && sender.queuedSDUs < Self.maximumQueuedSDUs }

    /// Whether received SDUs are held back. Meanwhile the peer gets no credits, and has to stop once its own are spent.
    package var isPaused: Bool {
        get { receiver.isPaused }
        set {
            receiver.isPaused = newValue
            guard !newValue else { return }
            while closure == nil, let held = receiver.nextHeld() { onReceive?(held.sdu, held.moment) }
            grantCredits()
        }
    }

    /// Queues an SDU. A uniquely referenced buffer that fits into one frame is not copied.
    ///
    /// - Throws: ``ChannelSendError`` if the channel is closed, the SDU exceeds ``peerMTU``, or the queue is full.
    package func offer(_ sdu: consuming PacketBuffer) throws(ChannelSendError) {
        guard closure == nil else { throw .closed }
        guard sdu.count <= sender.mtu else { throw .tooLong(limit: sender.mtu) }
        guard hasRoom else { throw .full }
        sender.add(sdu)
        // The caller checks ``hasRoom`` afterwards, so it must not be called back from inside this call.
        pump(tellsOfRoom: false)
    }

    /// Queues an SDU, for a protocol that respects ``peerMTU`` and ``queuedPDUs``.
    ///
    /// If the SDU is too long or the queue is full, the channel is closed, because a silently lost SDU would corrupt
    /// the protocol.
    package func send(_ payload: consuming PacketBuffer) {
        do {
            try offer(payload)
        } catch {
            if error != .closed { connection?.disconnect(self, because: .overflow) }
        }
    }

    /// Closes the channel; does nothing if it is already closed.
    ///
    /// Queued SDUs are dropped. To send them first, wait until ``queuedPDUs`` is 0.
    package func disconnect() {
        connection?.disconnect(self, because: .local)
    }
}

// MARK: - Interface to the connection

extension L2CAPCreditBasedChannel {
    func receive(_ frame: PacketBuffer, at moment: LinkMoment) {
        guard closure == nil else { return }
        switch receiver.receive(frame, at: moment) {
        case .none: break
        case .sdu(let sdu, let moment): onReceive?(sdu, moment)
        case .violation(let violation): connection?.disconnect(self, because: .violation(violation))
        }
        grantCredits()
    }

    func receive(credits: UInt16) {
        guard closure == nil else { return }
        guard sender.add(credits) else {
            connection?.disconnect(self, because: .violation(.creditOverflow))
            return
        }
        pump(tellsOfRoom: true)
    }

    /// Adopts the sizes that the peer now accepts.
    func reconfigure(peerMTU: Int, peerMPS: Int) {
        sender.mtu = peerMTU
        sender.mps = peerMPS
        onReconfigure?()
    }

    /// Adopts the sizes that this end now accepts.
    func accept(mtu: Int, mps: Int) {
        receiver.mtu = mtu
        receiver.mps = mps
    }

    /// Sends as many frames as the credits and the link allow.
    private func pump(tellsOfRoom: Bool) {
        // ``onDrain`` handlers may send, which re-enters this method.
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while let connection, connection.queuedPDUs < Self.maximumLinkQueue, sendFrame(tellsOfRoom: tellsOfRoom) {}
    }

    /// Sends one frame; returns false if there is none or no credit for it.
    func sendFrame(tellsOfRoom: Bool = true) -> Bool {
        guard closure == nil, let connection, let (frame, isLast) = sender.next() else { return false }
        connection.send(frame, on: peerIdentifier)
        if isLast, tellsOfRoom { onDrain?() }
        return true
    }

    func close(_ closure: ChannelClosure) {
        guard self.closure == nil else { return }
        self.closure = closure
        server?.remove(self)
        // SDUs that were complete when the peer closed the channel, violated a rule or was lost are still delivered. If
        // this end closed the channel, they are not wanted any more.
        if closure != .local { for held in receiver.takeHeld() { onReceive?(held.sdu, held.moment) } }
        let handler = onClose
        onReceive = nil
        onClose = nil
        onDrain = nil
        onReconfigure = nil
        connection = nil
        handler?()
    }

    private func grantCredits() {
        guard closure == nil, let connection, let credits = receiver.takeGrant() else { return }
        connection.grant(credits: credits, to: self)
    }
}
