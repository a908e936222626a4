import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What an advertiser asks of its controller.
protocol AdvertiserOwner: AnyObject {
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Somebody connects. False when there cannot be such a link; advertising goes on then.
    func advertiser(_ advertiser: Advertiser, accepts request: ConnectIndication, at end: Instant) -> Bool
    /// High duty cycle directed advertising has run out of its time.
    func advertiserTimedOut(_ advertiser: Advertiser)
}

/// Legacy advertising (Core Vol 6 Part B 4.4.2): an event every so often, on each channel one PDU and its answers.
final class Advertiser: RadioUser {
    /// High duty cycle directed advertising ends after so long (4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1_280)
    /// advDelay is less than this many microseconds (4.4.2.2.1).
    static let maximumDelay: UInt64 = 10_000
    /// How late an answer may begin after an inter frame space, in microseconds.
    static let responseMargin: Int64 = 4
    /// From the end of the listening on one channel to the PDU on the next, in microseconds.
    static let channelSwitch: Int64 = 150

    private enum State {
        case off
        /// The next event is due at the timer.
        case idle
        /// An event is due, but the radio is not free.
        case awaitsRadio
        case sending(channel: Int)
        case listening(channel: Int)
        /// A SCAN_RSP is about to be sent, or is being sent.
        case responding(channel: Int)
        /// The next channel follows at the timer.
        case switching(channel: Int)
    }

    var priority: RadioPriority { .advertising }
    /// What is advertised. The data may change at any time.
    var set = AdvertisingSet()
    private(set) var isEnabled = false

    private var state = State.off
    private var timer: ScheduledTask?
    private var limit: ScheduledTask?
    private var eventStart = Instant.zero
    private var pdu: [UInt8] = []
    private var channels: [UInt8] = []
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let random: RandomSource
    private let power: Double
    private unowned let owner: any AdvertiserOwner

    init(
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        power: Double,
        owner: any AdvertiserOwner
    ) {
        self.arbiter = arbiter
        self.loop = loop
        self.random = random
        self.power = power
        self.owner = owner
    }

    /// Begins to advertise, with a first event now.
    func start() {
        isEnabled = true
        channels = set.channels
        eventStart = loop.now
        if set.parameters.kind == .directedHighDutyCycle {
            limit = loop.schedule(after: Self.highDutyCycleLimit) { [unowned self] in
                stop()
                owner.advertiserTimedOut(self)
            }
        }
        state = .idle
        timer = loop.schedule(at: eventStart) { [unowned self] in beginEvent() }
    }

    /// Ends advertising; what is on the air is still sent.
    func stop() {
        isEnabled = false
        state = .off
        for task in [timer, limit].compactMap({ $0 }) { loop.cancel(task) }
        (timer, limit) = (nil, nil)
        arbiter.remove(self)
    }

    // MARK: Events

    private func beginEvent() {
        timer = nil
        guard arbiter.claim(self) else {
            state = .awaitsRadio
            return arbiter.wait(self)
        }
        pdu = set.pdu.encoded()
        send(channel: 0)
    }

    private func send(channel index: Int) {
        guard index < channels.count, hasTime else { return endEvent() }
        state = .sending(channel: index)
        arbiter.node.send(frame(pdu, channel: index), power: power)
    }

    /// Whether the whole exchange on a channel is over before a connection event begins.
    private var hasTime: Bool {
        let phy = RadioPHY.le1M
        var needed = phy.airTimeMicroseconds(octets: pdu.count)
        // The longest answer is CONNECT_IND with 34 octets, and SCAN_REQ with 12 and SCAN_RSP with 37 together.
        if set.isScannable {
            needed += 2 * LinkTiming.interFrameSpace + 176 + 376
        } else if set.isConnectable {
            needed += LinkTiming.interFrameSpace + 352
        }
        return arbiter.isFree(needed, from: loop.now, for: self)
    }

