import BluetoothTypes
import Testing

@testable import HCI

/// The framing of commands and events, which is parsed before their contents.
@Suite struct FrameTests {
    @Test("AB-H02: a truncated frame is never decoded as a frame")
    func noPartOfAFrameIsAFrame() throws {
        let frames = [
            HCIPacket(LESetScanEnable(isEnabled: true, filterDuplicates: .enabled)),
            HCIPacket(CommandStatus(credits: 1, opcode: Reset.opcode)), HCIPacket(Reset()),
        ]
        for frame in frames {
            let read: (PacketBuffer) throws(PacketError) -> Void = { bytes throws(PacketError) in
                if frame.kind == .command {
                    _ = try CommandPacket(reading: bytes)
                } else {
                    _ = try EventPacket(reading: bytes)
                }
            }
            try read(frame.bytes)
            for length in 0..<frame.bytes.count {
                #expect(throws: PacketError.self) { try read(frame.bytes.prefix(upTo: length)) }
            }
            var longer = frame.bytes
            longer.append(0)
            #expect(throws: PacketError.self) { try read(longer) }
        }
    }
}

@Suite struct ACLPacketTests {
    @Test func theHeaderGoesIntoTheHeadroom() throws {
        let payload = PacketBuffer(copying: [1, 2, 3])
        let room = payload.headroom
        let bytes = ACLPacket(handle: .init(rawValue: 0x0EFF), boundary: .continuation, payload: payload).encoded()
        #expect(bytes.bytes == [0xFF, 0x1E, 3, 0, 1, 2, 3])
        #expect(bytes.headroom == room - ACLPacket.headerSize)
        let read = try ACLPacket(reading: bytes)
        #expect(read.handle.rawValue == 0x0EFF)
        #expect(read.boundary == .continuation)
        #expect(read.payload == [1, 2, 3])
    }

    @Test("AB-H02: ACL data whose length differs from the header's are rejected")
    func dataOfAnotherLengthThanTheHeaderSaysAreRefused() {
        let whole: PacketBuffer = [0x40, 0x20, 3, 0, 1, 2, 3]
        for length in 0..<whole.count {
            #expect(throws: PacketError.self) { try ACLPacket(reading: whole.prefix(upTo: length)) }
        }
        #expect(throws: PacketError(.trailing(1), at: "ACL data")) { try ACLPacket(reading: [0x40, 0x20, 0, 0, 1]) }
    }

    @Test(arguments: ACLPacket.Boundary.allValues) func flagsComeBack(boundary: ACLPacket.Boundary) throws {
        var packet = ACLPacket(handle: .init(rawValue: 1), boundary: boundary, payload: [7])
        packet.broadcast = 2
        #expect(try ACLPacket(reading: packet.encoded()) == packet)
        #expect(boundary.isStart == (boundary.rawValue != 1))
    }
}

extension ACLPacket.Boundary {
    static let allValues: [ACLPacket.Boundary] = [.startNonFlushable, .continuation, .start, .complete]
}
