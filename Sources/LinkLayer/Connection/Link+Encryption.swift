import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// The PDUs of an encrypted link, and the time that may pass without one.
extension Link {
    /// Connection events, besides those that the peripheral may skip, that LE Ping has before its time is over.
    static let pingEvents: Int64 = 6

    /// Octets that encryption adds to what is sent.
    var sealOctets: Int { transmitCipher == nil ? 0 : CCM.codeLength }
    /// Octets that it adds to what comes.
    var openOctets: Int { receiveCipher == nil ? 0 : CCM.codeLength }

    /// What a new PDU looks like on the air; nil when the session has come to its end.
    func seal(_ outgoing: TransmitQueue.Outgoing) -> PacketBuffer? {
        transmitCipher?.seal(outgoing.payload, header: outgoing.content.rawValue)
    }

    /// What a new PDU says; nil when it is forged (Core Vol 6 Part B 5.1.3; AB-L08). Empty PDUs are as they are.
    func open(_ header: DataHeader, _ payload: PacketBuffer) -> PacketBuffer? {
        guard receiveCipher != nil, !payload.isEmpty else { return payload }
        guard let opened = receiveCipher?.open(payload, header: header.authenticated) else { return nil }
        payloadWatch.heard(at: loop.now)
        return opened
    }

    // MARK: Authenticated payload timeout (5.4)

    /// What is known of a peer that has to prove again and again that it has the key.
    enum PayloadWatch {
        case off
        /// An authenticated packet came last then, or its absence was told; and whether the peer has been asked for one since.
        case on(since: Instant, hasPinged: Bool, ScheduledTask)

        /// An authenticated packet has come, which moves the deadline without touching the timer.
        mutating func heard(at now: Instant) {
            if case .on(_, _, let timer) = self { self = .on(since: now, hasPinged: false, timer) }
        }

        var timer: ScheduledTask? {
            if case .on(_, _, let timer) = self { return timer }
            return nil
        }
    }

    /// Begins to count from now.
    func watchPayloads() {
        if let timer = payloadWatch.timer { loop.cancel(timer) }
        payloadWatch = .off
        guard receiveCipher != nil, control.setup.features.contains(.ping) else { return }
        watchPayloads(since: loop.now, hasPinged: false)
    }

    private func watchPayloads(since last: Instant, hasPinged: Bool) {
        let timer = loop.schedule(at: payloadDeadline(since: last, hasPinged)) { [unowned self] in payloadIsDue() }
        payloadWatch = .on(since: last, hasPinged: hasPinged, timer)
    }

    /// When the peer has to be asked, or it is too late.
    private func payloadDeadline(since last: Instant, _ hasPinged: Bool) -> Instant {
        let timeout = Duration.milliseconds(Int64(authenticatedPayloadTimeout) * 10)
        if hasPinged { return last + timeout }
        let events = control.timing.intervalMicroseconds * (Int64(control.timing.latency) + Self.pingEvents)
        return last + timeout - .microseconds(min(events, timeout.microseconds / 2))
    }

    private func payloadIsDue() {
        guard case .on(let last, let hasPinged, _) = payloadWatch else { return }
        guard payloadDeadline(since: last, hasPinged) <= loop.now else {
            return watchPayloads(since: last, hasPinged: hasPinged)
        }
        watchPayloads(since: hasPinged ? loop.now : last, hasPinged: !hasPinged)
        if hasPinged {
            owner.linkIsSilent(self)
        } else if ending == nil {
            _ = request(.ping)
        }
    }
}
