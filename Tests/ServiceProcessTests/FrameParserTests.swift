import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import ServiceProcess

@Suite struct FrameParserTests {
    private static let messages: [PacketBuffer] = [
        [1], [], [2, 3, 4], PacketBuffer([UInt8](repeating: 9, count: 300)),
    ]
    private static let octets = messages.flatMap { FrameParser.frame($0).bytes }

    @Test("messages are reassembled however their octets are split")
    func messagesComeWholeWhereverTheyAreSplit() throws {
        for cut in 0...Self.octets.count {
            var parser = FrameParser()
            let front = try parser.parse(PacketBuffer(Array(Self.octets[..<cut])))
            let back = try parser.parse(PacketBuffer(Array(Self.octets[cut...])))
            #expect(front + back == Self.messages, "\(cut)")
        }
        var parser = FrameParser()
        #expect(try Self.octets.flatMap { try parser.parse([$0]) } == Self.messages)
    }

    @Test("AB-G05: a length beyond the limit is refused before any content arrives")
    func aLengthBeyondTheBoundIsRefused() throws {
        var parser = FrameParser()
        let longest = UInt32(ServiceLimits.message)
        var header = PacketBuffer(capacity: 4)
        header.append(integer: longest)
        #expect(try parser.parse(header).isEmpty)
        parser = FrameParser()
        #expect(throws: FrameParser.TooLong(length: 0xFFFF_FFFF)) { try parser.parse([0xFF, 0xFF, 0xFF, 0xFF]) }
        var over = PacketBuffer(capacity: 4)
        over.append(integer: longest + 1)
        #expect(throws: FrameParser.TooLong(length: Int(longest) + 1)) { try FrameParser().taking(over) }
    }

    @Test func octetsByLotNeverTrap() {
        let random = RandomSource(seed: 5)
        for _ in 0..<2_000 {
            var parser = FrameParser()
            for _ in 0..<4 {
                var octets = random.bytes(Int(random.below(40)))
                // Makes the length a plausible one.
                if octets.count > 4 { octets.replaceSubrange(2..<4, with: [0, 0]) }
                guard (try? parser.parse(PacketBuffer(octets))) != nil else { break }
            }
        }
    }
}

extension FrameParser {
    fileprivate func taking(_ octets: PacketBuffer) throws -> [PacketBuffer] {
        var parser = self
        return try parser.parse(octets)
    }
}
