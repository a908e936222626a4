import BluetoothTypes
import EventLoops

@testable import CaptureStory
@testable import HCI

/// A link on the air, from its request to its end, as two honest ends send it over a radio that loses some frames, and
/// as a sniffer hears it that loses none.
///
/// The seed chooses what the ends do: requests that succeed and fail, values that repeat, PDUs in parts, control
/// procedures, a pairing with encryption, skipped events, and whether the sniffer tells the senders.
struct AirScript {
    /// The octets that each private value begins with.
    static let secret = Array("SECRET".utf8)
    private static let accessAddress: [UInt8] = [0x78, 0x56, 0x34, 0x12]
    private static let advertising: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
    private static let central: [UInt8] = [1, 0, 0, 0, 0, 0xC0]
    private static let peripheral: [UInt8] = [2, 0, 0, 0, 0, 0xC0]

    /// A PDU that waits to be sent.
    private struct Packet {
        var kind: UInt8
        var payload: [UInt8]
        var isCiphertext = false
    }

    /// An end of the link, with the state of its acknowledgements (Core Vol 6 Part B 4.5.9).
    private struct End {
        var sequence: UInt8 = 0
        var expected: UInt8 = 0
        var queue: [Packet] = []
        var inFlight: Packet?

        mutating func receive(sequence: UInt8, expected: UInt8) {
            if inFlight != nil, expected != self.sequence {
                self.sequence ^= 1
                inFlight = nil
            }
            if sequence == self.expected { self.expected ^= 1 }
        }
    }

    let seed: UInt64
    let linkType: UInt32
    private(set) var records: [CaptureRecord] = []
    /// Of each record: whether its payload is ciphertext, who sent it, and whether it is sent for the first time.
    private(set) var isCiphertext: [Bool] = []
    private(set) var sides: [StorySide?] = []
    private(set) var isNew: [Bool] = []
    private let random: RandomSource
    private var time: Int64 = 1_000_000
    private var ends = PerSide(End())
    private var interval: Int64 = 30_000
    private var isEncrypted = false
    private var newInterval: (value: Int64, events: Int)?

    init(seed: UInt64) {
        self.seed = seed
        random = RandomSource(seed: seed)
        linkType = seed.isMultiple(of: 2) ? AirFrame.withHeader : AirFrame.plain
        add(Self.advertising, [0x40, 13] + Self.peripheral + [6, 0x09] + Array("Pulse".utf8), from: nil)
        let data: [UInt8] = [1, 2, 3, 1, 0, 0, 24, 0, 0, 0, 72, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 5]
        add(
            Self.advertising,
            [0xC5, 34] + Self.central + Self.peripheral + Self.accessAddress + data,
            from: nil
        )
        time += 2_500
        run()
    }

    /// The payload of a record's frame.
    func payload(of record: CaptureRecord) -> [UInt8] {
        guard case .frame(let type, let octets) = record.content else { return [] }
        return AirFrame(octets, linkType: type).map { Array($0.payload) } ?? []
    }

    // MARK: What the ends do

    private mutating func run() {
        var steps: [(inout AirScript) -> Void] = [
            { $0.send(.near, control: [0x0C, 9, 1, 0, 0, 0]) }, { $0.exchangeMTU() },
            { $0.send(.near, control: [0x14] + [251, 0, 0x48, 8, 251, 0, 0x48, 8]) },
            { $0.read(3, [1]) }, { $0.read(5, Self.secret + [$0.draw()]) }, { $0.read(5, Self.secret + [1]) },
            { $0.read(5, Self.secret + [1]) }, { $0.fail(7) }, { $0.fail(7) }, { $0.read(7, [9]) },
            { $0.write(9) }, { $0.notify(Self.secret + [1]) }, { $0.notify(Self.secret + [1]) },
            { $0.notify(Self.secret + [UInt8](repeating: $0.draw(), count: 50)) },
            { $0.read(11, Self.secret + [UInt8](repeating: 7, count: 60)) }, { $0.update() }, { $0.phy() },
            { $0.idle(8) },
        ]
        // Any order, from which half of the steps are left out.
        for index in steps.indices { steps.swapAt(index, choose(steps.count)) }
        for step in steps.prefix(11) { drain(step) }
        if !seed.isMultiple(of: 3) {
            drain { $0.pair() }
            drain { $0.encrypt() }
            for _ in 0..<4 { drain { $0.cipher() } }
        }
        drain { $0.idle(2) }
        if !seed.isMultiple(of: 4) { drain { $0.terminate() } }
    }

