import ATT
import BluetoothTypes
import GATT
import Testing

@Suite struct ServerDiscoveryTests {
    let client: BareClient

    init() throws {
        client = try ServerFixture().bareClient()
    }

    @Test("GATT/SR/GAD/BV-01: the server lists its primary services")
    func primaryServices() {
        #expect(
            client.exchange([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28])
                == [0x11, 6, 1, 0, 5, 0, 0x00, 0x18, 6, 0, 11, 0, 0x01, 0x18]
        )
        // A long UUID is not listed together with short ones.
        #expect(
            client.exchange([0x10, 12, 0, 0xFF, 0xFF, 0, 0x28])
                == [0x11, 20, 15, 0, 18, 0] + BluetoothUUID.long.littleEndianBytes
        )
        #expect(client.exchange([0x10, 19, 0, 0xFF, 0xFF, 0, 0x28]) == [0x11, 6, 19, 0, 33, 0, 0x0D, 0x18])
        #expect(client.exchange([0x10, 34, 0, 0xFF, 0xFF, 0, 0x28]) == client.error(0x10, 34, .attributeNotFound))
        #expect(client.exchange([0x10, 1, 0, 0xFF, 0xFF, 1, 0x28]) == [0x11, 6, 12, 0, 14, 0, 0x11, 0x11])
    }

    @Test("AB-A07: only services can be read by group type")
    func onlyServicesAreGroups() {
        for type: UInt16 in [0x2802, 0x2803, 0x2A19, 0x2902, 0x0000] {
            let octets = [UInt8(truncatingIfNeeded: type), UInt8(type >> 8)]
            #expect(
                client.exchange([0x10, 1, 0, 0xFF, 0xFF] + octets) == client.error(0x10, 1, .unsupportedGroupType)
            )
        }
        let long = BluetoothUUID.long.littleEndianBytes
        #expect(client.exchange([0x10, 1, 0, 0xFF, 0xFF] + long) == client.error(0x10, 1, .unsupportedGroupType))
    }

    @Test("GATT/SR/GAD/BV-02: the server finds services by UUID")
    func servicesByUUID() {
        let find: [UInt8] = [0x06, 1, 0, 0xFF, 0xFF, 0, 0x28]
        #expect(client.exchange(find + [0x0D, 0x18]) == [0x07, 19, 0, 33, 0])
        #expect(client.exchange(find + BluetoothUUID.long.littleEndianBytes) == [0x07, 15, 0, 18, 0])
        #expect(client.exchange(find + BluetoothUUID(0x180D).expanded.littleEndianBytes) == [0x07, 19, 0, 33, 0])
        #expect(client.exchange(find + [0x0E, 0x18]) == client.error(0x06, 1, .attributeNotFound))
        #expect(client.exchange(find) == client.error(0x06, 1, .attributeNotFound))
        // Other types: only values that any client may read.
        #expect(client.exchange([0x06, 1, 0, 0xFF, 0xFF, 0x19, 0x2A, 0x64]) == [0x07, 14, 0, 14, 0])
        #expect(
            client.exchange([0x06, 1, 0, 0xFF, 0xFF, 0x3A, 0x2A]) == client.error(0x06, 1, .attributeNotFound)
        )
    }

    @Test("GATT/SR/GAD/BV-03: the server lists included services")
    func includedServices() {
        #expect(
            client.exchange([0x08, 19, 0, 33, 0, 2, 0x28]) == [0x09, 8, 20, 0, 12, 0, 14, 0, 0x11, 0x11]
        )
        #expect(client.exchange([0x08, 21, 0, 33, 0, 2, 0x28]) == [0x09, 6, 21, 0, 15, 0, 18, 0])
        #expect(client.exchange([0x0A, 15, 0]) == [0x0B] + BluetoothUUID.long.littleEndianBytes)
        #expect(client.exchange([0x08, 22, 0, 33, 0, 2, 0x28]) == client.error(0x08, 22, .attributeNotFound))
    }

    @Test("GATT/SR/GAD/BV-04, GATT/SR/GAD/BV-05: the server lists characteristics")
    func characteristics() {
        #expect(
            client.exchange([0x08, 19, 0, 33, 0, 3, 0x28])
                == [
                    0x09, 7, 22, 0, 0x30, 23, 0, 0x37, 0x2A, 25, 0, 0x02, 26, 0, 0x38, 0x2A, 27, 0, 0x0E, 28, 0, 0x39,
                    0x2A,
                ]
        )
        #expect(
            client.exchange([0x08, 15, 0, 18, 0, 3, 0x28])
                == [0x09, 21, 16, 0, 0x0A, 17, 0] + BluetoothUUID.longCharacteristic.littleEndianBytes
        )
        #expect(client.exchange([0x08, 17, 0, 18, 0, 3, 0x28]) == client.error(0x08, 17, .attributeNotFound))
    }

    @Test("GATT/SR/GAD/BV-06: the server lists descriptors")
    func descriptors() {
        #expect(client.exchange([0x04, 24, 0, 24, 0]) == [0x05, 1, 24, 0, 2, 0x29])
        #expect(client.exchange([0x04, 18, 0, 18, 0]) == [0x05, 1, 18, 0, 1, 0x29])
        // Five short types fit; a long one comes alone.
        #expect(client.exchange([0x04, 1, 0, 0xFF, 0xFF]).count == 2 + 5 * 4)
        #expect(client.exchange([0x04, 16, 0, 0xFF, 0xFF]) == [0x05, 1, 16, 0, 3, 0x28])
        #expect(
            client.exchange([0x04, 17, 0, 0xFF, 0xFF])
                == [0x05, 2, 17, 0] + BluetoothUUID.longCharacteristic.littleEndianBytes
        )
        #expect(client.exchange([0x04, 34, 0, 0xFF, 0xFF]) == client.error(0x04, 34, .attributeNotFound))
    }

    @Test(
        "GATT/SR/GAR/BI-08: a range that begins at 0 or past its end is refused",
        arguments: [0x04, 0x06, 0x08, 0x10] as [UInt8]
    )
    func badRanges(opcode: UInt8) {
        let type: [UInt8] = opcode == 0x04 ? [] : [0, 0x28]
        #expect(client.exchange([opcode, 0, 0, 5, 0] + type) == client.error(opcode, 0, .invalidHandle))
        #expect(client.exchange([opcode, 6, 0, 5, 0] + type) == client.error(opcode, 6, .invalidHandle))
    }

    @Test(arguments: [23, 30, 64, 185, 517])
    func responsesFillTheMTUAndNeverPassIt(mtu: UInt16) {
        client.agree(mtu)
        let requests: [[UInt8]] = [
            [0x04, 1, 0, 0xFF, 0xFF], [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28],
            [0x0A, 26, 0], [0x0E, 26, 0, 26, 0], [0x20, 26, 0, 26, 0], [0x08, 26, 0, 26, 0, 0x38, 0x2A],
            [0x0C, 26, 0, 1, 0],
        ]
        for request in requests {
            let answer = client.exchange(request)
            #expect(answer.first == request[0] + 1)
            #expect(answer.count <= Int(mtu))
        }
    }
}
