import BluetoothTypes
import EventLoops
import L2CAP

/// The enhanced bearers of one link: opened from here or by the peer, each on its own credit-based channel (Core Vol 3
/// Part F 3.2.11 and Part G 5.3).
///
/// The specification wants the link encrypted. What ``L2CAPConnection/protection`` says decides: before that, nothing
/// is opened, and what the peer opens is refused.
package final class EnhancedBearers {
    /// Most bearers of one link, whoever opened them: as many as one request may open (Vol 3 Part A 4.25).
    package static let maximumBearers = 5
    /// What the link has to fulfil.
    package static let requirement = SecurityLevel.encrypted.with(keySize: 16)
    /// What this end takes on each channel: a value of full length in one PDU, a few of them ahead.
    package static let parameters = ChannelParameters(mtu: 517, mps: 247, window: 8)

    /// Called with each bearer that is open; nothing has been received on it yet.
    package var onOpen: ((ATTBearer) -> Void)?
    /// Called once with each bearer that is closed, except when this object closed it.
    package var onClose: ((ATTBearer, ATTBearerClosure) -> Void)?
    /// The bearers that are open, in the order of their opening.
    package var bearers: [ATTBearer] { known.filter { $0.closure == nil } }

    let connection: L2CAPConnection
    // Whoever closes a bearer need not say so here.
    private var known: [ATTBearer] = []
    private let loop: any EventLoop
    private weak var listener: EnhancedBearerListener?
    private var machine: EnhancedBearerMachine
    private var timer: ScheduledTask?
    private var completion: ((ChannelOpenError?) -> Void)?
    private var isClosed = false

    /// The enhanced bearers of `connection`.
    ///
    /// - Parameter listener: where those that the peer opens come in; without it the peer opens none.
    package init(connection: L2CAPConnection, loop: any EventLoop, listener: EnhancedBearerListener? = nil) {
        self.connection = connection
        self.loop = loop
        self.listener = listener
        machine = EnhancedBearerMachine(role: connection.role)
        listener?.add(self)
    }

    /// Tells the connection's parameters, on which a peripheral's wait after a collision depends (Vol 3 Part G 5.4).
    ///
    /// - Parameters:
    ///   - interval: the connection interval.
    ///   - latency: connection events that the peripheral may leave out.
    package func linkTiming(interval: Duration, latency: Int) {
        machine.linkDelay = interval * 2 * (latency + 1)
    }

    /// Whether the link is protected as enhanced bearers want it (Vol 3 Part G 5.3).
    package var mayOpen: Bool { connection.protection.channelRefusal(of: Self.requirement) == nil }

    /// Opens as many bearers as are missing to `count`, of at most ``maximumBearers``. `completion` is called exactly
    /// once: with nil when there are as many, or some and the peer has no room for more, else with the reason.
    ///
    /// A wish while another is under way is `noResources`, one on a link that is not encrypted `notAllowed`.
    package func open(_ count: Int, completion: @escaping (ChannelOpenError?) -> Void) {
        guard !isClosed else { return completion(.closed) }
        guard mayOpen else { return completion(.notAllowed) }
        guard !machine.isBusy else { return completion(.noResources) }
        self.completion = completion
        perform(machine.handle(.want(min(count, Self.maximumBearers), open: bearers.count)))
    }

    /// Closes all bearers and takes no more.
    package func close() {
        isClosed = true
        listener?.remove(self)
        listener = nil
        stopTimer()
        let closing = known
        known = []
        for bearer in closing { bearer.close() }
        finish(.closed)
    }

    private func perform(_ actions: [EnhancedBearerMachine.Action]) {
        for action in actions {
            switch action {
            case .request(let count): request(count)
            case .wait(let delay):
                timer = loop.schedule(after: delay) { [weak self] in
                    guard let self else { return }
                    timer = nil
                    perform(machine.handle(.due(open: bearers.count)))
                }
            case .finished(let error): finish(error)
            }
        }
    }

    private func request(_ count: Int) {
        connection.openEnhancedChannels(count, on: .enhancedAttribute, parameters: Self.parameters) { [weak self] in
            self?.answered($0)
        }
    }

    private func answered(_ result: Result<L2CAPConnection.EnhancedChannels, ChannelOpenError>) {
        switch result {
        case .success(let opened) where isClosed:
            for channel in opened.channels { channel.disconnect() }
        case .success(let opened):
            for channel in opened.channels { add(channel) }
            perform(machine.handle(.answered(nil, open: bearers.count)))
        case .failure(let error): perform(machine.handle(.answered(error, open: bearers.count)))
        }
    }

    private func finish(_ error: ChannelOpenError?) {
        let handler = completion
        completion = nil
        handler?(error)
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// A bearer on a channel that is open. Its MTU is the smaller of what both ends take (Vol 3 Part G 5.3.1).
    func add(_ channel: L2CAPCreditBasedChannel) {
        let mtu = { [unowned channel] in min(channel.mtu, channel.peerMTU) }
        let bearer = ATTBearer(channel: channel, loop: loop, preferredMTU: mtu(), isEnhanced: true)
        channel.onReconfigure = { [weak bearer] in bearer?.channelMTUChanged(to: mtu()) }
        bearer.onClose = { [weak self, weak bearer] closure in
            guard let self, let bearer else { return }
            known.removeAll { $0 === bearer }
            onClose?(bearer, closure)
        }
        known = bearers + [bearer]
        onOpen?(bearer)
    }
}
