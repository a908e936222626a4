import BluetoothTypes
import DequeModule

/// What caused the frames on the air, and which of them carry the data of an adapter.
struct AirCauses: Sendable {
    /// How long after CONNECT_IND the controller reports the link at the latest, in microseconds.
    private static let timeout: Int64 = 10_000_000

    /// Data whose carrier, or whose host's packet, is expected.
    fileprivate struct Pending: Sendable {
        var octets: Int
        let cause: PacketCause
    }

    fileprivate struct Link: Sendable {
        var semantics = CauseLink()
        var reception: AirReception
        /// Whether an adapter of the capture is the central; nil if it is neither end.
        var isOwnCentral: Bool?
        /// The last packet of each end, sent for the first time.
        var last = PerSide<PacketCause?>(nil)
        var control = PerSide<PacketCause?>(nil)
        /// The frame that ends the link.
        var end: PacketCause?
        var outgoing = Deque<Pending>()
        var received = Deque<Pending>()

        var ownSide: StorySide? { isOwnCentral.map { $0 ? .near : .far } }
    }

    /// A link that has begun on the air.
    struct Connection: Sendable {
        let accessAddress: UInt32
        let addresses: [UInt64]
        let cause: PacketCause
    }

    private var links = RecencyTable<UInt32, Link>(limit: StoryLimits.openLinks)
    /// The last advertisement and scan request, by the address of the advertiser.
    private var advertisements = RecencyTable<UInt64, PacketCause>(limit: 256)
    private var scans = RecencyTable<UInt64, PacketCause>(limit: 256)
    private var connections = Deque<Connection>()

    mutating func receive(
        _ frame: AirFrame,
        number: UInt64,
        at time: Int64,
        connecting: PacketCause?,
        advertising: PacketCause?
    ) -> PacketCause {
        guard frame.accessAddress == AirFrame.advertisingAccessAddress else {
            return receive(data: frame, number, time)
        }
        return receive(advertising: frame, number, time, connecting, advertising)
    }

    // MARK: Advertising channels

    private mutating func receive(
        advertising frame: AirFrame,
        _ number: UInt64,
        _ time: Int64,
        _ connecting: PacketCause?,
        _ advertising: PacketCause?
    ) -> PacketCause {
        let payload = frame.payload
        func address(_ index: Int) -> UInt64? { payload.address(at: index, isRandom: true)?.value }
        switch frame.pdu[0] & 0x0F {
        case 0x03:
            let target = address(6) ?? 0
            let node = PacketCause(number, at: time, CauseOrigin(.scans, advertisements[target]))
            scans.set(node, for: target)
            return node
        case 0x04:
            let scan = address(0).flatMap { scans[$0] }
            return PacketCause(number, at: time, CauseOrigin(scan == nil ? .advertises : .answersScan, scan))
        case 0x05: return connect(frame, number, time, connecting)
        case 0x07:
            let advertiser = AirExtendedHeader(payload, isRandom: true)?.advertiser?.value
            return advertise(advertiser, number, time)
        default: return advertise(address(0), number, time)
        }
    }

    private mutating func advertise(_ advertiser: UInt64?, _ number: UInt64, _ time: Int64) -> PacketCause {
        let node = PacketCause(number, at: time, CauseOrigin(.advertises))
        if let advertiser { advertisements.set(node, for: advertiser) }
        return node
    }

    private mutating func connect(
        _ frame: AirFrame,
        _ number: UInt64,
        _ time: Int64,
        _ connecting: PacketCause?
    ) -> PacketCause {
        let payload = frame.payload
        let addresses = [0, 6].compactMap { payload.address(at: $0, isRandom: true)?.value }
        let origin = connecting ?? addresses.last.flatMap { advertisements[$0] }
        let node = PacketCause(number, at: time, CauseOrigin(.connects, origin))
        guard let accessAddress = payload.long(at: 12) else { return node }
        let reception = AirReception(hasBeginning: true, interval: payload.word(at: 22), at: time)
        var link = Link(reception: reception)
        link.semantics.made = node
        links.set(link, for: accessAddress)
        if connections.count >= CauseLink.maximumOpen { connections.removeFirst() }
        connections.append(Connection(accessAddress: accessAddress, addresses: addresses, cause: node))
        return node
    }

    // MARK: Data channels

    private mutating func receive(data frame: AirFrame, _ number: UInt64, _ time: Int64) -> PacketCause {
        guard !frame.isCorrupted else { return PacketCause(number, at: time, CauseOrigin(.unknown)) }
        var link =
            links.removeValue(for: frame.accessAddress)
            ?? Link(reception: AirReception(hasBeginning: false, at: time))
        defer { links.set(link, for: frame.accessAddress) }
        let verdict = link.reception.receive(frame, at: time)
        let node = PacketCause(number, at: time, link.origin(of: frame, verdict))
        link.note(frame, verdict, node)
        return node
    }

    // MARK: The adapter's own links

