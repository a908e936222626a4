import BluetoothTypes
import EventLoops
import Foundation
import L2CAP

/// One channel of an app: a credit-based channel of the link below, and the app's streams above. Lives on the loop.
final class AppChannel {
    /// SDUs that wait in the channel: as many as keep it busy, and the rest waits here, where it is counted in octets.
    static let maximumQueuedSDUs = 4
    /// The longest SDU that is made of what an app sends.
    static let longestSDU = 2_048
    /// How long an app's last octets may take after it has closed the channel.
    static let closingTime = Duration.seconds(10)
    /// What this end takes: nearly 16 kB ahead of an app that does not read.
    static let parameters = ChannelParameters(mtu: longestSDU, mps: 247, window: 64)

    /// The device at the other end.
    let peer: UUID
    /// Takes what the app is told.
    var tell: ((ChannelEvent) -> Void)?
    /// Called once when nothing more comes of it.
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

    /// The app asks for something.
    func handle(_ request: ChannelRequest) {
        switch request {
        case .grant(let count): handle(.granted(count))
        case .send(let octets): handle(.sent(octets))
        case .close: handle(.closed)
        }
        pump()
    }

    /// Closes the channel. The app reads what came before.
    func disconnect() {
        channel.disconnect()
    }

    private func handle(_ event: ChannelRelay.Event) {
        for action in relay.handle(event) {
            switch action {
            case .tell(let event): tell?(event)
            case .pause(let isPaused): channel.isPaused = isPaused
            case .disconnect: channel.disconnect()
            case .startTimer:
                timer = loop.schedule(after: Self.closingTime) { [weak self] in
                    self?.timer = nil
                    self?.handle(.timedOut)
                }
            case .endTimer:
                if let timer { loop.cancel(timer) }
                timer = nil
            case .forget:
                let handler = onEnd
                onEnd = nil
                handler?()
            }
        }
    }

    /// Gives the channel what it has room for.
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
        if count > 0, relay.phase == .open { tell?(.room(count)) }
        if channel.queuedPDUs == 0 { handle(.drained) }
    }
}

extension ServiceError {
    /// Why a channel is gone; nil when it has ended in order (behaviour 8.8).
    fileprivate init?(_ closure: ChannelClosure) {
        switch closure {
        case .local, .peer, .linkLost: return nil
        case .violation(let violation):
            self.init(.unknown, reason: "the peer has broken a rule of channels: \(violation)")
        case .overflow: self.init(.outOfSpace, reason: "more was sent than may wait")
        }
    }
}
