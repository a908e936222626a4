import BluetoothTypes
import EventLoops
import HCI
import Radio

/// A pending request to connect to a device in a subevent of a train (Core Vol 4 Part E 7.8.66).
struct ConnectionWish {
    /// The subevent in which to send the connection request.
    var subevent: UInt8
    var command: LEExtendedCreateConnection
    /// The own address on the air.
    var own: OwnAddressParameters
}

/// The stage of a subevent.
enum SubeventStage {
    /// AUX_SYNC_SUBEVENT_IND is on the air.
    case sending(ResponseSlots)
    /// The next response slot begins when the timer fires.
    case pausing(ResponseSlots)
    /// Listening in a response slot.
    case listening(ResponseSlots)
    /// AUX_CONNECT_REQ is on the air.
    case requesting(ConnectIndication, ConnectionWish, channel: UInt8)
    /// AUX_CONNECT_REQ was sent, and AUX_CONNECT_RSP is expected.
    case awaiting(ConnectIndication, ConnectionWish, LinkStart)
}

/// The response slots of one subevent in which to listen.
struct ResponseSlots {
    /// When the subevent began.
    let origin: Instant
    /// The channel of the subevent, which its responses use as well.
    let channel: UInt8
    let timing: ResponseTiming
    /// The slots whose responses have not been recorded yet.
    var left: Range<UInt16>
    /// The responses received in the previous slots.
    var heard: [LEPeriodicResponse] = []

    /// The start of the next slot; nil after the last one.
    var next: Instant? {
        guard let slot = left.first else { return nil }
        return origin + .microseconds(timing.timing.start(ofSlot: UInt8(truncatingIfNeeded: slot)))
    }

    /// Records the response in the next slot.
    mutating func take(_ change: (inout LEPeriodicResponse) -> Void = { _ in }) {
        guard let slot = left.first else { return }
        left = slot + 1..<left.upperBound
        var response = LEPeriodicResponse(slot: UInt8(truncatingIfNeeded: slot))
        change(&response)
        heard.append(response)
    }
}

// Periodic advertising with responses (Core Vol 6 Part B 4.4.2.12).
extension PeriodicAdvertiser {
    /// The maximum number of subevents for which data are requested in advance; a command holds data for 15 (Core Vol 4
    /// Part E 7.8.125).
    static let maximumAhead: UInt8 = 15
    /// The maximum by which listening for a response starts earlier and ends later than the slot, in microseconds. It
    /// must not reach into the responses in the neighbouring slots.
    static let maximumWidening = LinkTiming.interFrameSpace / 2

    /// Returns the number of subevents for which data are requested in advance.
    private func ahead(_ responses: ResponseTiming) -> UInt8 { min(responses.timing.subevents, Self.maximumAhead) }

    func askForFirstData() {
        guard let responses else { return }
        owner.train(self, wantsDataFrom: 0, count: ahead(responses))
    }

    /// Ends the subevent, and requests data for another one.
    private func endSubevent() {
        if let responses {
            let next = (UInt16(subevent) + UInt16(ahead(responses))) % UInt16(responses.timing.subevents)
            owner.train(self, wantsDataFrom: UInt8(truncatingIfNeeded: next), count: 1)
        }
        endEvent()
    }

