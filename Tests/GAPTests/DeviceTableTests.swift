import BluetoothTypes
import Testing

@testable import GAP

@Suite struct DeviceTableTests {
    private static let address = BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice)
    private static let advertisement = AdvertisingData([.services([0x180D], width: .bits16, isComplete: true)]).encoded
    private static let scanResponse = AdvertisingData([.localName(.init("Strap"))]).encoded

    @Test("behaviour 2.15: the scan response is merged into the advertisement")
    func theScanResponseIsMergedIntoTheAdvertisement() throws {
        var table = DeviceTable()
        let firstSighting = table.receive(
            ReceivedPacket(.connectable, from: Self.address, data: Self.advertisement, rssi: -40)
        )
        let first = try #require(firstSighting)
        #expect(first.data.localName == nil)
        #expect(!first.hasScanResponse)
        let secondSighting = table.receive(
            ReceivedPacket(.scanResponse, from: Self.address, data: Self.scanResponse, rssi: -41)
        )
        let second = try #require(secondSighting)
        #expect(second.data.serviceUUIDs == [0x180D])
        #expect(second.data.localName?.text == "Strap")
        #expect(second.hasScanResponse)
        #expect(second.isConnectable)
        #expect(second.rssi == -41)
        let thirdSighting = table.receive(
            ReceivedPacket(.connectable, from: Self.address, data: Self.advertisement, rssi: -42)
        )
        let third = try #require(thirdSighting)
        #expect(third.data.localName?.text == "Strap")
        #expect(third.hasScanResponse)
    }

    @Test("behaviour 2.12: a device is connectable if its latest packet says so")
    func connectableIsThatOfThePacket() {
        var table = DeviceTable()
        let kinds: [(AdvertisingKind, Bool)] = [
            (.connectable, true), (.nonConnectable, false), (.scannable, false), (.directed, true),
        ]
        for (kind, isConnectable) in kinds {
            let sighting = table.receive(ReceivedPacket(kind, from: Self.address, data: [], rssi: 127))
            #expect(sighting?.isConnectable == isConnectable)
        }
    }

    @Test func aScanResponseAloneTellsTooLittle() {
        var table = DeviceTable()
        #expect(
            table.receive(ReceivedPacket(.scanResponse, from: Self.address, data: Self.scanResponse, rssi: -40)) == nil
        )
        #expect(table.count == 0)
    }

    @Test("a scan response that does not name its set belongs to the set received last")
    func aScanResponseBelongsToTheSetHeardLast() {
        var table = DeviceTable()
        for set in [7, 3] as [UInt8] {
            var packet = ReceivedPacket(.scannable, from: Self.address, data: [], rssi: -40)
            packet.advertiser.sid = set
            _ = table.receive(packet)
        }
        let sighting = table.receive(
            ReceivedPacket(.scanResponse, from: Self.address, data: Self.scanResponse, rssi: -40)
        )
        #expect(sighting?.sid == 3)
        #expect(sighting?.data.localName?.text == "Strap")
        let stranger = BluetoothAddress(0xC0_0000_0000_02, kind: .randomDevice)
        #expect(table.receive(ReceivedPacket(.scanResponse, from: stranger, data: Self.scanResponse, rssi: -40)) == nil)
    }

    @Test func anEmptyScanResponseIsNone() {
        var table = DeviceTable()
        _ = table.receive(ReceivedPacket(.connectable, from: Self.address, data: Self.advertisement, rssi: -40))
        let sighting = table.receive(ReceivedPacket(.scanResponse, from: Self.address, data: [], rssi: -40))
        #expect(sighting?.hasScanResponse == false)
    }

    @Test("AB-G02: the table of devices is bounded and keeps devices that are received often")
    func theTableIsBoundedAndKeepsWhatItHearsOften() {
        var table = DeviceTable()
        for index in 0..<100_000 {
            let stranger = BluetoothAddress(UInt64(index), kind: .randomDevice)
            _ = table.receive(ReceivedPacket(.connectable, from: stranger, data: Self.advertisement, rssi: -70))
            if index % 100 == 0 {
                _ = table.receive(ReceivedPacket(.connectable, from: Self.address, data: Self.advertisement, rssi: -40))
            }
            if index == 0 {
                _ = table.receive(ReceivedPacket(.scanResponse, from: Self.address, data: Self.scanResponse, rssi: -40))
            }
        }
        #expect(table.count <= DeviceTable.maximumDevices)
        let sighting = table.receive(
            ReceivedPacket(.connectable, from: Self.address, data: Self.advertisement, rssi: -40)
        )
        #expect(sighting?.hasScanResponse == true)
    }
}
