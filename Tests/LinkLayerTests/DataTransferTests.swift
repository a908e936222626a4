import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct DataTransferTests {
    // Despite lost or corrupted frames, each packet arrives once and in order.
    @Test(arguments: [(1, 0.3, 0.0), (2, 0.0, 0.3), (3, 0.2, 0.2), (4, 0.3, 0.1)])
    func lossDoesNotReorderOrRepeat(seed: UInt64, loss: Double, corruption: Double) throws {
        let pair = try Pair(LinkLayerWorld(seed: seed), interval: 6, timeout: 3_200)
        pair.world.radio.configuration.lossRate = loss
        pair.world.radio.configuration.corruptionRate = corruption
        let random = RandomSource(seed: seed)
        let sent = (0..<1_000).map { _ in random.bytes(1 + Int(random.below(60))) }
        let streams = [
            Stream(pair.central, pair.centralHandle, sent), Stream(pair.peripheral, pair.peripheralHandle, sent),
        ]
        for stream in streams { stream.start() }
        let octets = sent.reduce(0) { $0 + $1.count }
        func isThrough(_ host: TestHost) -> Bool { host.data.reduce(0) { $0 + $1.payload.count } >= octets }
        for _ in 0..<24 where !isThrough(pair.central) || !isThrough(pair.peripheral) { pair.world.run(.seconds(5)) }
        // Duplicates, if any, would arrive after this.
        pair.world.run(.seconds(2))
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
}

/// A host that keeps the controller's buffers as full as they may be.
final class Stream {
    private let host: TestHost
    private let handle: ConnectionHandle
    private let packets: [[UInt8]]
    private let repeats: Bool
    /// How many fragments make up one L2CAP PDU.
    private let fragments: Int
    private var next = 0

    init(
        _ host: TestHost,
        _ handle: ConnectionHandle,
        _ packets: [[UInt8]],
        repeats: Bool = false,
        fragments: Int = 1
    ) {
        self.fragments = fragments
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
            host.send(packets[next % packets.count], on: handle, isStart: next % fragments == 0)
            next += 1
        }
    }
}
