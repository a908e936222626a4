import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Every field of legacy commands and reports in their extended forms, octet by octet.
@Suite struct ConversionTests {
    private static let peer = BluetoothAddress(0xC0_1122_3344_55, kind: .randomDevice)

    @Test func aLegacyReportKeepsEveryField() {
        let report = ExtendedAdvertisingReport(
            legacy: LEExtendedReportKind(rawValue: 0x0013),
            Self.peer,
            target: BluetoothAddress(0x0A0B_0C0D_0E0F, kind: .publicDevice),
            data: [0xAA, 0xBB],
            rssi: -60
        )
        #expect(
            report.encoded() == [
                0x13, 0x00, 0x01, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 0x01, 0x00, 0xFF, 0x7F, 0xC4, 0x00, 0x00, 0x00,
                0x0F, 0x0E, 0x0D, 0x0C, 0x0B, 0x0A, 0x02, 0xAA, 0xBB,
            ]
        )
    }

    @Test func aReportOfAPDUWithoutAuxiliariesKeepsEveryField() throws {
        var header = ExtendedHeader()
        header.advertiser = Self.peer
        header.target = BluetoothAddress(0x0A0B_0C0D_0E0F, kind: .publicDevice)
        header.info = AdvertisingDataInfo(set: 4, data: 0x123)
        header.txPower = -7
        let pdu = ExtendedAdvertisement(mode: .nonConnectable, extended: header, data: [0xAA, 0xBB])
        let frame = RadioFrame.advertising(AdvertisingPDU.extended(pdu).encoded(), channel: 37, phy: .codedS8)
        let received = ReceivedFrame(frame: frame, start: .zero, rssi: -61, isCorrupted: false)
        let report = try #require(ExtendedAdvertisingReport(pdu, received, primaryPHY: .coded))
        #expect(
            report.encoded() == [
                0x04, 0x00, 0x01, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 0x03, 0x00, 0x04, 0xF9, 0xC3, 0x00, 0x00, 0x00,
                0x0F, 0x0E, 0x0D, 0x0C, 0x0B, 0x0A, 0x02, 0xAA, 0xBB,
            ]
        )
    }

    @Test func legacyConnectionParametersKeepEveryField() {
        let command = LECreateConnection {
            $0.scanInterval = 0x60
            $0.scanWindow = 0x30
            $0.filterPolicy = .acceptList
            $0.peerAddress = Self.peer
            $0.ownAddressKind = .randomDevice
            $0.intervalMin = 0x18
            $0.intervalMax = 0x28
            $0.maxLatency = 3
            $0.supervisionTimeout = 0x190
            $0.minCELength = 5
            $0.maxCELength = 6
        }
        #expect(
            LEExtendedCreateConnection(command).encoded() == [
                0x01, 0x01, 0x01, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 0x01, 0x60, 0x00, 0x30, 0x00, 0x18, 0x00, 0x28,
                0x00, 0x03, 0x00, 0x90, 0x01, 0x05, 0x00, 0x06, 0x00,
            ]
        )
    }

    @Test func legacyAdvertisingParametersKeepEveryField() {
        let command = LESetAdvertisingParameters {
            $0.intervalMin = 0x30
            $0.intervalMax = 0x60
            $0.kind = .scannable
            $0.ownAddressKind = .randomDevice
            $0.peerAddress = Self.peer
            $0.channels = .channel38
            $0.filterPolicy = .acceptListOnly
        }
        #expect(
            LESetExtendedAdvertisingParameters(command).encoded() == [
                0x00, 0x12, 0x00, 0x30, 0x00, 0x00, 0x60, 0x00, 0x00, 0x02, 0x01, 0x01, 0x55, 0x44, 0x33, 0x22, 0x11,
                0xC0, 0x03, 0x7F, 0x01, 0x00, 0x01, 0x00, 0x00,
            ]
        )
    }
}
