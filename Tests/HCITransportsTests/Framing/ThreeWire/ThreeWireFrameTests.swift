import BluetoothTypes
import EventLoops
import Testing

@testable import HCITransports

/// Frames of the three-wire transport and their contents.
@Suite struct ThreeWireFrameTests {
    private static func frames(_ octets: [UInt8]) -> [[UInt8]] {
        var decoder = SLIPDecoder(maximumLength: 64)
        return decoder.decode(octets)
    }

    @Test("Core Vol 4 Part D 3: delimiters are escaped within a frame, and a stream may split at every octet")
    func framesComeBack() {
        let sent: [[UInt8]] = [[0xC0], [0xDB, 0xDC], [1, 0xC0, 0xDB, 0xDD, 2], [0xDB]]
        #expect(SLIP.encode(sent[2]) == [0xC0, 1, 0xDB, 0xDC, 0xDB, 0xDD, 0xDD, 2, 0xC0])
        let stream = sent.flatMap(SLIP.encode)
        for split in 0...stream.count {
            var decoder = SLIPDecoder(maximumLength: 64)
            #expect(decoder.decode(stream[..<split]) + decoder.decode(stream[split...]) == sent, "split at \(split)")
        }
    }

    @Test("AB-H02: invalid frames are skipped up to the next delimiter, and no frame grows without bound")
    func invalidFramesAreSkipped() {
        #expect(Self.frames([1, 2, 0xC0, 3, 0xC0]) == [[3]])
        #expect(Self.frames([0xC0, 1, 0xDB, 2, 9, 0xC0, 3, 0xC0]) == [[3]])
        // An escape sequence cut off by the delimiter.
        #expect(Self.frames([0xC0, 1, 0xDB, 0xC0, 3, 0xC0]) == [[3]])
        #expect(Self.frames([0xC0] + [UInt8](repeating: 7, count: 64) + [0xC0]).count == 1)
        #expect(Self.frames([0xC0] + [UInt8](repeating: 7, count: 65) + [0xC0, 3, 0xC0]) == [[3]])
        #expect(Self.frames([0xC0, 0xC0, 0xC0, 5, 0xC0]) == [[5]])
    }

    @Test("Core Vol 4 Part D 4: headers are encoded as on the wire")
    func headers() throws {
        let sync = ThreeWirePacket(.linkControl, ThreeWireMessage.sync.payload)
        #expect(sync.frame == [0x00, 0x2F, 0x00, 0xD0, 0x01, 0x7E])
        var command = ThreeWirePacket(.command, [0x03, 0x0C, 0x00], acknowledgement: 5)
        (command.sequence, command.isReliable) = (3, true)
        #expect(command.frame == [0xAB, 0x31, 0x00, 0x23, 0x03, 0x0C, 0x00])
        let long = ThreeWirePacket(.acl, [UInt8](repeating: 1, count: 0x123))
        #expect(long.frame.prefix(4) == [0x00, 0x32, 0x12, 0xBB])
        for packet in [sync, command, long] { #expect(try ThreeWirePacket(frame: packet.frame) == packet) }
    }

    @Test(
        "Core Vol 4 Part D 5.3.2: the check of the digits 1 to 9 is that of CRC-16/MCRF4XX, 0x6F91, with its bits in reverse"
    )
    func theCheck() {
        #expect(ThreeWirePacket.check("123456789".utf8) == 0x89F6)
    }

    @Test("AB-H02: a frame with an octet missing, added or changed is rejected, whichever it is")
    func damagedFrames() throws {
        var packet = ThreeWirePacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0], acknowledgement: 1)
        (packet.sequence, packet.isReliable, packet.isChecked) = (6, true, true)
        let frame = packet.frame
        #expect(try ThreeWirePacket(frame: frame) == packet)
        for index in frame.indices {
            #expect(throws: PacketError.self) { try ThreeWirePacket(frame: Array(frame[..<index])) }
            for change in 1...255 as ClosedRange<UInt8> {
                var other = frame
                other[index] ^= change
                #expect(throws: PacketError.self, "\(index) \(change)") { try ThreeWirePacket(frame: other) }
            }
        }
        #expect(throws: PacketError.self) { try ThreeWirePacket(frame: frame + [0]) }
        #expect(throws: PacketError.self) { try ThreeWirePacket(frame: [0, 0x06, 0, 0xF9]) }
    }

    @Test("Core Vol 4 Part D 8: link control messages round-trip, and unknown ones are ignored")
    func messages() {
        let configuration = ThreeWireConfiguration(window: 4, isChecked: true)
        let all: [ThreeWireMessage] = [
            .sync, .syncResponse, .configuration(configuration), .configurationResponse(configuration), .wakeUp, .woken,
            .sleep,
        ]
        for message in all { #expect(ThreeWireMessage(message.payload) == message) }
        // Linux omits the field in its response.
        #expect(
            ThreeWireMessage([0x04, 0x7B])
                == .configurationResponse(ThreeWireConfiguration(window: 1, isChecked: false))
        )
        for payload in [[], [0x01], [0x01, 0x7D], [0x08, 0xF7]] as [[UInt8]] {
            #expect(ThreeWireMessage(payload) == nil)
        }
    }

    @Test("AB-H02: random octets do no harm, and decoded frames stay bounded")
    func octetsByLot() {
        let random = RandomSource(seed: 3)
        var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
        var read = 0
        for _ in 0..<10_000 {
            var packet = ThreeWirePacket(.acl, random.bytes(Int(random.below(20))))
            packet.isChecked = random.below(2) == 0
            var octets = SLIP.encode(packet.frame)
            for _ in 0..<random.below(3) {
                octets[Int(random.below(UInt64(octets.count)))] = UInt8(truncatingIfNeeded: random.next())
            }
            octets = Array(octets.dropFirst(Int(random.below(4) / 3)))
            for frame in decoder.decode(octets) {
                #expect(frame.count <= ThreeWirePacket.maximumLength)
                guard let packet = try? ThreeWirePacket(frame: frame) else { continue }
                read += 1
                #expect((try? ThreeWirePacket(frame: packet.frame)) == packet)
            }
        }
        #expect(read > 1_000)
    }
}
