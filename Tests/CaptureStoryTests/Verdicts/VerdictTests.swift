import ATT
import BluetoothTypes
import HCI
import Testing

@testable import CaptureStory

@Suite struct VerdictTests {
    @Test("the verdict on a broken capture names what failed, and why", arguments: VerdictCase.broken)
    func brokenCaptures(_ capture: VerdictCase) {
        let verdict = capture.verdict
        let text = verdict.lines.joined(separator: "\n")
        #expect(verdict.outcome == capture.outcome, "\(text)")
        #expect((2...3).contains(verdict.lines.count), "\(text)")
        #expect(verdict.cause != nil)
        for part in capture.says { #expect(text.contains(part), "\(text)") }
    }

    @Test("the verdict on a healthy capture accuses no device", arguments: VerdictCase.healthy)
    func healthyCaptures(_ capture: VerdictCase) {
        let verdict = capture.verdict
        let text = verdict.lines.joined(separator: "\n")
        #expect(verdict.outcome == .succeeded, "\(text)")
        #expect(verdict.effect == nil)
        for part in capture.says { #expect(text.contains(part), "\(text)") }
    }

    /// Requests, and responses that some octets are missing of.
    private static let exchanges: [(request: [UInt8], response: [UInt8])] = [
        ([0x02, 5, 2], [0x03, 185, 0]),
        ([0x04, 1, 0, 9, 0], [0x05, 1, 1, 0, 0, 0x28, 2, 0, 3, 0x28]),
        ([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0D, 0x18], [0x07, 1, 0, 5, 0, 9, 0, 12, 0]),
        ([0x08, 1, 0, 9, 0, 3, 0x28], [0x09, 7, 2, 0, 0x10, 3, 0, 0x37, 0x2A, 5, 0, 2, 6, 0, 0x38, 0x2A]),
        ([0x0A, 3, 0], [0x01, 0x0A, 3, 0, 0x02]),
        ([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 5, 0, 0, 0x18, 6, 0, 9, 0, 1, 0x18]),
        ([0x16, 3, 0, 0, 0, 1, 2], [0x17, 3, 0, 0, 0, 1, 2]),
    ]

    @Test("a response that is cut off at any octet, so that it cannot be read, is the cause of an end for lack of it")
    func cutResponses() {
        var count = 0
        for (request, response) in Self.exchanges {
            for length in 1..<response.count {
                let cut = Array(response.prefix(length))
                guard (try? ATTPDU(reading: PacketBuffer(cut))) == nil else { continue }
                var bench = CaptureBench()
                bench.connectAsAsked()
                bench.request(request, cut)
                bench.leave(after: 30 * CaptureBench.second)
                let text = bench.told().story.verdict().lines.joined(separator: "\n")
                let opcode = String(response[0], radix: 16)
                #expect(text.contains("within 30 s, but sent an unreadable PDU (opcode 0x\(opcode))"), "\(text)")
                count += 1
            }
        }
        #expect(count > 40)
    }

    @Test func thereAreThirtyOfEach() {
        #expect(VerdictCase.broken.count >= 30)
        #expect(VerdictCase.healthy.count >= 30)
    }

    @Test("a verdict about one connection is about no other")
    func oneConnection() {
        var bench = CaptureBench()
        bench.connectAsAsked()
        bench.read(error: 0x02)
        bench.leave()
        bench.connectAsAsked(BluetoothAddress(7, kind: .publicDevice))
        bench.read()
        bench.leave()
        let story = bench.told().story
        #expect(story.verdict().outcome == .failed)
        #expect(story.verdict(of: 1).connection == 1)
        #expect(story.verdict(of: 2).outcome == .succeeded)
    }

    @Test("failures beyond the bound are counted, and the verdict stays short")
    func manyFailures() {
        var bench = CaptureBench()
        for number in 0..<200 {
            bench.connectAsAsked(BluetoothAddress(UInt64(number) + 1, kind: .publicDevice))
            bench.ends(.connectionTimeout)
        }
        let verdict = bench.told().story.verdict()
        #expect(verdict.others == 199)
        #expect(verdict.lines.count == 3)
    }
}
