import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// The arithmetic of the air from first principles, independent of the code under test: Core Vol 6 Part B 2.1, 2.2.2,
/// 4.1.
struct AirArithmetic: Sendable, CustomTestStringConvertible {
    /// The PHY and coding.
    enum Air: String, CaseIterable, Sendable { case le1M, le2M, s2, s8 }

    var air: Air
    /// The agreed maximum payload of a PDU.
    var octets: Int
    /// The connection interval, in units of 1.25 ms.
    var interval: Int
    /// The octets of the MIC, on an encrypted link.
    var code = 0

    var testDescription: String { "\(air.rawValue), \(octets) + \(code) octets, \(microseconds / 1_000) ms" }
    var microseconds: Int { interval * 1_250 }

    /// The air time in microseconds of a PDU with this payload.
    static func time(_ air: Air, _ payload: Int) -> Int {
        switch air {
        case .le1M: (1 + 4 + 2 + payload + 3) * 8
        case .le2M: (2 + 4 + 2 + payload + 3) * 4
        case .s2: 80 + 256 + 16 + 24 + (2 + payload + 3) * 16 + 6
        case .s8: 80 + 256 + 16 + 24 + (2 + payload + 3) * 64 + 24
        }
    }

    /// One PDU and an empty acknowledgement, each with its inter frame space.
    static func cycle(_ air: Air, _ payload: Int) -> Int { time(air, payload) + time(air, 0) + 300 }
    /// One PDU in each direction.
    static func cycleBothWays(_ air: Air, _ payload: Int) -> Int { 2 * time(air, payload) + 300 }

    /// The number of whole exchanges in an event.
    var pairs: Int { microseconds / Self.cycle(air, octets + code) }

    /// The number of events for a packet of `octets` when not even one whole exchange fits and it is fragmented. After
    /// each fragment, the central leaves time for the 27 octets that any device may answer with; the peripheral's
    /// fragment follows an empty PDU.
    func eventsPerPacket(fromCentral: Bool) -> Int {
        let room = microseconds - 300 - Self.time(air, fromCentral ? 27 : 0)
        let piece = (0...octets).last { Self.time(air, $0) <= room } ?? 0
        return (octets + piece - 1) / piece
    }

    /// The number of packets in so many events.
    func packets(events: Int, fromCentral: Bool) -> Int {
        pairs > 0 ? pairs * events : events / eventsPerPacket(fromCentral: fromCentral)
    }

    /// The number of whole exchanges in an event when both ends are busy, and how many PDUs of the central fit in
    /// total.
    var pairsBothWays: (both: Int, central: Int) {
        let cycle = Self.cycleBothWays(air, octets + code)
        let both = microseconds / cycle
        let rest = microseconds - both * cycle
        return (both, both + (rest >= Self.cycle(air, octets + code) ? 1 : 0))
    }

    /// 7.5, 15, 30, 50, 100 and 400 ms, on each PHY, with and without data length extension.
    static let all: [AirArithmetic] = Air.allCases.flatMap { air in
        [251, 27].flatMap { octets in
            [6, 12, 24, 40, 80, 320].map { AirArithmetic(air: air, octets: octets, interval: $0) }
        }
    }
}

/// A link achieves the throughput that the air allows, to the bit.
@Suite struct ThroughputTests {
    /// A pair that has agreed on the PHY and the data length.
    private func pair(_ row: AirArithmetic) throws -> Pair {
        let pair = try Pair(interval: UInt16(row.interval), timeout: 3_200)
        let phys: LEPHYs = row.air == .le1M ? .le1M : row.air == .le2M ? .le2M : .coded
        let option: LECodedPHYOption = row.air == .s2 ? .s2 : .s8
        for (host, handle) in [(pair.central, pair.centralHandle), (pair.peripheral, pair.peripheralHandle)] {
            // Each end chooses the coding of its own transmissions.
            host.setPHY(handle, phys, option)
            if row.octets > 27 {
                host.send(LESetDataLength(handle: handle, txOctets: UInt16(row.octets), txTime: 17_040))
            }
            pair.world.run(.microseconds(row.microseconds * 20))
        }
        if row.code > 0 {
            pair.peripheral.longTermKey = .sample
            pair.central.encrypt(pair.centralHandle)
            pair.world.run(.microseconds(row.microseconds * 40))
            #expect(pair.isEncrypted)
        }
        return pair
    }

