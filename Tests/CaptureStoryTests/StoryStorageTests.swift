import BluetoothTypes
import Testing

@testable import CaptureStory
@testable import HCI

/// A story and the octets of the file, which arrive in large pieces.
@Suite struct StoryStorageTests {
    /// A capture with packets whose octets a story may want to keep: requests without responses, parts of PDUs, parts
    /// of advertising data, and what an app reads.
    private var bench: CaptureBench {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: "Pulse")
        let part: [UInt8] = [0x20, 0, 1] + CaptureBench.peer.littleEndianBytes + [1, 0, 1, 0x7F, 0xC4]
        let report = part + [UInt8](repeating: 0, count: 9) + [3, 2, 1, 6]
        bench.add(HCIPacket(.event, PacketBuffer([0x3E, 29, 0x0D, 1] + report)), .controllerToHost)
        bench.connect()
        bench.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 9, 0, 0x0F, 0x18])
        bench.request([0x08, 1, 0, 9, 0, 0x03, 0x28], [0x09, 7, 2, 0, 0x12, 3, 0, 0x19, 0x2A])
        bench.request([0x0A, 3, 0], [0x0B, 80])
        bench.request([0x12, 3, 0, 1, 2, 3], [0x01, 0x12, 3, 0, 0x05])
        bench.pdu(4, [0x1B, 3, 0, 80], isSent: false)
        bench.pdu(4, [0x1D, 3, 0, 81], isSent: false)
        bench.pdu(5, [0x12, 1, 8, 0, 6, 0, 12, 0, 0, 0, 100, 0], isSent: false)
        bench.pdu(6, [0x01, 3, 0, 1, 16, 1, 1], isSent: true)
        bench.pdu(6, [0x08] + [UInt8](repeating: 7, count: 16), isSent: false)
        bench.pdu(4, [0x12, 3, 0] + [UInt8](repeating: 1, count: 40), isSent: true, fragment: 20)
        return bench
    }

    @Test("a story keeps no octets of a record after the next one, as they may be those of a whole piece of the file")
    func octetsOfEarlierRecordsAreReleased() {
        let next = CaptureRecord(offset: 0, unixMicroseconds: CaptureBench.start, content: .log(kind: 0, []))
        var story = CaptureStory()
        for record in bench.records {
            guard case .hci(let packet, let direction) = record.content else { continue }
            var piece = [UInt8](repeating: 0, count: 7) + packet.bytes
            func receive() {
                var record = record
                let octets = PacketBuffer(piece).suffix(after: 7)
                record.content = .hci(HCIPacket(packet.kind, octets), direction)
                _ = story.receive(record)
            }
            receive()
            _ = story.receive(next)
            // Writing to an array copies it if it is shared.
            let place = piece.withUnsafeBufferPointer(\.baseAddress)
            piece[0] = 1
            #expect(piece.withUnsafeBufferPointer(\.baseAddress) == place, "\(packet.bytes)")
        }
        #expect(story.totals.records == 2 * bench.records.count)
    }

    @Test("records that share the octets of a piece tell the same story")
    func sharedOctets() {
        let all = bench.records
        var (story, lines) = (CaptureStory(), [String]())
        let packets = all.compactMap(\.packet)
        let piece = packets.flatMap { Array($0.bytes) }
        var start = 0
        for (index, packet) in packets.enumerated() {
            var record = all[index]
            let octets = PacketBuffer(piece).slice(start..<(start + packet.bytes.count))
            start += packet.bytes.count
            record.content = .hci(HCIPacket(packet.kind, octets), record.direction ?? .hostToController)
            lines += story.receive(record).map(\.line)
        }
        lines += story.finish().map(\.line)
        #expect(lines == bench.lines)
    }
}
