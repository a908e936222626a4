import BluetoothTypes
import EventLoops
import HCI
import Radio

/// A response to send in a response slot (Core Vol 4 Part E 7.8.126).
struct PeriodicResponse {
    /// paEventCounter of the event that contains the slot.
    var event: UInt16
    var subevent: UInt8
    var slot: UInt8
    var data: PacketBuffer

    /// Whether another response is for the same slot.
    func shares(_ other: PeriodicResponse) -> Bool {
        event == other.event && subevent == other.subevent && slot == other.slot
    }
}

// Responses to a train, and connections made by its advertiser (Core Vol 6 Part B 4.4.2.12).
extension PeriodicFollower {
    /// The maximum number of responses waiting for their slots.
    static let maximumResponses = 16

    /// Returns when to send a response.
    func time(of response: PeriodicResponse) -> Instant {
        let events = Int64(Int16(bitPattern: response.event &- counter))
        let timing = train.responses?.timing ?? LESubeventTiming()
        let offset = timing.start(of: response.subevent) + timing.start(ofSlot: response.slot)
        return anchor + .microseconds(events * Int64(train.sync.interval) * SyncInfo.intervalUnit + offset)
    }

    /// Schedules a response for its slot (Core Vol 4 Part E 7.8.126).
    func add(_ command: LESetPeriodicAdvertisingResponseData) -> HCIStatus {
        guard let layout = train.responses?.timing, subevents.contains(command.requestSubevent), hasChosen else {
            return .commandDisallowed
        }
        guard command.responseSubevent < layout.subevents, layout.hasSlot(command.slot) else {
            return .invalidParameters
        }
        guard airTime(command.data) <= layout.responseTime else { return .packetTooLong }
        // A slot that has passed in this event recurs in the next one.
        let isLater = command.responseSubevent < command.requestSubevent
        let response = PeriodicResponse(
            event: command.requestEvent &+ (isLater ? 1 : 0),
            subevent: command.responseSubevent,
            slot: command.slot,
            data: command.data
        )
        guard time(of: response) > loop.now else { return .tooLate }
        guard time(of: response) <= loop.now + .microseconds(2 * (period ?? 0)) else { return .invalidParameters }
        responses.removeAll { $0.shares(response) }
        guard responses.count < Self.maximumResponses else { return .memoryCapacityExceeded }
        responses.append(response)
        if case .waiting = state {
            if let timer { loop.cancel(timer) }
            wait()
        }
        return .success
    }

    /// Returns the first response to send before an instant, discarding those that are late.
    func nextResponse(before instant: Instant) -> PeriodicResponse? {
        responses.removeAll { time(of: $0) < loop.now }
        return responses.min { time(of: $0) < time(of: $1) }.flatMap { time(of: $0) < instant ? $0 : nil }
    }

    private func pdu(_ data: PacketBuffer) -> [UInt8] {
        var header = ExtendedHeader()
        if responseProperties.contains(.includeTxPower) { header.txPower = Int8(clamping: Int(power)) }
        return AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header, data: data)).encoded()
    }

    private func airTime(_ data: PacketBuffer) -> Int64 {
        train.phy.radioPHY.airTimeMicroseconds(octets: pdu(data).count)
    }

    func respond(_ response: PeriodicResponse) {
        responses.removeAll { $0.shares(response) }
        guard let accessAddress = train.responses?.accessAddress, arbiter.claim(self) else { return endResponse() }
        state = .responding
        send(pdu(response.data), on: channel(response.event, response.subevent), accessAddress)
    }

    private func send(_ pdu: [UInt8], on channel: UInt8, _ accessAddress: UInt32) {
        arbiter.node.sleep()
        let frame = RadioFrame(
            channel: channel,
            accessAddress: accessAddress,
            crcInit: train.sync.crcInit,
            phy: train.phy.radioPHY,
            pdu: pdu
        )
        arbiter.node.send(frame, power: power)
    }

    /// Moves on after a response.
    func endResponse() {
        guard !isOff else { return }
        wait()
        arbiter.release(self)
    }

    // MARK: Connections

    /// Responds to AUX_CONNECT_REQ, as a connectable advertiser does.
    func connect(_ request: ConnectIndication, on channel: UInt8) {
        var header = ExtendedHeader()
        (header.advertiser, header.target) = (request.advertiser, request.initiator)
        let answer = AdvertisingPDU.connectResponse(.init(mode: .nonConnectable, extended: header)).encoded()
        state = .connecting(request, end: loop.now)
        timer = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            timer = nil
            send(answer, on: channel, train.sync.accessAddress)
        }
    }
}