    private mutating func terminate() {
        send(.near, [isEncrypted ? ciphertext(of: 2, kind: 3) : Packet(kind: 3, payload: [0x02, 0x13])])
    }

    /// The record that transmits the packet of a record for the first time.
    func original(of index: Int) -> Int {
        isNew[index] ? index : (0..<index).last { sides[$0] == sides[index] && isNew[$0] } ?? index
    }

    private func choose(_ bound: Int) -> Int { Int(random.below(UInt64(bound))) }
    private func draw() -> UInt8 { UInt8(choose(256)) }

    private mutating func send(_ side: StorySide, _ packets: [Packet]) {
        ends.change(side) { $0.queue += packets }
    }

    private mutating func send(_ side: StorySide, control: [UInt8]) {
        send(side, [Packet(kind: 3, payload: control)])
        // The answers of the other end.
        switch control[0] {
        case 0x0C: send(side.other, [Packet(kind: 3, payload: [0x0C, 9, 2, 0, 1, 0])])
        case 0x14: send(side.other, [Packet(kind: 3, payload: [0x15] + control.dropFirst())])
        default: break
        }
    }

    /// Sends a PDU of a fixed channel, in parts of 27 octets.
    private mutating func send(_ side: StorySide, channel: UInt8, _ pdu: [UInt8]) {
        let octets = [UInt8(pdu.count), 0, channel, 0] + pdu
        send(
            side,
            stride(from: 0, to: octets.count, by: 27).map {
                Packet(kind: $0 == 0 ? 2 : 1, payload: Array(octets[$0..<min($0 + 27, octets.count)]))
            }
        )
    }

    private mutating func exchangeMTU() {
        ask([0x02, 185, 0], [0x03, 64 + draw() % 16, 0])
    }

    private mutating func ask(_ request: [UInt8], _ response: [UInt8]) {
        send(.near, channel: 4, request)
        drain { _ in }
        send(.far, channel: 4, response)
    }

    private mutating func read(_ handle: UInt8, _ value: [UInt8]) { ask([0x0A, handle, 0], [0x0B] + value) }
    private mutating func fail(_ handle: UInt8) { ask([0x0A, handle, 0], [0x01, 0x0A, handle, 0, 0x05]) }
    private mutating func write(_ handle: UInt8) { ask([0x12, handle, 0] + Self.secret + [draw()], [0x13]) }
    private mutating func notify(_ value: [UInt8]) { send(.far, channel: 4, [0x1B, 13, 0] + value) }

    private mutating func update() {
        let units: UInt8 = [12, 36, 80][choose(3)]
        // The interval, no latency, and a timeout of 4 s, at an event that the sniffer need not know.
        send(.near, [.init(kind: 3, payload: [0x00, 1, 0, 0, units, 0, 0, 0, 0x90, 1, 0, 0])])
        newInterval = (Int64(units) * 1_250, 8)
    }

    private mutating func phy() {
        send(.near, [.init(kind: 3, payload: [0x16, 3, 3])])
        send(.far, [.init(kind: 3, payload: [0x17, 3, 3])])
        drain { _ in }
        send(.near, [.init(kind: 3, payload: [0x18, 2, draw() & 2, 0, 0])])
    }

    private mutating func pair() {
        send(.near, channel: 6, [0x01, 3, 0, 0x2D, 16, 0, 0])
        drain { _ in }
        send(.far, channel: 6, [0x02, 3, 0, 0x2D, 16, 0, 0])
    }

