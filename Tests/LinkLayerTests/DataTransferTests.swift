import BluetoothTypes
import EventLoops
import HCI
import Radio
import Testing

@testable import LinkLayer

@Suite struct DataTransferTests {
    // Whatever gets lost or spoilt, each packet arrives once and in order.
    @Test(arguments: [(1, 0.3, 0.0), (2, 0.0, 0.3), (3, 0.2, 0.2), (4, 0.3, 0.1)])
    func lossDoesNotReorderOrRepeat(seed: UInt64, loss: Double, corruption: Double) throws {
        let pair = try Pair(World(seed: seed), interval: 6, timeout: 3_200)
        pair.world.radio.configuration.lossRate = loss
        pair.world.radio.configuration.corruptionRate = corruption
        let random = RandomSource(seed: seed)
        let sent = (0..<1_000).map { _ in random.bytes(1 + Int(random.below(60))) }
        let streams = [
            Stream(pair.central, pair.centralHandle, sent), Stream(pair.peripheral, pair.peripheralHandle, sent),
        ]
        for stream in streams { stream.start() }
        pair.world.run(.seconds(120))
        for host in [pair.central, pair.peripheral] {
            var received: [[UInt8]] = []
            for packet in host.data {
                if packet.boundary.isStart { received.append([]) }
                received[received.count - 1] += packet.payload
            }
            #expect(received == sent)
            #expect(host.events(DisconnectionComplete.self).isEmpty)
        }
    }

    /// Rows of a table of first principles: what goes into one interval and no more.
    struct Row: Sendable, CustomTestStringConvertible {
        var phy: LEPHY
        var octets: UInt16
        /// In units of 1.25 ms.
        var interval: UInt16
        /// PDUs from one end in each event.
        var pairs: Int
        var fromCentral: Bool
        var testDescription: String { "\(phy) \(octets) octets, \(interval) units, central: \(fromCentral)" }
    }

    static let rows: [Row] = [true, false].flatMap { fromCentral in
        [
            (LEPHY.le1M, 251, 6, 3), (.le1M, 251, 12, 6), (.le1M, 251, 24, 12), (.le1M, 251, 320, 162),
            (.le2M, 251, 6, 5), (.le2M, 251, 12, 10), (.le2M, 251, 24, 21), (.le2M, 251, 40, 35),
            (.le2M, 251, 80, 71), (.le2M, 251, 320, 287), (.le1M, 27, 6, 11), (.le2M, 27, 6, 15),
            (.coded, 251, 24, 1), (.coded, 251, 320, 22),
        ].map { Row(phy: $0.0, octets: $0.1, interval: $0.2, pairs: $0.3, fromCentral: fromCentral) }
    }

    @Test(arguments: rows)
    func throughput(row: Row) throws {
        let pair = try Pair(interval: row.interval, timeout: 3_200)
        pair.central.send(
            LESetPHY(
                handle: pair.centralHandle,
                preference: [],
                txPHYs: set(row.phy),
                rxPHYs: set(row.phy),
                codedOption: .s8
            )
        )
        for (host, handle) in [(pair.central, pair.centralHandle), (pair.peripheral, pair.peripheralHandle)] {
            if row.octets > 27 { host.send(LESetDataLength(handle: handle, txOctets: row.octets, txTime: 17_040)) }
        }
        pair.world.run(.seconds(10))
        let sender = row.fromCentral ? (pair.central, pair.centralHandle) : (pair.peripheral, pair.peripheralHandle)
        let receiver = row.fromCentral ? pair.peripheral : pair.central
        let endless = Stream(sender.0, sender.1, [[UInt8](repeating: 7, count: Int(row.octets))], repeats: true)
        endless.start()
        pair.world.run(.seconds(2))
        receiver.forget()
        // Whole intervals only.
        pair.world.run(.microseconds(Int64(row.interval) * 1_250 * 20))
        #expect(receiver.data.count == row.pairs * 20)
        #expect(receiver.data.allSatisfy { $0.payload.count == row.octets })
    }

    private func set(_ phy: LEPHY) -> LEPHYs {
        phy == .le2M ? .le2M : phy == .coded ? .coded : .le1M
    }

    // Both ends busy on 1M: 244 octets of value in 251, 872.2 kbit/s in sum over a long interval.
    @Test func bothDirectionsBusy() throws {
        let pair = try Pair(interval: 320, timeout: 3_200)
        for (host, handle) in [(pair.central, pair.centralHandle), (pair.peripheral, pair.peripheralHandle)] {
            host.send(LESetDataLength(handle: handle, txOctets: 251, txTime: 2_120))
        }
        pair.world.run(.seconds(6))
        let payload = [[UInt8](repeating: 7, count: 251)]
        let streams = [
            Stream(pair.central, pair.centralHandle, payload, repeats: true),
            Stream(pair.peripheral, pair.peripheralHandle, payload, repeats: true),
        ]
        for stream in streams { stream.start() }
        pair.world.run(.seconds(2))
        for host in [pair.central, pair.peripheral] { host.forget() }
        pair.world.run(.seconds(4))
        // 400,000 us hold 89 exchanges of 4,476 us.
        #expect(pair.central.data.count == 890)
        #expect(pair.peripheral.data.count == 890)
    }
}

/// A host that always has as many packets in the controller as it may.
final class Stream {
    private let host: TestHost
    private let handle: ConnectionHandle
    private let packets: [[UInt8]]
    private let repeats: Bool
    private var next = 0

    init(_ host: TestHost, _ handle: ConnectionHandle, _ packets: [[UInt8]], repeats: Bool = false) {
        self.host = host
        self.handle = handle
        self.packets = packets
        self.repeats = repeats
    }

    func start() {
        host.onEvent = { [unowned self] event in
            guard event.code == NumberOfCompletedPackets.eventCode,
                let completed = try? NumberOfCompletedPackets.reading(event.parameters)
            else { return }
            for entry in completed.entries { fill(Int(entry.count)) }
        }
        fill(Int(host.controller.configuration.aclPacketCount))
    }

    private func fill(_ count: Int) {
        for _ in 0..<count where repeats || next < packets.count {
            host.send(packets[next % packets.count], on: handle)
            next += 1
        }
    }
}
