import BluetoothTypes
import Testing

@testable import HCI

/// Files with packets of several kinds, as the reader of captures reads them.
@Suite struct PcapngWriterTests {
    private static let reset = HCIPacket(Reset())

    @Test("HCI packets and frames of the air on two interfaces are read as they were written")
    func bothInterfaces() throws {
        var file = PcapngWriter.header([.hci, .air])
        let sent = PcapngWriter.content(of: Self.reset, .hostToController)
        file += PcapngWriter.record(sent, on: 0, at: BTSnoopTests.year2000)
        file += PcapngWriter.record([1, 2, 3], on: 1, at: BTSnoopTests.year2000 + 5, comment: "Belt")
        let received = PcapngWriter.content(of: BTSnoopTests.acl, .controllerToHost)
        file += PcapngWriter.record(received, on: 0, at: BTSnoopTests.year2000 + 9)
        let records = try CaptureReader.records(of: file)
        #expect(records.map(\.unixMicroseconds) == [0, 5, 9].map { BTSnoopTests.year2000 + $0 })
        #expect(records.map(\.adapter) == [0, 1, 0])
        #expect(records[0].content == .hci(Self.reset, .hostToController))
        #expect(records[1].content == .frame(linkType: 256, [1, 2, 3]))
        #expect(records[2].content == .hci(BTSnoopTests.acl, .controllerToHost))
    }

    @Test("a time before 1970 is written as 0")
    func negativeTime() throws {
        let file = PcapngWriter.header([.air]) + PcapngWriter.record([1], on: 0, at: -1)
        #expect(try CaptureReader.records(of: file).map(\.unixMicroseconds) == [0])
    }
}
