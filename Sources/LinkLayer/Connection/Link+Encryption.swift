import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// Encryption of a link's PDUs, and the authenticated payload timeout.
extension Link {
    /// The number of connection events, beyond the peripheral latency, that LE Ping has before the timeout.
    static let pingEvents: Int64 = 6

    /// The number of octets that encryption adds to sent payloads.
    var sealOctets: Int { transmitCipher == nil ? 0 : CCM.codeLength }
    /// The number of octets that encryption adds to received payloads.
    var openOctets: Int { receiveCipher == nil ? 0 : CCM.codeLength }

    /// Encrypts a new PDU; nil if the packet counter is exhausted or the link is not encrypted.
    func seal(_ outgoing: TransmitQueue.Outgoing) -> PacketBuffer? {
        transmitCipher?.seal(outgoing.payload, header: outgoing.content.rawValue)
    }

    /// Decrypts a new PDU; nil if it is forged (Core Vol 6 Part B 5.1.3; AB-L08). Empty PDUs are not encrypted.
    func open(_ header: DataHeader, _ payload: PacketBuffer) -> PacketBuffer? {
        guard receiveCipher != nil, !payload.isEmpty else { return payload }
        guard let opened = receiveCipher?.open(payload, header: header.authenticated) else { return nil }
        payloadWatch.heard(at: loop.now)
        return opened
    }

    // MARK: Authenticated payload timeout (5.4)

    /// The state of the authenticated payload timeout: the peer has to prove regularly that it holds the key.
    enum PayloadWatch {
        case off
        /// Running since the last authenticated packet or the last report of its absence. Also holds whether the peer
        /// has been pinged since.
        case on(since: Instant, hasPinged: Bool, ScheduledTask)

        /// Records an authenticated packet, which moves the deadline without rescheduling the timer.
        mutating func heard(at now: Instant) {
            if case .on(_, _, let timer) = self { self = .on(since: now, hasPinged: false, timer) }
        }

        var timer: ScheduledTask? {
            if case .on(_, _, let timer) = self { return timer }
            return nil
        }
    }

    /// Starts or restarts the timeout.
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

    /// Returns when the peer must be pinged or, if it has been, when the timeout expires.
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
