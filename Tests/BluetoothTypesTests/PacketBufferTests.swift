import BluetoothTypes
import Testing

@Suite struct PacketBufferTests {
    @Test func headersGoInFrontWithoutTouchingOtherViews() {
        var value = PacketBuffer(copying: [1, 2, 3])
        let whole = value
        value.prepend(integer: UInt16(0x1234))
        value.prepend(0xFF)
        #expect(value.bytes == [0xFF, 0x34, 0x12, 1, 2, 3])
        #expect(whole.bytes == [1, 2, 3])
    }

    @Test func prependingBeyondTheHeadroomGrows() {
        var buffer = PacketBuffer([9])
        for index in 0..<40 { buffer.prepend(UInt8(index)) }
        #expect(buffer.bytes == Array((0..<40).reversed()) + [9])
    }

    @Test func appendingToASliceLeavesTheOriginal() {
        let whole: PacketBuffer = [1, 2, 3, 4]
        var slice = whole.slice(1..<3)
        slice.append(9)
        #expect(slice.bytes == [2, 3, 9])
        #expect(whole.bytes == [1, 2, 3, 4])
    }

    @Test func readingNeverPassesTheEnd() throws {
        let buffer: PacketBuffer = [1, 2, 3]
        for length in 0...3 {
            var reader = ByteReader(buffer.prefix(upTo: length))
            if length < 3 {
                #expect(throws: PacketError.self) { try reader.slice(3, at: "x") }
                #expect(reader.position == 0)
            } else {
                #expect(try reader.slice(3, at: "x").bytes == [1, 2, 3])
            }
        }
    }
}

@Suite struct BluetoothUUIDTests {
    @Test func shortFormsEqualTheirExpansion() throws {
        let long = try #require(BluetoothUUID("0000180D-0000-1000-8000-00805F9B34FB"))
        #expect(long == 0x180D)
        #expect(long.hashValue == BluetoothUUID(0x180D).hashValue)
        #expect(BluetoothUUID(bits32: 0x180D) == 0x180D)
        #expect(long.attributeForm.description == "180D")
        #expect(long.description == "0000180D-0000-1000-8000-00805F9B34FB")
        #expect(BluetoothUUID("180d")?.description == "180D")
    }

    @Test(arguments: [
        "", "180", "+80D", "180G", "0000180D-0000-1000-8000-00805F9B34F", "0000180D00001000800000805F9B34FB",
    ])
    func otherStringsAreRefused(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test func bytesGoBothWays() {
        for uuid: BluetoothUUID in [0x2A37, BluetoothUUID(bits32: 0x1234_5678), BluetoothUUID(high: 1, low: 2)] {
            #expect(BluetoothUUID(littleEndian: uuid.littleEndianBytes) == uuid)
            #expect(uuid.littleEndianBytes.count == uuid.width.octets)
        }
        #expect(BluetoothUUID(littleEndian: [1, 2, 3]) == nil)
    }
}
