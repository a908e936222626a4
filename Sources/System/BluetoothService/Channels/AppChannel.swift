import BluetoothTypes
import EventLoops
import Foundation
import L2CAP
import ServiceMessages

/// One L2CAP channel of an app: connects the credit-based channel of the link with the app's streams. Used on the event
/// loop.
final class AppChannel {
    /// The SDUs queued in the L2CAP channel: enough to keep it busy. The rest waits in the relay, counted in octets.
    static let maximumQueuedSDUs = 4
    /// The longest SDU that is made of the app's octets.
    static let longestSDU = 2_048
    /// How long sending the app's last octets may take after the app has closed the channel.
    static let closingTime = Duration.seconds(10)
    /// The parameters of this end. The peer can send nearly 16 kB ahead of an app that does not read.
    static let parameters = ChannelParameters(mtu: longestSDU, mps: 247, window: 64)

    let peer: UUID
    var onEvent: ((ChannelEvent) -> Void)?
    /// Called once, after the last event.
    var onEnd: (() -> Void)?

    private let channel: L2CAPCreditBasedChannel
    private let loop: any EventLoop
    private var relay = ChannelRelay()
    private var timer: ScheduledTask?
    private var isPumping = false

    init(_ channel: L2CAPCreditBasedChannel, of peer: UUID, loop: any EventLoop) {
        self.channel = channel
        self.peer = peer
        self.loop = loop
        channel.onReceive = { [weak self] sdu, _ in self?.handle(.received(sdu)) }
        channel.onDrain = { [weak self] in self?.pump() }
        channel.onClose = { [weak self, weak channel] in
            self?.handle(.gone(channel?.closure.flatMap { ServiceError($0) }))
        }
    }

    func handle(_ request: ChannelRequest) {
        switch request {
        case .grant(let count): handle(.granted(count))
        case .send(let octets): handle(.sent(octets))
        case .close: handle(.closed)
        }
        pump()
    }

    /// Closes the channel. The app can still read what arrived before.
    func disconnect() {
        channel.disconnect()
    }

    private func handle(_ event: ChannelRelay.Event) {
        for action in relay.handle(event) {
            switch action {
            case .report(let event): onEvent?(event)
            case .pause(let isPaused): channel.isPaused = isPaused
            case .disconnect: channel.disconnect()
            case .startTimer:
                timer = loop.schedule(after: Self.closingTime) { [weak self] in
                    self?.timer = nil
                    self?.handle(.timedOut)
                }
            case .endTimer: if let timer = timer.take() { loop.cancel(timer) }
            case .forget: onEnd.take()?()
            }
        }
    }

    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        var count = 0
        while channel.closure == nil, channel.queuedPDUs < Self.maximumQueuedSDUs,
            let sdu = relay.nextSDU(limit: min(channel.peerMTU, Self.longestSDU))
        {
            count += sdu.count
            channel.send(sdu)
        }
        if count > 0, relay.phase == .open { onEvent?(.room(count)) }
        if channel.queuedPDUs == 0 { handle(.drained) }
    }
}

extension ServiceError {
    /// The error that closed a channel; nil after an orderly end (behaviour 8.8).
    fileprivate init?(_ closure: ChannelClosure) {
        switch closure {
        case .local, .peer, .linkLost: return nil
        case .violation(let violation):
            self.init(.unknown, reason: "the peer violated the channel protocol: \(violation)")
        case .overflow: self.init(.outOfSpace, reason: "the send queue of the channel overflowed")
        }
    }
}
