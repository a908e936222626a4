import BluetoothTypes
import Testing

@testable import CaptureStory
@testable import HCI

/// Frames of the air, written by hand.
@Suite struct AirStoryTests {
    private static let accessAddress: [UInt8] = [0x78, 0x56, 0x34, 0x12]
    private static let advertising: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
    private static let central: [UInt8] = [1, 0, 0, 0, 0, 0xC0]
    private static let peripheral: [UInt8] = [2, 0, 0, 0, 0, 0xC0]
    /// The access address, the CRC's start, the window, an interval of 30 ms, no latency, a timeout of 720 ms.
    private static let linkData: [UInt8] =
        accessAddress + [1, 2, 3, 2, 0, 0, 24, 0, 0, 0, 72, 0] + [0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 5]

    private var records: [CaptureRecord] = []
    private var time: Int64 = 0

    private mutating func frame(_ address: [UInt8], _ pdu: [UInt8], after microseconds: Int64 = 300) {
        time += microseconds
        let content = CaptureRecord.Content.frame(linkType: 251, PacketBuffer(address + pdu + [0, 0, 0]))
        records.append(CaptureRecord(offset: UInt64(records.count), unixMicroseconds: time, content: content))
    }

    /// The frames with the headers of the nRF Sniffer, of a version since 1.0.0 or before.
    private func nordic(isOld: Bool) -> [CaptureRecord] {
        records.enumerated().map { index, record in
            guard case .frame(_, let octets) = record.content else { return record }
            let number = [UInt8(index), 0]
            let flags: UInt8 = index > 1 && index.isMultiple(of: 2) ? 0b11 : 0b01
            let circumstances = [flags, 37, 60, 0, 0, 0, 0, 0, 0]
            let header: [UInt8] =
                isOld
                ? [1, 0xBE, 0xEF, 6] + number + [0, 0, UInt8(octets.count)] + circumstances
                : [1, 6, UInt8(10 + octets.count), 1] + number + [6, 10] + circumstances
            var changed = record
            changed.content = .frame(linkType: 272, PacketBuffer(header + octets))
            return changed
        }
    }

    @Test("frames of the nRF Sniffer tell the same as those without its headers", arguments: [false, true])
    func nordicSniffer(isOld: Bool) throws {
        var air = AirStoryTests()
        air.frame(Self.advertising, [0x40, 13] + Self.peripheral + [6, 0x09] + Array("Pulse".utf8))
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
        air.data(0b0010, [3, 0, 4, 0, 2, 0xF7, 0], after: 30_000)
        air.data(0b0110, [3, 0, 4, 0, 3, 0x40, 0])
        let plain = air.told()
        air.records = air.nordic(isOld: isOld)
        let (entries, story) = air.told()
        #expect(entries.map(\.line) == plain.entries.map(\.line))
        #expect(story.totals == plain.story.totals)
        #expect(story.devices.first?.rssi == -60)
        #expect(story.links.first?.mtu == 64)
    }

    private mutating func data(_ header: UInt8, _ payload: [UInt8], after microseconds: Int64 = 300) {
        frame(Self.accessAddress, [header, UInt8(payload.count)] + payload, after: microseconds)
    }

    private func told() -> (entries: [StoryEntry], story: CaptureStory) {
        var story = CaptureStory()
        let entries = records.flatMap { story.receive($0) }
        return (entries + story.finish(), story)
    }

    @Test("a link is followed from CONNECT_IND, with packets that are sent again, to the encryption and its end")
    func aLink() throws {
        var air = AirStoryTests()
        air.frame(Self.advertising, [0x40, 13] + Self.peripheral + [6, 0x09] + Array("Pulse".utf8))
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
        // The central asks for the MTU, twice; the peripheral answers.
        air.data(0b0010, [3, 0, 4, 0, 2, 0xF7, 0], after: 2_500)
        air.data(0b0001, [])
        air.data(0b0010, [3, 0, 4, 0, 2, 0xF7, 0], after: 30_000)
        air.data(0b1110, [3, 0, 4, 0, 3, 0x40, 0])
        air.data(0b1011, [0x18, 2, 2, 0, 0], after: 30_000)
        air.data(0b0111, [0x05])
        air.data(0b0011, [0x99, 1, 2, 3, 4], after: 30_000)
        let (entries, story) = air.told()
        #expect(entries.map(\.kind) == [.device, .connected, .mtu, .phy, .encryption])
        #expect(entries[2].line == "MTU 64: the central offers 247, the peripheral 64, after 30.6 ms")
        let link = try #require(story.links.first)
        #expect(link.isAir)
        #expect(link.mtu == 64)
        #expect(link.repeats == 1)
        #expect(link.unreadable == 1)
        #expect(link.emptyPDUs == 1)
        #expect(link.lines.contains("1 encrypted packet, unreadable without the key"))
        #expect(link.flows[0].limit != nil)
    }