    /// Returns the link on the air that a controller reports, by the addresses of the peer.
    func connection(with peers: [UInt64], at time: Int64) -> Connection? {
        connections.last {
            time &- $0.cause.time <= Self.timeout && !Set($0.addresses).isDisjoint(with: peers)
        }
    }

    mutating func adopt(_ accessAddress: UInt32, isCentral: Bool) {
        change(accessAddress) { $0.isOwnCentral = isCentral }
    }

    /// Notes data of the host that frames will carry.
    mutating func send(_ octets: Int, _ cause: PacketCause, on accessAddress: UInt32?) {
        change(accessAddress) { Self.append(Pending(octets: octets, cause: cause), to: &$0.outgoing) }
    }

    /// Returns the first of the frames that carried data which a controller passes to its host.
    mutating func takeReceived(_ octets: Int, of accessAddress: UInt32?) -> PacketCause? {
        var found: PacketCause?
        change(accessAddress) { found = Self.take(octets, from: &$0.received) }
        return found
    }

    /// Returns the last frame of the far end of a link.
    func last(of accessAddress: UInt32?) -> PacketCause? {
        guard let link = accessAddress.flatMap({ links[$0] }), let side = link.ownSide else { return nil }
        return link.last[side.other]
    }

    /// Returns the frame that ended a link.
    func end(of accessAddress: UInt32?) -> PacketCause? { accessAddress.flatMap { links[$0] }?.end }

    private mutating func change(_ accessAddress: UInt32?, _ body: (inout Link) -> Void) {
        guard let accessAddress, var link = links.removeValue(for: accessAddress) else { return }
        body(&link)
        links.set(link, for: accessAddress)
    }

    fileprivate static func append(_ pending: Pending, to list: inout Deque<Pending>) {
        if list.count >= CauseLink.maximumOpen { list.removeFirst() }
        list.append(pending)
    }

    /// Removes octets from the front of a list, and returns the cause of the first.
    fileprivate static func take(_ octets: Int, from list: inout Deque<Pending>) -> PacketCause? {
        let first = list.first?.cause
        var left = octets
        while left > 0, var next = list.popFirst() {
            guard next.octets > left else {
                left -= next.octets
                continue
            }
            next.octets -= left
            left = 0
            list.prepend(next)
        }
        return first
    }
}

extension AirCauses.Link {
    /// The octets of a message integrity check at the end of an encrypted PDU (Core Vol 6 Part B 2.4).
    private static let check = 4

    /// The length of the data of a packet that is sent for the first time; nil if it has none.
    private static func data(_ frame: AirFrame, _ content: AirReception.Content) -> Int? {
        switch content {
        case .start, .continuation: frame.payload.count
        case .unreadable where frame.pdu[0] & 0b11 != 0b11: max(0, frame.payload.count - check)
        default: nil
        }
    }

    /// Returns what caused a frame.
    fileprivate mutating func origin(of frame: AirFrame, _ verdict: AirReception.Verdict) -> CauseOrigin {
        let side = verdict.side
        let poll =
            side == .far
            ? last.near.map { CauseOrigin(.answersPoll, $0) } : semantics.made.map { CauseOrigin(.keepsLink, $0) }
        if side == ownSide, let count = Self.data(frame, verdict.content),
            let host = AirCauses.take(count, from: &outgoing)
        {
            return CauseOrigin(.carries, host)
        }
        let known: CauseOrigin? =
            switch verdict.content {
            case .repeated, .possiblyRepeated: last[side].map { CauseOrigin(.isSentAgain, $0) }
            case .control: control[side.other].map { CauseOrigin(.answersControl, $0) }
            case .start, .continuation:
                semantics.origin(of: frame.payload, isStart: verdict.content == .start, from: side)
            case .empty, .unreadable, .reserved: nil
            }
        return known ?? poll ?? CauseOrigin(.unknown)
    }

    fileprivate mutating func note(_ frame: AirFrame, _ verdict: AirReception.Verdict, _ node: PacketCause) {
        let side = verdict.side
        switch verdict.content {
        case .repeated, .possiblyRepeated: return
        case .control: note(control: frame.payload, from: side, node)
        case .start, .continuation:
            semantics.note(frame.payload, isStart: verdict.content == .start, from: side, node)
        case .empty, .unreadable, .reserved: break
        }
        last[side] = node
        if let ownSide, side != ownSide, let count = Self.data(frame, verdict.content) {
            AirCauses.append(AirCauses.Pending(octets: count, cause: node), to: &received)
        }
    }

    private mutating func note(control pdu: PacketBuffer, from side: StorySide, _ node: PacketCause) {
        // LL_TERMINATE_IND (Core Vol 6 Part B 2.4.2.3).
        if pdu.octet(at: 0) == 0x02 { end = node }
        // A PDU that answers is not answered itself.
        if control[side.other] != nil { control[side.other] = nil } else { control[side] = node }
    }
}
