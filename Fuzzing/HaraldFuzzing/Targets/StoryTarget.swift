import AppAdvice
import BluetoothTypes
import CaptureStory
import HCI

extension FuzzTarget {
    /// The story of a capture file, whatever its format: HCI packets, or frames of the air.
    static let story = FuzzTarget("explain", maximumLength: 4_096, seeds: StorySeeds.all()) { input in
        let whole = StorySeeds.told(input.octets, inPiecesOf: max(input.octets.count, 1))
        for length in [1, 7, 64] {
            let story = StorySeeds.told(input.octets, inPiecesOf: length)
            hold(story == whole, "the story depends on how the file arrives")
        }
    }
}

/// Capture files to start from: those of the reader's targets, and frames with each of the sniffers' headers.
enum StorySeeds {
    static func all() -> [[UInt8]] {
        CaptureSeeds.btsnoop() + CaptureSeeds.pcapng() + CaptureSeeds.pcap() + CaptureSeeds.packetLogger() + air()
    }

    /// A connection on the air in pcap: with each link type that `harald explain` reads.
    private static func air() -> [[UInt8]] {
        let address: [UInt8] = [0x78, 0x56, 0x34, 0x12]
        let parameters: [UInt8] = [1, 2, 3, 2, 0, 0, 24, 0, 0, 0, 72, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 5]
        let devices: [UInt8] = [1, 0, 0, 0, 0, 0xC0, 2, 0, 0, 0, 0, 0xC0]
        let frames: [[UInt8]] = [
            [0xD6, 0xBE, 0x89, 0x8E, 0xC5, 34] + devices + address + parameters,
            address + [0b0010, 7, 3, 0, 4, 0, 2, 0xF7, 0], address + [0b0110, 7, 3, 0, 4, 0, 3, 0x40, 0],
            address + [0b1011, 5, 0x18, 2, 2, 0, 0], address + [0b0011, 2, 0x02, 0x13],
        ]
        let headers: [(type: UInt8, high: UInt8, header: [UInt8])] = [
            (251, 0, []), (0, 1, [37, 0xC4, 0, 0, 0, 0, 0, 0, 0x12, 0]), (192, 0, [0, 0, 8, 0, 147, 0, 0, 0]),
            (16, 1, [1, 6, 0, 1, 0, 0, 6, 10, 3, 37, 60, 0, 0, 0, 0, 0, 0]),
        ]
        return headers.map { type, high, header in
            var octets: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]
            octets += [type, high, 0, 0]
            for (index, frame) in frames.enumerated() {
                let content = header + frame + [0, 0, 0]
                let length: [UInt8] = [UInt8(content.count), 0, 0, 0]
                octets += [UInt8(index), 0, 0, 0, 0, 0, 0, 0] + length + length + content
            }
            return octets
        }
    }

    /// The lines of a story, and those of its end.
    static func told(_ octets: [UInt8], inPiecesOf length: Int) -> [String] {
        var (reader, story, lines, rest) = (CaptureReader(), CaptureStory(), [String](), octets[...])
        var (causes, count) = (PacketCauses(), UInt64(0))
        while !rest.isEmpty {
            reader.receive(rest.prefix(length))
            rest = rest.dropFirst(length)
            do throws(CaptureReadingError) {
                while let record = try reader.next() {
                    lines += story.receive(record).map(\.line)
                    count += 1
                    check(causes.receive(record, number: count))
                }
            } catch {
                break
            }
        }
        lines += story.finish().map(\.line)
        hold(story.devices.count <= StoryLimits.devices, "more devices than the limit")
        hold(story.links.count <= StoryLimits.summaries, "more connections than the limit")
        hold(!StoryTimeline(story.links, totals: story.totals).svg.isEmpty, "a timeline without an image")
        lines += story.links.flatMap { $0.lines + $0.table } + story.advice.map(\.description)
        lines += story.verdict().lines
        hold((1...3).contains(story.verdict().lines.count), "a verdict without lines, or with too many")
        return lines + ["\(story.totals)"]
    }

    private static func check(_ packet: PacketCause?) {
        guard let packet else { return }
        let numbers = packet.chain.map(\.packet)
        hold(zip(numbers, numbers.dropFirst()).allSatisfy { $0 > $1 }, "a packet is caused by a later one")
        hold(packet.request ?? 0 < packet.packet, "a packet answers a later one")
    }
}