    /// The packets that arrive at each end within a number of whole events.
    private func count(
        _ row: AirArithmetic,
        fromCentral: Bool,
        fromPeripheral: Bool,
        fragments: Int = 1,
        events: Int
    ) throws -> (atCentral: Int, atPeripheral: Int) {
        let pair = try pair(row)
        let packet = [[UInt8](repeating: 7, count: row.octets)]
        var streams: [Stream] = []
        if fromCentral {
            streams.append(Stream(pair.central, pair.centralHandle, packet, repeats: true, fragments: fragments))
        }
        if fromPeripheral {
            streams.append(Stream(pair.peripheral, pair.peripheralHandle, packet, repeats: true, fragments: fragments))
        }
        for stream in streams { stream.start() }
        // Between two events, so that whole events are counted.
        pair.world.run(.microseconds(row.microseconds * 4))
        let link = try #require(pair.centralLink)
        pair.world.run(link.anchor - pair.world.loop.now - .microseconds(100))
        for host in [pair.central, pair.peripheral] { host.forget() }
        pair.world.run(.microseconds(row.microseconds * events))
        let bytes = (pair.central.data + pair.peripheral.data).map(\.payload.count)
        if row.pairs > 0, !fromCentral || !fromPeripheral { #expect(bytes.allSatisfy { $0 == row.octets }) }
        return (octets(pair.central) / row.octets, octets(pair.peripheral) / row.octets)
    }

    private func octets(_ host: TestHost) -> Int { host.data.reduce(0) { $0 + $1.payload.count } }

    @Test(arguments: AirArithmetic.all, [true, false])
    func oneWay(row: AirArithmetic, fromCentral: Bool) throws {
        let events = row.interval < 80 ? 12 : 4
        let count = try count(row, fromCentral: fromCentral, fromPeripheral: !fromCentral, events: events)
        #expect(
            (fromCentral ? count.atPeripheral : count.atCentral)
                == row.packets(events: events, fromCentral: fromCentral)
        )
        #expect((fromCentral ? count.atCentral : count.atPeripheral) == 0)
    }

    /// The rows for encrypted links: a PDU is four octets longer on the air and carries the same payload.
    static let encrypted: [AirArithmetic] = AirArithmetic.all.compactMap { row in
        var row = row
        row.code = 4
        return row.pairs > 0 && [6, 24, 80].contains(row.interval) ? row : nil
    }

    @Test(arguments: encrypted, [true, false])
    func encryptedOneWay(row: AirArithmetic, fromCentral: Bool) throws {
        let events = row.interval < 80 ? 10 : 3
        let count = try count(row, fromCentral: fromCentral, fromPeripheral: !fromCentral, events: events)
        #expect((fromCentral ? count.atPeripheral : count.atCentral) == row.pairs * events)
    }

    @Test(arguments: encrypted.filter { $0.pairsBothWays.both > 0 })
    func encryptedBothWays(row: AirArithmetic) throws {
        let events = row.interval < 80 ? 10 : 3
        let count = try count(row, fromCentral: true, fromPeripheral: true, events: events)
        #expect(count.atCentral == row.pairsBothWays.both * events)
        #expect(count.atPeripheral == row.pairsBothWays.central * events)
    }

    /// ATT_MTU 498: a notification of 495 octets fills two PDUs exactly.
    @Test(arguments: AirArithmetic.all.filter { $0.octets == 251 && $0.pairs > 0 })
    func notificationsOfTwoPDUs(row: AirArithmetic) throws {
        let events = row.interval < 80 ? 10 : 3
        let count = try count(row, fromCentral: false, fromPeripheral: true, fragments: 2, events: events)
        #expect(count.atCentral == row.pairs * events)
    }

    @Test(arguments: AirArithmetic.all.filter { $0.pairsBothWays.both > 0 })
    func bothWays(row: AirArithmetic) throws {
        let events = row.interval < 80 ? 10 : 3
        let count = try count(row, fromCentral: true, fromPeripheral: true, events: events)
        #expect(count.atCentral == row.pairsBothWays.both * events)
        #expect(count.atPeripheral == row.pairsBothWays.central * events)
    }

    /// An event on the coded PHY always has time for some data, in both directions.
    @Test(arguments: [(6, 27), (6, 251), (12, 251), (24, 251)] as [(Int, Int)])
    func codedPHYStarvesNeitherSide(interval: Int, octets: Int) throws {
        let row = AirArithmetic(air: .s8, octets: octets, interval: interval)
        let count = try count(row, fromCentral: true, fromPeripheral: true, events: 100)
        #expect(count.atCentral > 5 && count.atPeripheral > 5, "\(count)")
    }

