import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import CaptureStory

@Suite struct CaptureStoryTests {
    @Test("a connection is told from the attempt to the reason it ended, with the section of the error")
    func aConnection() throws {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: "Pulse")
        var create = LECreateConnection()
        create.peerAddress = CaptureBench.peer
        bench.command(create)
        bench.wait(99_000)
        bench.connect()
        bench.disconnect(.connectionTimeout)
        let (entries, story) = bench.told()
        let label = "\"Pulse\" (C0:FF:EE:00:00:01)"
        #expect(
            entries.map(\.line).dropFirst() == [
                "tries to connect to \(label)",
                """
                \(label) is connected, this device is the central, 100 ms after the request: interval 30 ms, latency 0, \
                supervision timeout 720 ms
                """,
                "disconnected after 1 ms: connection timeout (0x8) [Core Vol 1 Part F 2.8]",
            ]
        )
        let link = try #require(story.links.first)
        #expect(link.reason == "connection timeout (0x8)")
        #expect(link.isCentral == true)
        #expect(story.totals.connections == 1)
    }

    @Test("a failed attempt and the next one are told, and a cancelled one is no error")
    func attempts() {
        var bench = CaptureBench()
        var create = LECreateConnection()
        create.peerAddress = CaptureBench.peer
        for status in [HCIStatus.connectionFailedToBeEstablished, .unknownConnection] {
            bench.command(create)
            var complete = LEConnectionComplete()
            complete.status = status
            bench.event(complete)
        }
        let (entries, story) = bench.told()
        #expect(entries.map(\.kind) == [.attempt, .error, .attempt, .attempt])
        #expect(entries[2].text.hasSuffix(", attempt 2"))
        #expect(story.totals.failedConnections == 2)
    }

    @Test("requests are told with their value and latency, errors in words, and a retry as one")
    func attributes() throws {
        var bench = CaptureBench()
        bench.connect()
        bench.request([0x02, 0x05, 0x02], [0x03, 0xB9, 0x00])
        bench.request([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28], [0x11, 6, 1, 0, 5, 0, 0x0D, 0x18])
        bench.request([0x10, 6, 0, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 6, 0, 0x0A])
        bench.request([0x08, 1, 0, 5, 0, 0x03, 0x28], [0x09, 7, 2, 0, 0x10, 3, 0, 0x37, 0x2A])
        bench.request([0x04, 4, 0, 5, 0], [0x05, 1, 4, 0, 0x02, 0x29])
        bench.request([0x12, 4, 0, 1, 0], [0x01, 0x12, 4, 0, 0x05])
        bench.request([0x12, 4, 0, 1, 0], [0x13])
        bench.pdu(4, [0x1B, 3, 0, 0, 77], isSent: false)
        bench.pdu(4, [0x1B, 3, 0, 0, 78], isSent: false, after: 1_000_000)
        bench.disconnect()
        let (entries, story) = bench.told()
        let lines = entries.map(\.line)
        #expect(lines.contains("MTU 185: the central offers 517, the peripheral 185, after 30 ms"))
        #expect(
            lines.contains(
                """
                the central subscribes to notifications of Heart Rate Measurement (2A37), which is refused: insufficient \
                authentication, after 30 ms [Core Vol 3 Part F 3.4.1.1]
                """
            )
        )
        #expect(lines.contains { $0.hasPrefix("the central subscribes to") && $0.contains("tried again") })
        #expect(
            lines.contains { $0.contains("notifies 0x0003 Heart Rate Measurement (2A37) for the first time: 77 bpm") }
        )
        let link = try #require(story.links.first)
        #expect(link.mtu == 185)
        #expect(link.operations == 7)
        #expect(link.errors == 2)
        #expect(link.retries == 1)
        #expect(link.meanLatency == 30_000)
        #expect(
            link.table == [
                "0x0001 Heart Rate (180D)", "  0x0003 Heart Rate Measurement (2A37)",
                "    0x0004 Client Characteristic Configuration (2902)",
            ]
        )
        #expect(link.streams.first?.contains("2 times, 4 octets, every 1 s") == true)
        #expect(story.totals.attributePDUs == 16)
        #expect(story.totals.attributeErrors == 2)
    }

    @Test("a PDU in fragments is told as a whole one is")
    func fragments() throws {
        func told(fragment: Int) -> [String] {
            var bench = CaptureBench()
            bench.connect()
            bench.pdu(4, [0x0A, 3, 0], isSent: true, fragment: fragment)
            bench.pdu(4, [0x0B] + Array("a long text that needs fragments".utf8), isSent: false, fragment: fragment)
            return bench.told().entries.map { $0.text + ($0.value ?? "") }
        }
        let whole = told(fragment: 251)
        #expect(whole.count == 2)
        for fragment in 1...40 { #expect(told(fragment: fragment) == whole) }
    }

    @Test("pairing is told with its method, its result, and the reason of a failure in words")
    func pairing() throws {
        var bench = CaptureBench()
        bench.connect()
        bench.pdu(6, [1, 4, 0, 0x0D, 16, 3, 3], isSent: true)
        bench.pdu(6, [2, 1, 0, 0x0D, 16, 3, 3], isSent: false)
        bench.event(EncryptionChange(handle: CaptureBench.handle, state: EncryptionState(rawValue: 1)))
        bench.pdu(6, [1, 3, 0, 0x01, 16, 3, 3], isSent: true)
        bench.pdu(6, [2, 3, 0, 0x01, 16, 3, 3], isSent: false)
        bench.pdu(6, [5, 4], isSent: false)
        let (entries, story) = bench.told()
        let method = "LE Secure Connections, numeric comparison, 128-bit key, bonding"
        #expect(entries.contains { $0.kind == .pairing && $0.text == "paired: \(method)" })
        let failure = try #require(entries.first { $0.kind == .error })
        #expect(
            failure.line
                == "pairing failed, the peripheral reports: a confirm value does not match [Core Vol 3 Part H 3.5.5]"
        )
        #expect(story.links.first?.pairing?.hasPrefix("legacy pairing, Just Works, without MITM protection") == true)
    }

    @Test("a private address is told to be that of a device whose key the capture holds, before the key and after")
    func privateAddresses() throws {
        let key = try #require(Key128((1...16).map(UInt8.init)))
        func resolvable(_ random: UInt32) -> BluetoothAddress {
            let upper = random & 0x3F_FFFF | 0x40_0000
            return BluetoothAddress(UInt64(upper) << 24 | UInt64(Toolbox.ah(key, upper)), kind: .randomDevice)
        }
        var bench = CaptureBench()
        bench.advertise(resolvable(1), name: "Pulse")
        bench.command(
            LEAddDeviceToResolvingList(
                peerIdentity: CaptureBench.peer,
                peerIRK: PacketBuffer(key.littleEndianBytes),
                localIRK: PacketBuffer([UInt8](repeating: 0, count: 16))
            )
        )
        bench.advertise(resolvable(2), name: "Pulse")
        bench.advertise(BluetoothAddress(0x4111_2222_3333, kind: .randomDevice), name: "Other")
        let devices = bench.told().story.devices
        #expect(devices.map(\.identity) == [CaptureBench.peer, CaptureBench.peer, nil])
        #expect(bench.lines[1].hasPrefix("\(resolvable(1)) is a private address of "))
    }

    @Test("a silence, a change of parameters, PHY and data length are told, and the limit follows them")
    func changes() throws {
        var bench = CaptureBench()
        bench.connect(interval: 12)
        bench.pdu(4, [0x52, 3, 0, 1], isSent: true)
        bench.pdu(4, [0x52, 3, 0, 1], isSent: true, after: 6_000_000)
        bench.event(
            LEPHYUpdateComplete(handle: CaptureBench.handle, txPHY: LEPHY(rawValue: 2), rxPHY: LEPHY(rawValue: 2))
        )
        bench.event(
            LEDataLengthChange(
                handle: CaptureBench.handle,
                maxTxOctets: 251,
                maxTxTime: 2_120,
                maxRxOctets: 251,
                maxRxTime: 2_120
            )
        )
        bench.event(
            LEConnectionUpdateComplete(handle: CaptureBench.handle, interval: 40, latency: 4, supervisionTimeout: 500)
        )
        let (entries, story) = bench.told()
        #expect(entries.map(\.kind) == [.connected, .notification, .gap, .phy, .dataLength, .parameters])
        #expect(entries[2].text == "no data for 6 s")
        #expect(entries[5].text == "new parameters: interval 50 ms, latency 4, supervision timeout 5 s")
        let flow = try #require(story.links.first?.flows.first)
        // 251 octets take 1048 us, an acknowledgement 44 us, and each is followed by 150 us: 35 exchanges in 50 ms.
        let limit = try #require(flow.limit)
        #expect(abs(limit - 175_700) < 1)
        #expect(flow.peak == 8)
    }

    @Test(
        "the time on the air is that of Core Vol 6 Part B",
        arguments: [
            (UInt8(1), 0, Int64(80)), (1, 27, 296), (1, 251, 2_088), (2, 251, 1_048), (3, 27, 2_448), (3, 0, 720),
        ]
    )
    func airTime(phy: UInt8, payload: Int, time: Int64) {
        #expect(AirTime.duration(payload: payload, phy: phy) == time)
    }

    @Test("a capture that begins in the middle of a connection tells so, and a request without response")
    func theMiddle() {
        var bench = CaptureBench()
        bench.pdu(4, [0x0A, 3, 0], isSent: true)
        let lines = bench.lines
        #expect(lines[0] == "a connection that was there before the capture began")
        #expect(lines[1] == "this device reads 0x0003, and the capture ends before the response")
        #expect(bench.told().story.links.first?.lines.contains("1 request; 1 without a response") == true)
    }

    @Test("an attribute has its name from the moment at which it is discovered, at both ends")
    func namesOfAttributes() {
        var bench = CaptureBench()
        let read: [UInt8] = [0x0A, 3, 0]
        let declarations: [UInt8] = [0x09, 7, 2, 0, 0x0A, 3, 0, 0x19, 0x2A]
        bench.request(read, [0x0B, 80])
        bench.request([0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28], declarations)
        bench.request(read, [0x0B, 80])
        // The other end's attribute with the same handle stays without a name.
        bench.pdu(4, read, isSent: false)
        bench.pdu(4, [0x0B, 0x51], isSent: true)
        let reads = bench.lines.filter { $0.contains(" reads ") }
        #expect(
            reads == [
                "this device reads 0x0003: 50 \"P\", after 30 ms",
                "this device reads 0x0003 Battery Level (2A19): 80%, after 30 ms",
                "the peer reads 0x0003: 51 \"Q\", after 1 ms",
            ]
        )
    }

    @Test("a refused command is told with its name and the reason")
    func refusedCommands() {
        var bench = CaptureBench()
        bench.event(CommandComplete(credits: 1, opcode: LESetPHY.opcode, parameters: [0x11]))
        #expect(bench.lines == ["LE Set PHY fails: unsupported feature or parameter (0x11) [Core Vol 1 Part F 2.17]"])
    }

    @Test("any cut or changed octet leaves the story without a trap, and tables within their bounds")
    func hostileRecords() {
        var bench = CaptureBench()
        bench.connect()
        bench.pdu(4, [0x09, 7, 2, 0, 0x10, 3, 0, 0x37, 0x2A], isSent: false)
        bench.pdu(6, [2, 1, 0, 0x0D, 16, 3, 3], isSent: false)
        bench.pdu(5, [0x12, 1, 8, 0, 6, 0, 12, 0, 0, 0, 200, 0], isSent: true)
        bench.advertise(CaptureBench.peer, name: "Pulse")
        var story = CaptureStory()
        for record in bench.records {
            guard case .hci(let packet, let direction) = record.content else { continue }
            for length in 0..<packet.bytes.count {
                var cut = record
                cut.content = .hci(HCIPacket(packet.kind, packet.bytes.prefix(upTo: length)), direction)
                _ = story.receive(cut)
                for octet in [UInt8(0), 0xFF] {
                    var bytes = packet.bytes
                    bytes[length] = octet
                    cut.content = .hci(HCIPacket(packet.kind, bytes), direction)
                    _ = story.receive(cut)
                }
            }
        }
        _ = story.finish()
        #expect(story.totals.malformed > 0)
    }

    @Test("a file that arrives in two pieces, cut at any octet, tells the same as in one")
    func pieces() throws {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: "Pulse")
        bench.connect()
        bench.request([0x02, 247, 0], [0x03, 185, 0])
        bench.request([0x0A, 3, 0], [0x0B, 80])
        bench.disconnect()
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: CaptureBench.start)
        let octets = bench.records.reduce(into: writer.header) { file, record in
            guard case .hci(let packet, let direction) = record.content else { return }
            let time = Instant(microseconds: record.unixMicroseconds - CaptureBench.start)
            file += writer.record(packet, direction, at: time)
        }
        func told(_ pieces: [ArraySlice<UInt8>]) throws -> [String] {
            var (reader, story, lines) = (CaptureReader(), CaptureStory(), [String]())
            for piece in pieces {
                reader.receive(piece)
                while let record = try reader.next() { lines += story.receive(record).map(\.line) }
            }
            lines += story.finish().map(\.line) + story.links.flatMap(\.lines)
            return lines
        }
        let whole = try told([octets[...]])
        #expect(whole.contains { $0.hasPrefix("MTU 185") })
        for place in octets.indices {
            #expect(try told([octets[..<place], octets[place...]]) == whole)
            // A file that is cut off there has a story too.
            _ = try told([octets[..<place]])
        }
    }

    @Test("many devices, links and attributes stay within the bounds")
    func bounds() {
        var story = CaptureStory()
        for index in 0..<3_000 {
            var bench = CaptureBench()
            bench.advertise(BluetoothAddress(UInt64(index) + 1, kind: .publicDevice), name: "Device \(index)")
            var complete = LEConnectionComplete()
            complete.handle = ConnectionHandle(rawValue: UInt16(index))
            complete.peerAddress = BluetoothAddress(UInt64(index) + 1, kind: .publicDevice)
            bench.event(complete)
            for record in bench.records { _ = story.receive(record) }
        }
        #expect(story.devices.count == StoryLimits.devices)
        #expect(story.forgottenDevices == 3_000 - StoryLimits.devices)
        #expect(story.open.count == StoryLimits.openLinks)
        _ = story.finish()
        #expect(story.links.count == StoryLimits.summaries)
        #expect(story.totals.connections == 3_000)
    }

    @Test("records may claim any time", arguments: [(Int64.min, Int64.max), (0, .max), (.max, .min)])
    func extremeTimes(_ first: Int64, _ second: Int64) throws {
        var story = CaptureStory()
        var bench = CaptureBench(start: max(first, .min + 1_000_000) - 1_000_000)
        bench.connect()
        bench.pdu(4, [0x0A, 3, 0], isSent: true)
        for record in bench.records { _ = story.receive(record) }
        var late = CaptureBench(start: max(second, .min + 1_000_000) - 1_000_000)
        late.pdu(4, [0x0B, 1], isSent: false)
        late.disconnect()
        var entries: [StoryEntry] = []
        for record in late.records { entries += story.receive(record) }
        entries += story.finish()
        #expect(entries.contains { $0.kind == .disconnected })
        let link = try #require(story.links.first)
        #expect(!link.lines.isEmpty)
        #expect(StoryTimeline(story.links, totals: story.totals).svg.hasSuffix("</svg>\n"))
    }

    @Test("the timeline is an image with a bar for each connection, and text of a peer is no markup")
    func timeline() {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: "<b>&\"")
        bench.connect()
        bench.disconnect()
        let story = bench.told().story
        let image = StoryTimeline(story.links, totals: story.totals).svg
        #expect(image.hasPrefix("<svg "))
        #expect(image.hasSuffix("</svg>\n"))
        #expect(!image.contains("<b>"))
        #expect(image.contains("&lt;b&gt;&amp;"))
    }
}