    private func endEvent() {
        state = .idle
        let delay = set.parameters.kind == .directedHighDutyCycle ? 0 : random.below(Self.maximumDelay)
        var next = eventStart + set.interval + .microseconds(Int64(delay))
        // An event that had to wait for the radio does not make the following ones come in a heap.
        if next < loop.now { next = loop.now + .microseconds(Int64(delay)) }
        eventStart = next
        timer = loop.schedule(at: next) { [unowned self] in beginEvent() }
        arbiter.reserve(self, at: next)
        arbiter.release(self)
    }

    private func next(after channel: Int) {
        guard channel + 1 < channels.count else { return endEvent() }
        state = .switching(channel: channel + 1)
        timer = loop.schedule(after: .microseconds(Self.channelSwitch)) { [unowned self] in
            timer = nil
            send(channel: channel + 1)
        }
    }

    private func frame(_ pdu: [UInt8], channel index: Int) -> RadioFrame {
        RadioFrame(
            channel: channels[index],
            accessAddress: AdvertisingPDU.accessAddress,
            crcInit: AdvertisingPDU.crcInit,
            phy: .le1M,
            pdu: pdu
        )
    }

    // MARK: Radio

    func radioSent() {
        switch state {
        case .sending(let channel) where set.isConnectable || set.isScannable: listen(channel)
        case .sending(let channel), .responding(let channel): next(after: channel)
        default: break
        }
    }

    private func listen(_ channel: Int) {
        state = .listening(channel: channel)
        arbiter.node.listen(
            RadioTuning(
                channel: channels[channel],
                accessAddress: AdvertisingPDU.accessAddress,
                crcInit: AdvertisingPDU.crcInit,
                modulation: .le1M
            )
        )
        let deadline = Duration.microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        timer = loop.schedule(after: deadline) { [unowned self] in
            timer = nil
            if !arbiter.node.isReceiving { next(after: channel) }
        }
    }

    func radioHeardStart() {}

    func radioReceived(_ frame: ReceivedFrame) {
        guard case .listening(let channel) = state, timer == nil else { return }
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else {
            return next(after: channel)
        }
        switch pdu {
        case .scanRequest(let request) where answers(request): respond(channel)
        case .connect(let request) where accepts(request): connect(request, channel)
        default: next(after: channel)
        }
    }

    private func answers(_ request: ScanRequest) -> Bool {
        let policy = set.parameters.filterPolicy
        let isFiltered = policy == .scanFromAcceptList || policy == .acceptListOnly
        return set.isScannable && request.advertiser == set.ownAddress
            && (!isFiltered || owner.isAccepted(request.scanner))
    }

    private func accepts(_ request: ConnectIndication) -> Bool {
        guard set.isConnectable, request.advertiser == set.ownAddress else { return false }
        if set.isDirected { return request.initiator == set.target }
        let policy = set.parameters.filterPolicy
        let isFiltered = policy == .connectFromAcceptList || policy == .acceptListOnly
        return !isFiltered || owner.isAccepted(request.initiator)
    }

    private func respond(_ channel: Int) {
        state = .responding(channel: channel)
        let response = AdvertisingPDU.scanResponse(.init(advertiser: set.ownAddress, data: set.scanResponse))
        timer = loop.schedule(after: .microseconds(LinkTiming.interFrameSpace)) { [unowned self] in
            timer = nil
            arbiter.node.send(frame(response.encoded(), channel: channel), power: power)
        }
    }

    private func connect(_ request: ConnectIndication, _ channel: Int) {
        guard owner.advertiser(self, accepts: request, at: loop.now) else { return next(after: channel) }
    }

    func radioTaken() {
        // A connection event cuts this one short.
        if let timer { loop.cancel(timer) }
        timer = nil
        guard isEnabled else { return }
        endEvent()
    }

    func radioFree() {
        guard case .awaitsRadio = state else { return }
        beginEvent()
    }
}