    // The commonly quoted numbers, in kbit/s of notification values of 244 octets.
    @Test(
        arguments: [
            (.le2M, 6, 5, 1_301), (.le2M, 12, 10, 1_301), (.le2M, 24, 21, 1_366), (.le2M, 40, 35, 1_366),
            (.le2M, 80, 71, 1_386), (.le2M, 320, 287, 1_401), (.le1M, 6, 3, 781), (.le1M, 12, 6, 781),
            (.le1M, 24, 12, 781), (.le1M, 320, 162, 791),
        ] as [(AirArithmetic.Air, Int, Int, Int)]
    )
    func theQuotedNumbers(air: AirArithmetic.Air, interval: Int, pairs: Int, kilobits: Int) throws {
        let row = AirArithmetic(air: air, octets: 251, interval: interval)
        #expect(row.pairs == pairs)
        let events = interval < 80 ? 20 : 5
        let count = try count(row, fromCentral: false, fromPeripheral: true, events: events)
        let bits = Double(count.atCentral * 244 * 8)
        let milliseconds = Double(row.microseconds * events) / 1_000
        #expect(Int((bits / milliseconds).rounded()) == kilobits)
    }

    /// A row without connection intervals: the throughput if an event never ended.
    struct Limit: Sendable, CustomTestStringConvertible {
        var air: AirArithmetic.Air
        var payload: Int
        var time: Int
        var cycle: Int
        /// In tenths of a kbit/s: 244 octets in one PDU, 495 in two, 247 by a credit-based channel, all of the payload,
        /// and 244 octets in both directions summed. Without data length extension the first one is for 20 octets.
        var rates: [Int]
        var testDescription: String { "\(air.rawValue) \(payload)" }
    }

    @Test(arguments: [
        Limit(air: .le1M, payload: 251, time: 2_088, cycle: 2_468, rates: [7_909, 8_023, 8_006, 8_136, 8_722]),
        Limit(air: .le1M, payload: 255, time: 2_120, cycle: 2_500, rates: [7_808, 7_920, 7_904, 8_032, 8_599]),
        Limit(air: .le2M, payload: 251, time: 1_048, cycle: 1_392, rates: [14_023, 14_224, 14_195, 14_425, 16_294]),
        Limit(air: .le2M, payload: 255, time: 1_064, cycle: 1_408, rates: [13_864, 14_062, 14_034, 14_261, 16_079]),
        Limit(air: .s2, payload: 251, time: 4_478, cycle: 5_240, rates: [3_725, 3_779, 3_771, 3_832, 4_218]),
        Limit(air: .s8, payload: 251, time: 16_784, cycle: 17_804, rates: [1_096, 1_112, 1_110, 1_128, 1_153]),
        Limit(air: .le1M, payload: 27, time: 296, cycle: 676, rates: [2_367]),
        Limit(air: .le2M, payload: 27, time: 152, cycle: 496, rates: [3_226]),
    ])
    func theLimitsOfTheAir(limit: Limit) {
        #expect(AirArithmetic.time(limit.air, limit.payload) == limit.time)
        #expect(AirArithmetic.cycle(limit.air, limit.payload) == limit.cycle)
        let phy: RadioPHY =
            switch limit.air {
            case .le1M: .le1M
            case .le2M: .le2M
            case .s2: .codedS2
            case .s8: .codedS8
            }
        #expect(phy.airTimeMicroseconds(octets: DataHeader.size + limit.payload) == limit.time)
        func rate(_ octets: Int, _ microseconds: Int) -> Int {
            Int((Double(octets * 80) * 1_000 / Double(microseconds)).rounded(.toNearestOrEven))
        }
        if limit.rates.count == 1 {
            #expect(rate(20, limit.cycle) == limit.rates[0])
            return
        }
        #expect(rate(244, limit.cycle) == limit.rates[0])
        #expect(rate(495, 2 * limit.cycle) == limit.rates[1])
        #expect(rate(247, limit.cycle) == limit.rates[2])
        #expect(rate(251, limit.cycle) == limit.rates[3])
        #expect(rate(488, AirArithmetic.cycleBothWays(limit.air, limit.payload)) == limit.rates[4])
    }
}
