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
        (lastAuthenticated, hasPinged) = (loop.now, false)
        return opened
    }

    // MARK: Authenticated payload timeout (5.4)

    /// Begins to count from now.
    func watchPayloads() {
        if let payloadTimer { loop.cancel(payloadTimer) }
        payloadTimer = nil
        guard receiveCipher != nil, control.setup.features.contains(.ping) else { return }
        (lastAuthenticated, hasPinged) = (loop.now, false)
        watchOn()
    }

    private var payloadTimeout: Duration { .milliseconds(Int64(authenticatedPayloadTimeout) * 10) }

    /// When the peer has to be asked, or it is too late. An authenticated packet moves it without touching the timer.
    private var payloadDeadline: Instant {
        let expiry = lastAuthenticated + payloadTimeout
        if hasPinged { return expiry }
        let events = control.timing.intervalMicroseconds * (Int64(control.timing.latency) + Self.pingEvents)
        return expiry - .microseconds(min(events, payloadTimeout.microseconds / 2))
    }

    private func watchOn() {
        payloadTimer = loop.schedule(at: payloadDeadline) { [unowned self] in
            payloadTimer = nil
            let isDue = payloadDeadline <= loop.now
            if isDue, hasPinged {
                (lastAuthenticated, hasPinged) = (loop.now, false)
                owner.linkIsSilent(self)
            } else if isDue {
                hasPinged = true
                if ending == nil { _ = request(.ping) }
            }
            // The link may have ended meanwhile.
            if supervision != nil, receiveCipher != nil, payloadTimer == nil { watchOn() }
        }
    }
}