    private mutating func encrypt() {
        send(.near, [.init(kind: 3, payload: [0x03] + [UInt8](repeating: 5, count: 22))])
        drain { _ in }
        send(.far, [.init(kind: 3, payload: [0x04] + [UInt8](repeating: 6, count: 12))])
        drain { _ in }
        send(.far, [.init(kind: 3, payload: [0x05])])
        drain { _ in }
        isEncrypted = true
        for side in [StorySide.near, .far] { send(side, [ciphertext(of: 1, kind: 3)]) }
    }

    private mutating func cipher() {
        let side: StorySide = choose(2) == 0 ? .near : .far
        send(side, [ciphertext(of: 7 + choose(20), kind: choose(4) == 0 ? 3 : 2)])
    }

    /// Returns what encryption makes of a PDU: random octets, and the message integrity check.
    private func ciphertext(of length: Int, kind: UInt8) -> Packet {
        Packet(kind: kind, payload: (0..<length + 4).map { _ in draw() }, isCiphertext: true)
    }

    private mutating func idle(_ events: Int) {
        for _ in 0..<events { event() }
    }

    /// Takes a step, and lets events pass until nothing is left to send, and one more.
    private mutating func drain(_ step: (inout AirScript) -> Void) {
        step(&self)
        while !ends.near.queue.isEmpty || !ends.far.queue.isEmpty || isUnacknowledged { event() }
        event()
    }

    private var isUnacknowledged: Bool {
        [ends.near, ends.far].contains { !($0.inFlight?.payload.isEmpty ?? true) }
    }

    // MARK: Events

    private mutating func event() {
        let anchor = time
        // The peripheral misses one in ten events, and answers in the others, one in ten of which the central misses.
        if transmit(.near, isLost: choose(10) == 0) {
            time += 150
            _ = transmit(.far, isLost: choose(10) == 0)
        }
        if let (value, events) = newInterval {
            newInterval = events > 1 ? (value, events - 1) : nil
            if events == 1 { interval = value }
        }
        time = anchor + interval
    }

    /// Sends the next frame of an end.
    ///
    /// - Returns: Whether the other end has heard it.
    private mutating func transmit(_ side: StorySide, isLost: Bool) -> Bool {
        let isNew = ends[side].inFlight == nil
        let packet = ends.change(side) { end in
            let packet = end.inFlight ?? (end.queue.isEmpty ? Packet(kind: 1, payload: []) : end.queue.removeFirst())
            end.inFlight = packet
            return packet
        }
        let (sequence, expected) = (ends[side].sequence, ends[side].expected)
        let header = packet.kind | expected << 2 | sequence << 3
        let pdu = [header, UInt8(packet.payload.count)] + packet.payload
        add(Self.accessAddress, pdu, from: side, isCiphertext: packet.isCiphertext, isNew: isNew)
        time += Int64(1 + 4 + pdu.count + 3) * 8
        guard !isLost else { return false }
        ends.change(side.other) { $0.receive(sequence: sequence, expected: expected) }
        return true
    }

    private mutating func add(
        _ address: [UInt8],
        _ pdu: [UInt8],
        from side: StorySide?,
        isCiphertext: Bool = false,
        isNew: Bool = true
    ) {
        let frame = address + pdu + [0, 0, 0]
        // The CRC was checked and right; the direction, if there is one.
        let kind: UInt16 = side == .near ? 2 : side == .far ? 3 : 0
        let flags = 0x0C00 | kind << 7
        let header: [UInt8] = [20, 0xC4, 0, 0] + address + [UInt8(flags & 0xFF), UInt8(flags >> 8)]
        let octets = linkType == AirFrame.withHeader ? header + frame : frame
        let content = CaptureRecord.Content.frame(linkType: linkType, PacketBuffer(octets))
        records.append(CaptureRecord(offset: UInt64(records.count), unixMicroseconds: time, content: content))
        self.isCiphertext.append(isCiphertext)
        sides.append(side)
        self.isNew.append(isNew)
    }
}
