import BluetoothTypes
import Testing

@testable import CaptureStory

@Suite struct OpenLinksTests {
    private static func key(_ number: UInt32) -> OpenLinks.Key {
        OpenLinks.Key(adapter: 0, number: number, isAir: false)
    }

    private static func link(_ number: Int) -> LinkStory { LinkStory(number: number, at: Int64(number)) }

    @Test("each key has its own link, whichever was changed last, and removed ones leave their place to others")
    func places() {
        var links = OpenLinks()
        for number in 1...4 { links.add(Self.link(number), Self.key(UInt32(number))) }
        for number in [1, 1, 3, 2, 4, 4, 1] {
            var link: [LinkStory] = []
            links.exchange(Self.key(UInt32(number)), &link)
            #expect(link.map(\.number) == [number])
            link[0].gaps += 1
            links.exchange(Self.key(UInt32(number)), &link)
            #expect(link.isEmpty)
        }
        #expect((1...4).map { links[Self.key($0)]?.gaps } == [3, 1, 1, 2])
        #expect(links.remove(Self.key(1))?.number == 1)
        #expect(!links.contains(Self.key(1)))
        var none: [LinkStory] = []
        links.exchange(Self.key(1), &none)
        #expect(none.isEmpty)
        #expect(links.remove(Self.key(1)) == nil)
        links.add(Self.link(5), Self.key(9))
        links.add(Self.link(6), Self.key(1))
        #expect(links.count == 5)
        #expect(links.keys.map(\.number) == [2, 3, 4, 9, 1])
        #expect(links.leastRecent == Self.key(2))
        #expect(links[Self.key(1)]?.number == 6)
    }

    @Test("a text of a story is one line, as for other texts, with fewer looks at it")
    func shortLines() {
        let texts = [
            "", " ", "a", "a b", "a  b", " a", "a ", "a\nb", "\u{7F}", "h\u{E9}", "\u{202E}a", "12 345 6", "12345678 ",
            "12345678  ", "1234567 9", "12345678 0", "12345678\u{301}", "123456789\u{E9}", "123456789\u{202E}",
        ]
        for text in texts + [String(repeating: "x", count: 8), String(repeating: "x", count: 9)] {
            #expect(text.shortLine(8) == text.oneLine(8))
        }
    }

    @Test("a brief story has the entries of a brief story alone, and the same connections and totals")
    func brief() {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: "Sensor")
        bench.connect()
        bench.request([0x02, 0xF7, 0], [0x03, 0x40, 0])
        bench.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 9, 0, 0x0F, 0x18])
        bench.request([0x0A, 3, 0], [0x01, 0x0A, 3, 0, 0x05])
        bench.request([0x0A, 3, 0], [0x0B, 80])
        bench.pdu(4, [0x1B, 3, 0, 80], isSent: false)
        bench.disconnect()
        func told(isBrief: Bool) -> (entries: [StoryEntry], story: CaptureStory) {
            var story = CaptureStory(isBrief: isBrief)
            let entries = bench.records.flatMap { story.receive($0) } + story.finish()
            return (entries, story)
        }
        let (whole, brief) = (told(isBrief: false), told(isBrief: true))
        #expect(brief.entries == whole.entries.filter(\.kind.isBrief))
        #expect(brief.entries.count < whole.entries.count)
        #expect(brief.story.totals == whole.story.totals)
        #expect(brief.story.links.map(\.lines) == whole.story.links.map(\.lines))
    }
}
