import BluetoothTypes
import CaptureStory
import EventLoops
import Foundation
import HCI

/// The speed at which `harald explain` makes the story of a capture, from the octets of the file to the entries.
extension HaraldBenchmarks {
    private static let captureLength = Measurement.count(Measurement.isCounted ? 1 << 20 : 8 << 20)
    /// The octets that the tool reads at a time.
    private static let piece = 1 << 18

    static func captureStories() throws {
        try explain("notifications of 244 octets") { number in [notification(length: 244, number)] }
        try explain("notifications of 2 octets, each with its credits") { number in
            [notification(length: 2, number), (credits, .controllerToHost)]
        }
        try explain("reads of 1 octet with their responses") { number in
            [data([0x0A, 3, 0], .hostToController), data([0x0B, UInt8(number & 0xFF)], .controllerToHost)]
        }
        try explain("reads of 1 octet with their responses", isBrief: true) { number in
            [data([0x0A, 3, 0], .hostToController), data([0x0B, UInt8(number & 0xFF)], .controllerToHost)]
        }
        try explain("reads of 1 octet with their responses", isPrinted: true) { number in
            [data([0x0A, 3, 0], .hostToController), data([0x0B, UInt8(number & 0xFF)], .controllerToHost)]
        }
        try explain("advertising reports of 200 devices") { number in [(report(number % 200), .controllerToHost)] }
    }

    private typealias Packet = (HCIPacket, HCIDirection)

    /// The Number Of Completed Packets event for one packet.
    private static let credits = HCIPacket(.event, PacketBuffer([0x13, 5, 1, 0x40, 0, 1, 0]))

    private static func explain(
        _ what: String,
        isBrief: Bool = false,
        isPrinted: Bool = false,
        _ make: (Int) -> [Packet]
    ) throws {
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: 0)
        var octets = writer.header
        var (number, records, seen) = (0, 0, 0)
        while octets.count < captureLength {
            for (packet, direction) in make(number) {
                octets += writer.record(packet, direction, at: Instant(microseconds: Int64(records) * 500))
                records += 1
            }
            number += 1
        }
        let measurement = try Measurement {
            var (story, reader, lines) = (CaptureStory(isBrief: isBrief), CaptureReader(), StoryLines())
            for start in stride(from: 0, to: octets.count, by: piece) {
                reader.receive(octets[start..<min(start + piece, octets.count)])
                while let record = try reader.nextInPlace() {
                    for entry in story.receive(record) {
                        seen += 1
                        if isPrinted { lines.add(entry, since: 0) }
                    }
                }
                lines.removeAll()
            }
            precondition(story.totals.records == records, "every record counts")
        }
        precondition(seen > 0, "there is a story")
        let story = isBrief ? "a brief story" : isPrinted ? "the printed story" : "the story"
        row("\(story) of a capture of \(what)", records, measurement) {
            String(
                format: "%.0f MB/s, %.0f ns and %.1f allocations a record",
                Double(octets.count) / $1.seconds / 1e6,
                $1.seconds * 1e9 / Double($0),
                Double($1.allocations) / Double($0)
            )
        }
    }

    private static func notification(length: Int, _ number: Int) -> Packet {
        data([0x1B, 3, 0] + [UInt8](repeating: UInt8(number & 0xFF), count: length), .controllerToHost)
    }

    private static func data(_ value: [UInt8], _ direction: HCIDirection) -> Packet {
        let boundary = direction == .hostToController ? ACLPacket.Boundary.startNonFlushable : .start
        let payload = PacketBuffer([UInt8(value.count), 0, 4, 0] + value)
        let packet = ACLPacket(handle: ConnectionHandle(rawValue: 0x40), boundary: boundary, payload: payload)
        return (HCIPacket(packet), direction)
    }

    private static func report(_ number: Int) -> HCIPacket {
        var report = AdvertisingReport()
        report.address = BluetoothAddress(0xC0FF_EE00_0000 + UInt64(number), kind: .randomDevice)
        report.data =
            AdvertisingData([
                .localName(.init("Sensor \(number)")), .services([0x180D], width: .bits16, isComplete: true),
            ]).encoded
        report.rssi = -60
        return HCIPacket(LEAdvertisingReport(reports: [report]))
    }
}
