import BluetoothTypes
import EventLoops
import L2CAP

/// The enhanced bearers of one link, opened by either side, each on its own credit-based channel (Core Vol 3 Part F
/// 3.2.11 and Part G 5.3).
///
/// The specification requires an encrypted link. While ``L2CAPConnection/linkSecurity`` does not satisfy
/// ``requirement``, no bearer is opened and those that the peer opens are refused.
package final class EnhancedBearers {
    /// The maximum number of bearers per link, whichever side opens them: as many as one request may open (Vol 3 Part A
    /// 4.25).
    package static let maximumBearers = 5
    /// The security that a link must have.
    package static let requirement = SecurityLevel.encrypted.with(keySize: 16)
    /// The channel parameters of this end: an MTU for a value of full length in one PDU, and a window of a few such
    /// PDUs.
    package static let parameters = ChannelParameters(mtu: 517, mps: 247, window: 8)

    /// Called with each bearer that opens, before it receives its first PDU.
    package var onOpen: ((ATTBearer) -> Void)?
    /// Called once with each bearer that closes, except by ``close()`` or ``ATTBearer/close()``.
    package var onClose: ((ATTBearer, ATTBearerClosure) -> Void)?
    /// The open bearers, oldest first.
    package var bearers: [ATTBearer] { known.filter { $0.closure == nil } }

    let connection: L2CAPConnection
    // May contain bearers that their owners have closed; `bearers` filters them out.
    private var known: [ATTBearer] = []
    private let loop: any EventLoop
    private weak var listener: EnhancedBearerListener?
    private var machine: EnhancedBearerMachine
    private var timer: ScheduledTask?
    private var completion: ((ChannelOpenError?) -> Void)?
    private var isClosed = false

    /// Without `listener` the peer cannot open any bearer.
    package init(connection: L2CAPConnection, loop: any EventLoop, listener: EnhancedBearerListener? = nil) {
        self.connection = connection
        self.loop = loop
        self.listener = listener
        machine = EnhancedBearerMachine(role: connection.role)
        listener?.add(self)
    }

    /// Updates the connection parameters, which determine a peripheral's wait after a collision (Vol 3 Part G 5.4). The
    /// `latency` is in connection events.
    package func linkTiming(interval: Duration, latency: Int) {
        machine.linkDelay = interval * 2 * (latency + 1)
    }

    /// Whether the link is secure enough for enhanced bearers (Vol 3 Part G 5.3).
    package var mayOpen: Bool { connection.linkSecurity.channelRefusal(of: Self.requirement) == nil }

    /// Opens bearers until there are `count`, at most ``maximumBearers``.
    ///
    /// - Parameter completion: Called exactly once. The error is nil if `count` bearers are open, or some are and the
    ///   peer has no room for more. It is `noResources` if an earlier call is still pending, and `notAllowed` if the
    ///   link is not sufficiently encrypted.
    package func open(_ count: Int, completion: @escaping (ChannelOpenError?) -> Void) {
        guard !isClosed else { return completion(.closed) }
        guard mayOpen else { return completion(.notAllowed) }
        guard !machine.isBusy else { return completion(.noResources) }
        self.completion = completion
        perform(machine.handle(.want(min(count, Self.maximumBearers), open: bearers.count)))
    }

    /// Closes all bearers and refuses new ones.
    package func close() {
        isClosed = true
        listener?.remove(self)
        listener = nil
        if let timer = timer.take() { loop.cancel(timer) }
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

    /// Creates a bearer on an open channel. Its MTU is the smaller of the two ends' MTUs (Vol 3 Part G 5.3.1).
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
