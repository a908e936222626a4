import BluetoothTypes

/// A credit-based channel that is open: whole SDUs both ways, each end telling the other how much it may send (Core Vol
/// 3 Part A 10.1 and 10.2).
///
/// Back-pressure goes both ways: ``offer(_:)`` says when too much waits, and ``onDrain`` when there is room; an app that
/// sets ``isPaused`` gives the peer no more credits. The connection keeps the channel until it is closed.
package final class L2CAPCreditBasedChannel: L2CAPChannel {
    /// Most SDUs that wait to be sent.
    package static let maximumQueuedSDUs = 32
    /// Frames that the link may have waiting before this channel keeps its own back, so that the fixed channels are not
    /// held up by it.
    static let maximumLinkQueue = 8

    /// The channel's number at this end.
    package let identifier: ChannelIdentifier
    /// The channel's number at the peer.
    package let peerIdentifier: ChannelIdentifier
    /// The service that the channel is for.
    package let spsm: SPSM
    /// How the channel was opened.
    package let mode: ChannelMode

    /// Takes each SDU that arrives, and the moment at which its first frame began to.
    package var onReceive: ((_ payload: PacketBuffer, _ moment: LinkMoment) -> Void)?
    /// Called once when the channel is gone; ``closure`` says why.
    package var onClose: (() -> Void)?
    /// Called when an SDU that had to wait has left the channel's queue, so that there is room for another.
    package var onDrain: (() -> Void)?
    /// Called when the peer has changed ``peerMTU`` or the length of the frames that it takes.
    package var onReconfigure: (() -> Void)?

    /// Why the channel is gone, nil while it is open.
    package private(set) var closure: ChannelClosure?

    /// The connection that the channel is on; nil when the channel is gone.
    package private(set) weak var connection: L2CAPConnection?

    private weak var server: ChannelServer?
    private var receiver: FrameReceiver
    private var sender: FrameSender
    private var isPumping = false

    init(_ opened: SignallingMachine.OpenedChannel, server: ChannelServer?, connection: L2CAPConnection) {
        identifier = opened.own
        peerIdentifier = opened.peer.identifier
        spsm = opened.spsm
        mode = opened.mode
        receiver = FrameReceiver(opened.parameters)
        sender = FrameSender(mtu: opened.peer.mtu, mps: opened.peer.mps, credits: opened.peer.credits)
        self.server = server
        self.connection = connection
    }

    /// The longest SDU that this end takes, in octets.
    package var mtu: Int { receiver.mtu }
    /// The longest SDU that the peer takes, in octets.
    package var peerMTU: Int { sender.mtu }
    /// The longest payload of a frame that this end takes, in octets.
    package var mps: Int { receiver.mps }
    /// The longest payload of a frame that the peer takes, in octets.
    package var peerMPS: Int { sender.mps }
    /// SDUs of which something waits, for the controller or for credits.
    package var queuedPDUs: Int { sender.queuedSDUs }
    /// The present moment of the link.
    package var moment: LinkMoment { connection?.moment ?? .first }
    /// Whether another SDU would be taken.
    package var hasRoom: Bool { closure == nil && sender.queuedSDUs < Self.maximumQueuedSDUs }

    /// Whether SDUs are kept back. The peer gets no credits then and has to stop after those that it has.
    package var isPaused: Bool {
        get { receiver.isPaused }
        set {
            receiver.isPaused = newValue
            guard !newValue else { return }
            while closure == nil, let held = receiver.nextHeld() { onReceive?(held.sdu, held.moment) }
            giveCredits()
        }
    }

    /// Queues an SDU. An SDU that nobody else holds is not copied when it fits one frame.
    package func offer(_ sdu: consuming PacketBuffer) throws(ChannelSendError) {
        guard closure == nil else { throw .closed }
        guard sdu.count <= sender.mtu else { throw .tooLong(limit: sender.mtu) }
        guard hasRoom else { throw .full }
        sender.add(sdu)
        // Whoever offers looks at ``hasRoom`` afterwards, and is not called from within.
        pump(tellsOfRoom: false)
    }

    /// Queues an SDU, for a protocol that keeps to ``peerMTU`` and looks at ``queuedPDUs``. One that does not loses
    /// the channel rather than an SDU.
    package func send(_ payload: consuming PacketBuffer) {
        do {
            try offer(payload)
        } catch {
            if error != .closed { connection?.disconnect(self, because: .overflow) }
        }
    }

    /// Closes the channel. What waits is not sent any more; whoever wants it sent waits for ``queuedPDUs`` to be 0.
    /// Nothing happens when the channel is gone.
    package func disconnect() {
        connection?.disconnect(self, because: .local)
    }
}

// MARK: - For the connection

extension L2CAPCreditBasedChannel {
    func receive(_ frame: PacketBuffer, at moment: LinkMoment) {
        guard closure == nil else { return }
        switch receiver.receive(frame, at: moment) {
        case .none: break
        case .sdu(let sdu, let moment): onReceive?(sdu, moment)
        case .violation(let violation): connection?.disconnect(self, because: .violation(violation))
        }
        giveCredits()
    }

    func take(credits: UInt16) {
        guard closure == nil else { return }
        guard sender.add(credits) else {
            connection?.disconnect(self, because: .violation(.creditOverflow))
            return
        }
        pump(tellsOfRoom: true)
    }

    /// The peer takes other sizes.
    func reconfigure(peerMTU: Int, peerMPS: Int) {
        sender.mtu = peerMTU
        sender.mps = peerMPS
        onReconfigure?()
    }

    /// This end takes other sizes.
    func accept(mtu: Int, mps: Int) {
        receiver.mtu = mtu
        receiver.mps = mps
    }

    /// Sends what credits and the link allow.
    private func pump(tellsOfRoom: Bool) {
        // Whoever is told of room may send, from within.
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while let connection, connection.queuedPDUs < Self.maximumLinkQueue, sendFrame(tellsOfRoom: tellsOfRoom) {}
    }

    /// Sends one frame, when there is one and a credit for it.
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
        // What was there in whole before the peer left, was lost or broke a rule is not lost with it. Whoever has closed the
        // channel himself wants no more.
        if closure != .local { for held in receiver.takeHeld() { onReceive?(held.sdu, held.moment) } }
        let handler = onClose
        onReceive = nil
        onClose = nil
        onDrain = nil
        onReconfigure = nil
        connection = nil
        handler?()
    }

    private func giveCredits() {
        guard closure == nil, let connection, let credits = receiver.takeGrant() else { return }
        connection.give(credits: credits, to: self)
    }
}
