import BluetoothTypes
import HCITransports
import TestBasics
import Testing

/// A request as the kernel encodes it.
func usbip(
    _ code: UInt32 = 1,
    _ sequence: UInt32,
    isIn: Bool = false,
    endpoint: UInt32 = 0,
    length: UInt32 = 0,
    packets: UInt32 = 0,
    setup: [UInt8] = [UInt8](repeating: 0, count: 8),
    _ octets: [UInt8] = []
) -> [UInt8] {
    let words = [
        code, sequence, 0x1_0002, isIn ? 1 : 0, endpoint, code == 1 ? 0x200 : length, code == 1 ? length : 0, 0,
        packets, 0,
    ]
    return words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } } + setup + octets
}

@Suite struct USBIPParserTests {
    // A device descriptor, a command, a read, and the cancellation of that read; numbers from
    // Documentation/usb/usbip_protocol.rst.
    private static let descriptor: [UInt8] = [0x80, 6, 0, 1, 0, 0, 0x12, 0]
    private static let reset: [UInt8] = [0x20, 0, 0, 0, 0, 0, 3, 0]
    private static let stream =
        usbip(1, 7, isIn: true, length: 18, setup: descriptor)
        + usbip(1, 8, length: 3, setup: reset, [3, 0x0C, 0])
        + usbip(1, 9, isIn: true, endpoint: 1, length: 16, packets: .max)
        + usbip(2, 10, length: 9)

    private static let requests: [USBIPRequest] = [
        .submit(
            USBIPSubmission(
                sequence: 7,
                endpoint: 0,
                isIn: true,
                length: 18,
                setup: USBSetup(requestType: 0x80, request: 6, value: 0x0100, size: 18)
            )
        ),
        .submit(
            USBIPSubmission(sequence: 8, endpoint: 0, isIn: false, length: 3, setup: .command(3), octets: [3, 0x0C, 0])
        ),
        .submit(
            USBIPSubmission(
                sequence: 9,
                endpoint: 1,
                isIn: true,
                length: 16,
                setup: USBSetup(requestType: 0, request: 0)
            )
        ),
        .unlink(sequence: 10, transfer: 9),
    ]

    @Test func aStreamMaySplitAtEveryOctet() {
        for cut in 0...Self.stream.count {
            var parser = USBIPParser()
            let found = parser.parse(Array(Self.stream[..<cut])) + parser.parse(Array(Self.stream[cut...]))
            #expect(found == Self.requests, "cut at \(cut)")
            #expect(parser.pendingLength == 0)
        }
        var parser = USBIPParser()
        #expect(Self.stream.flatMap { parser.parse([$0]) } == Self.requests)
    }

    @Test(
        "an invalid request ends the stream",
        arguments: [
            usbip(3, 1), usbip(0x8000_0000, 1), usbip(1, 1, endpoint: 16), usbip(1, 1, length: 65_541),
            usbip(1, 1, isIn: true, length: .max), usbip(1, 1, endpoint: 3, packets: 8),
            [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2] + [UInt8](repeating: 0, count: 32),
        ]
    )
    func invalidMessagesEndTheStream(octets: [UInt8]) {
        var parser = USBIPParser()
        #expect(parser.parse(Self.stream + octets).count == 4)
        #expect(parser.failure != nil)
        #expect(parser.parse(Self.stream).isEmpty)
        #expect(parser.pendingLength == 0)
    }

    @Test func theLongestTransferIsTakenWhole() {
        var parser = USBIPParser()
        let octets = (0..<65_540).map { UInt8(truncatingIfNeeded: $0) }
        var found: [USBIPRequest] = []
        let all = usbip(1, 1, endpoint: 2, length: 65_540, octets)
        for start in stride(from: 0, to: all.count, by: 4_096) {
            found += parser.parse(Array(all[start..<min(start + 4_096, all.count)]))
            #expect(parser.pendingLength <= USBIPParser.headerLength + USBIPParser.maximumTransfer)
        }
        guard case .submit(let submission) = found.first else { return recordIssue("nothing was found") }
        #expect(submission.octets == octets)
    }

    @Test func repliesAreAsTheKernelReadsThem() {
        let done = USBIPReply.submitted(sequence: 0x0102, status: .done, length: 2, octets: [7, 8])
        #expect(
            done.octets == [0, 0, 0, 3, 0, 0, 1, 2] + [UInt8](repeating: 0, count: 12 + 4) + [0, 0, 0, 2]
                + [UInt8](repeating: 0, count: 20) + [7, 8]
        )
        let unlinked = USBIPReply.unlinked(sequence: 5, status: .unlinked).octets
        #expect(unlinked.count == 48)
        #expect(Array(unlinked[0..<8]) == [0, 0, 0, 4, 0, 0, 0, 5])
        // The status is -ECONNRESET.
        #expect(Array(unlinked[20..<24]) == [0xFF, 0xFF, 0xFF, 0x98])
        // The status is -EPIPE.
        let stalled = USBIPReply.submitted(sequence: 5, status: .stalled, length: 0, octets: []).octets
        #expect(Array(stalled[20..<24]) == [0xFF, 0xFF, 0xFF, 0xE0])
    }
}