    @Test("a link whose end was not heard ends after its supervision timeout, not with the capture")
    func anUnheardEnd() throws {
        var air = AirStoryTests()
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
        air.data(0b0001, [], after: 30_000)
        let last = air.time
        air.frame(Self.advertising, [0x40, 13] + Self.peripheral + [6, 0x09] + Array("Pulse".utf8), after: 60_000_000)
        let link = try #require(air.told().story.links.first)
        #expect(link.end == last + 720_000)
    }

    @Test("the end of a link is told with its reason, and the link is closed")
    func anEnd() throws {
        var air = AirStoryTests()
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
        air.data(0b0011, [0x02, 0x13], after: 30_000)
        let (entries, story) = air.told()
        #expect(
            entries.last?.line
                == "disconnected after 30 ms by the central: remote user terminated (0x13) [Core Vol 1 Part F 2.19]"
        )
        #expect(story.links.first?.reason == "remote user terminated (0x13)")
    }

    @Test("the acknowledgement of the end, and the end sent again, begin no other link; CONNECT_IND does")
    func framesAfterTheEnd() throws {
        var air = AirStoryTests()
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
        air.data(0b0011, [0x02, 0x13], after: 30_000)
        air.data(0b0101, [])
        air.data(0b0011, [0x02, 0x13], after: 30_000)
        #expect(air.told().story.totals.connections == 1)
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData, after: 1_000_000)
        #expect(air.told().story.links.map(\.number) == [1, 2])
    }

    @Test("a peripheral that falls silent before the central is lost; if both do, the sniffer may have lost the link")
    func silentEnds() {
        func verdict(isPeripheralSilent: Bool) -> Verdict {
            var air = AirStoryTests()
            air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
            for event in 0..<60 {
                // The central repeats its packet, which is not acknowledged any more.
                let isHeard = event < 20 || !isPeripheralSilent
                let sequence = UInt8(min(event, isPeripheralSilent ? 20 : 60) & 1)
                air.data(0b0001 | sequence << 3 | sequence << 2, [], after: 29_700)
                if isHeard { air.data(0b0001 | sequence << 3 | (sequence ^ 1) << 2, []) }
            }
            air.frame(
                Self.advertising,
                [0x40, 13] + Self.peripheral + [6, 0x09] + Array("Pulse".utf8),
                after: 60_000_000
            )
            return air.told().story.verdict()
        }
        let lost = verdict(isPeripheralSilent: true)
        #expect(lost.outcome == .failed)
        #expect(lost.cause?.text.hasPrefix("the peripheral stopped responding") == true, "\(lost.lines)")
        #expect(verdict(isPeripheralSilent: false).outcome == .succeeded)
    }

    @Test("a link whose key is refused on the air fails for that, and one that is encrypted later does not")
    func refusedKeys() {
        func verdict(_ isRepeated: Bool) -> Verdict {
            var air = AirStoryTests()
            air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
            air.data(0b0011, [0x03] + [UInt8](repeating: 5, count: 22), after: 2_500)
            air.data(0b0111, [0x0D, 0x06])
            if isRepeated {
                air.data(0b1111, [0x03] + [UInt8](repeating: 6, count: 22), after: 30_000)
                air.data(0b1011, [0x05])
            }
            return air.told().story.verdict()
        }
        #expect(verdict(false).lines.joined().contains("no longer has the key of the bond: PIN or key missing (0x6)"))
        #expect(verdict(true).outcome == .succeeded)
    }

    @Test("frames of any length and content cause no trap")
    func hostileFrames() {
        var air = AirStoryTests()
        air.frame(Self.advertising, [0xC5, 34] + Self.central + Self.peripheral + Self.linkData)
        air.frame(Self.advertising, [0x47, 12, 10, 3] + Self.peripheral + [1, 2])
        air.data(0b0011, [0x18, 2, 2, 0, 0])
        var story = CaptureStory()
        for record in air.records {
            guard case .frame(let type, let octets) = record.content else { continue }
            for length in 0..<octets.count {
                for octet in [UInt8(0), 0x7F, 0xFF] {
                    var changed = octets
                    changed[length] = octet
                    for content in [changed, octets.prefix(upTo: length)] {
                        for linkType in [type, 256, 3] {
                            let frame = CaptureRecord.Content.frame(linkType: linkType, content)
                            _ = story.receive(CaptureRecord(offset: 0, unixMicroseconds: 0, content: frame))
                        }
                    }
                }
            }
        }
        _ = story.finish()
        #expect(story.totals.malformed > 0)
    }
}
