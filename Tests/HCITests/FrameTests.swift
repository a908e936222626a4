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