    func beginSubevent(_ responses: ResponseTiming) {
        // The event and the subevent determine the channel (4.5.8.3).
        let channel = selection.channel(counter: counter ^ UInt16(subevent), map: map)
        if let wish, wish.subevent == subevent { return request(wish, on: channel) }
        guard let data = subeventData.removeValue(forKey: subevent) else { return endSubevent() }
        let pdu = AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header, data: data.data)).encoded()
        let time = phy.radioPHY.airTimeMicroseconds(octets: pdu.count)
        guard arbiter.isFree(time, from: loop.now, for: self), arbiter.claim(self) else {
            owner.train(self, reports: .init(set: set, subevent: subevent, wasLeftOut: true, responses: []))
            return endSubevent()
        }
        let first = UInt16(data.firstSlot)
        state = .subevent(
            .sending(
                ResponseSlots(
                    origin: loop.now,
                    channel: channel,
                    timing: responses,
                    left: first..<first + UInt16(data.slots)
                )
            )
        )
        send(pdu, on: channel)
    }

    func subeventSent(_ stage: SubeventStage) {
        switch stage {
        case .sending(let slots): prepare(slots)
        case .requesting(let request, let wish, let channel): awaitAnswer(request, wish, on: channel)
        case .pausing, .listening, .awaiting: break
        }
    }

    // MARK: Responses

    private func prepare(_ slots: ResponseSlots) {
        guard let next = slots.next else { return finish(slots) }
        let widening = min(ClockAccuracy.widening(accuracy, accuracy, since: next - slots.origin), Self.maximumWidening)
        state = .subevent(.pausing(slots))
        let begin = max(loop.now, next - .microseconds(widening))
        timer = loop.schedule(at: begin) { [unowned self] in
            timer = nil
            listen(slots, until: next + .microseconds(widening))
        }
        // Until then other users may have the radio.
        arbiter.reserve(self, at: begin)
        arbiter.release(self)
    }

    private func listen(_ slots: ResponseSlots, until end: Instant) {
        guard arbiter.claim(self) else { return subeventTaken(.pausing(slots)) }
        state = .subevent(.listening(slots))
        tune(to: slots.channel, slots.timing.accessAddress)
        deadline(at: end) { [unowned self] in silence(slots) }
    }

    private func silence(_ slots: ResponseSlots) {
        var slots = slots
        slots.take()
        prepare(slots)
    }

    private func tune(to channel: UInt8, _ accessAddress: UInt32) {
        arbiter.node.sleep()
        arbiter.node.listen(
            RadioTuning(
                channel: channel,
                accessAddress: accessAddress,
                crcInit: crcInit,
                modulation: phy.radioPHY.modulation
            )
        )
    }

    private func deadline(at instant: Instant, _ silence: @escaping () -> Void) {
        timer = loop.schedule(at: instant) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { silence() }
        }
    }

    func subeventReceived(_ frame: ReceivedFrame, _ stage: SubeventStage) {
        let pdu = frame.isCorrupted ? nil : try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))
        switch stage {
        case .listening(var slots):
            guard case .extended(let body)? = pdu, body.mode == .nonConnectable else { return silence(slots) }
            slots.take { response in
                (response.txPower, response.rssi) = (body.extended.txPower ?? 127, frame.rssi)
                (response.dataStatus, response.data) = (.complete, body.data)
            }
            prepare(slots)
        case .awaiting(let request, let wish, let start):
            guard case .connectResponse(let body)? = pdu, body.extended.advertiser == request.advertiser,
                body.extended.target == request.initiator
            else { return fail(wish) }
            self.wish = nil
            endSubevent()
            owner.train(self, requested: request, for: wish, start)
        case .sending, .pausing, .requesting:
            break
        }
    }

    private func finish(_ slots: ResponseSlots) {
        let (number, responses) = (subevent, slots.heard)
        for report in LEPeriodicAdvertisingResponseReport.reports(set: set, subevent: number, responses) {
            owner.train(self, reports: report)
        }
        endSubevent()
    }

    /// Handles the loss of the radio to a link: the remaining responses are lost.
    func subeventTaken(_ stage: SubeventStage) {
        switch stage {
        case .sending(var slots), .pausing(var slots), .listening(var slots):
            while slots.next != nil { slots.take() }
            finish(slots)
        case .requesting(_, let wish, _), .awaiting(_, let wish, _):
            fail(wish)
        }
    }

    // MARK: Connections

    /// Whether a connection request is on the air, or awaits its response.
    var isRequesting: Bool {
        switch state {
        case .subevent(.requesting), .subevent(.awaiting): true
        default: false
        }
    }

    private func request(_ wish: ConnectionWish, on channel: UInt8) {
        let time = phy.radioPHY.airTimeMicroseconds(octets: 2 + 34)
        let answer = LinkTiming.interFrameSpace + phy.radioPHY.airTimeMicroseconds(octets: 2 + 14)
        // Without time for it, the request is sent in the same subevent of the next event.
        guard arbiter.isFree(time + answer, from: loop.now, for: self), arbiter.claim(self) else {
            return endSubevent()
        }
        guard let request = owner.train(self, prepares: wish, endingAt: loop.now + .microseconds(time)) else {
            return fail(wish)
        }
        state = .subevent(.requesting(request, wish, channel: channel))
        send(AdvertisingPDU.connect(request).encoded(), on: channel)
    }

    private func awaitAnswer(_ request: ConnectIndication, _ wish: ConnectionWish, on channel: UInt8) {
        let start = LinkStart(end: loop.now, phy: phy, isAuxiliary: true)
        state = .subevent(.awaiting(request, wish, start))
        tune(to: channel, accessAddress)
        let time = LinkTiming.interFrameSpace + Advertiser.responseMargin
        deadline(at: loop.now + .microseconds(time)) { [unowned self] in fail(wish) }
    }

    /// Reports a failed connection. The request is sent only once.
    private func fail(_ wish: ConnectionWish) {
        self.wish = nil
        endSubevent()
        owner.train(self, failed: wish)
    }

    /// Cancels the pending connection request when the train ends.
    func giveUp() {
        guard let wish else { return }
        self.wish = nil
        owner.train(self, failed: wish)
    }
}

extension LEPeriodicAdvertisingResponseReport {
    /// The maximum length of an event after the subevent code, in octets (Core Vol 4 Part E 5.4.4).
    static let maximumSize = 254
    /// The length of the event's header, and of each response's header, in octets.
    static let (headerSize, responseHeaderSize) = (4, 6)

    /// Packs responses into as few events as possible, and fragments those that do not fit into one.
    static func reports(set: UInt8, subevent: UInt8, _ responses: [LEPeriodicResponse]) -> [Self] {
        var reports = [Self(set: set, subevent: subevent, responses: [])]
        var room = maximumSize - headerSize
        for piece in responses.flatMap(\.pieces) {
            let size = responseHeaderSize + piece.data.count
            if size > room {
                reports.append(Self(set: set, subevent: subevent, responses: []))
                room = maximumSize - headerSize
            }
            room -= size
            reports[reports.count - 1].responses.append(piece)
        }
        return responses.isEmpty ? [] : reports
    }
}

extension LEPeriodicResponse {
    /// The maximum length of the data in one fragment, in octets.
    static let maximumPiece =
        LEPeriodicAdvertisingResponseReport.maximumSize - LEPeriodicAdvertisingResponseReport.headerSize
        - LEPeriodicAdvertisingResponseReport.responseHeaderSize

    /// The response as fragments that fit into an event. All but the last indicate that more follow.
    fileprivate var pieces: [LEPeriodicResponse] {
        guard data.count > Self.maximumPiece else { return [self] }
        var (first, rest) = (self, self)
        first.data = data.prefix(upTo: Self.maximumPiece)
        first.dataStatus = .moreToCome
        rest.data = data.suffix(after: Self.maximumPiece)
        return [first, rest]
    }
}
