import EventLoops
import HCI
import LinkLayer

/// The estimated time of a link: its events at the connection interval, and what is sent in them. Nothing is taken to
/// be lost and sent again.
struct EstimatedLink {
    /// The maximum number of packets of the host that the controller has not sent. Others count at once.
    private static let maximumOutgoing = 256

    private let isCentral: Bool
    private let peerAccuracy: Int64
    private var interval: Int64
    private var latency: Int64
    private var sending = RadioPHY.le1M
    private var receiving = RadioPHY.le1M
    private var limits = (octets: 27, time: Int64(328))
    var isEncrypted = false

    private var anchor: Instant
    /// The number of events that have been accounted for, and whether the present one has, because of its data.
    private var counted: Int64 = 0
    private var hasBegun = false
    /// The number of events in a row without data that are left over from a division by the latency.
    private var left: Int64 = 0
    /// The sizes of the host's packets that the controller has not sent.
    private var outgoing: [Int] = []
    private(set) var spent: [LinkTraffic: RadioTime] = [:]

    init(_ event: LEEnhancedConnectionComplete, at now: Instant) {
        isCentral = event.role == .central
        let accuracies: [Int64] = [500, 250, 150, 100, 75, 50, 30, 20]
        peerAccuracy = accuracies[Int(event.centralClockAccuracy.rawValue & 0b111)]
        interval = max(Int64(event.interval), 6) * 1_250
        latency = Int64(min(event.latency, 499))
        anchor = now
    }

    // MARK: Settings

    mutating func configure(_ event: LEConnectionUpdateComplete, at now: Instant) {
        interval = max(Int64(event.interval), 6) * 1_250
        latency = Int64(min(event.latency, 499))
        (anchor, counted, hasBegun, left) = (now, 0, false, 0)
    }

    mutating func configure(_ event: LEPHYUpdateComplete) {
        (sending, receiving) = (RadioPHY(event.txPHY), RadioPHY(event.rxPHY))
    }

    mutating func configure(_ event: LEDataLengthChange) {
        limits = (max(Int(event.maxTxOctets), 27), max(Int64(event.maxTxTime), 328))
    }

    // MARK: Data

    /// Takes in a packet of the host, which counts when the controller has sent it.
    mutating func queue(_ octets: Int, at now: Instant) {
        guard outgoing.count < Self.maximumOutgoing else { return send(octets, at: now) }
        outgoing.append(octets)
    }

    /// Takes in that the controller has sent packets of the host.
    mutating func complete(_ count: Int, at now: Instant) {
        let count = min(count, outgoing.count)
        for octets in outgoing.prefix(count) { send(octets, at: now) }
        outgoing.removeFirst(count)
    }

    private mutating func send(_ octets: Int, at now: Instant) {
        let longest = longestPayload
        var rest = octets
        repeat {
            exchange(.data, sending: min(rest, longest), receiving: nil, at: now)
            rest -= longest
        } while rest > 0
    }

    /// Takes in a packet of the peer. Controllers pass on each PDU as one packet.
    mutating func receive(_ octets: Int, at now: Instant) {
        exchange(.data, sending: nil, receiving: octets, at: now)
    }

    /// Takes in a control procedure that has ended: a request and a response of this size.
    mutating func control(_ octets: Int, exchanges: Int = 1, at now: Instant) {
        for _ in 0..<exchanges { exchange(.control, sending: octets, receiving: octets, at: now) }
    }

    /// The longest payload of a PDU to the peer, in octets.
    private var longestPayload: Int {
        var longest = limits.octets
        while longest > 27, sending.airTimeMicroseconds(octets: 2 + longest + 4) > limits.time { longest -= 1 }
        return longest
    }

    // MARK: Time

    /// Accounts for the events until now, except for the present one.
    mutating func settle(to now: Instant) {
        let present = max(now.microseconds(since: anchor) / interval, counted)
        var passed = present - counted
        guard passed > 0 else { return }
        counted = present
        if hasBegun { passed -= 1 }
        hasBegun = false
        addEmpty(passed)
    }

    private mutating func addEmpty(_ events: Int64) {
        let answered = (left + events) / (latency + 1)
        left = (left + events) % (latency + 1)
        let used = isCentral ? events : answered
        guard used > 0 else { return }
        var (empty, listening) = (RadioTime(), RadioTime())
        empty.send(sending.airTimeMicroseconds(octets: 2), on: sending, frames: used)
        empty.listen(answered * receiving.airTimeMicroseconds(octets: 2), for: receiving)
        listening.listen(answered * EstimatedTiming.interFrameSpace, for: receiving, starts: used)
        listening.listen((used - answered) * EstimatedTiming.response, for: receiving)
        if !isCentral { listening.listen(used * widening(latency + 1), for: receiving) }
        listening.events = used
        spent[.empty, default: RadioTime()].add(empty)
        spent[.listening, default: RadioTime()].add(listening)
    }

    /// Returns how much earlier than expected a peripheral listens, if it was last received some events before.
    private func widening(_ events: Int64) -> Int64 {
        events * interval * (EstimatedTiming.ownAccuracy + peerAccuracy) / 1_000_000 + 1 + 16
    }

    /// Adds an exchange of PDUs, one of which has a payload; without a size it is empty. The first one in an event
    /// takes the place of the empty ones.
    private mutating func exchange(
        _ traffic: LinkTraffic,
        sending sent: Int?,
        receiving received: Int?,
        at now: Instant
    ) {
        settle(to: now)
        var listening = RadioTime()
        let gaps = hasBegun ? 2 : Int64(1)
        listening.listen(gaps * EstimatedTiming.interFrameSpace, for: receiving, starts: 1)
        if !hasBegun {
            listening.events = 1
            if !isCentral { listening.listen(widening(1), for: receiving) }
            (hasBegun, left) = (true, 0)
        }
        spent[.listening, default: RadioTime()].add(listening)
        var time = RadioTime()
        time.send(airTime(sent, on: sending), on: sending)
        spent[sent == nil ? .empty : traffic, default: RadioTime()].add(time)
        time = RadioTime()
        time.listen(airTime(received, on: receiving), for: receiving)
        spent[received == nil ? .empty : traffic, default: RadioTime()].add(time)
    }

    private func airTime(_ payload: Int?, on phy: RadioPHY) -> Int64 {
        let octets = payload.map { 2 + $0 + (isEncrypted ? 4 : 0) } ?? 2
        return phy.airTimeMicroseconds(octets: octets)
    }
}
