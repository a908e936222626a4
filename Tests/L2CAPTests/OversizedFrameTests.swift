import BluetoothTypes
import Testing

@testable import L2CAP

/// PDUs longer than their channel accepts.
@Suite struct OversizedFrameTests {
    let fixture = Fixture(maximumPayload: 10)

    /// The channel is notified once, wherever the fragments are cut, and keeps nothing of the PDU.
    @Test("AB-C01: a channel is notified once of an oversized PDU", arguments: 1...15)
    func theChannelHearsOfItOnce(cut: Int) {
        var heard: [String] = []
        fixture.channel.onOversized = { heard.append("\($0[0]) \($1) \($2 == self.fixture.connection.moment)") }
        let pdu: [UInt8] = [12, 0, 4, 0] + Array(21...32)
        fixture.receive([Array(pdu[..<cut]), [], Array(pdu[cut...])])
        #expect(heard == ["21 12 true"])
        #expect(fixture.discards == [.tooLong(.attribute, length: 12, limit: 10)])
        #expect(fixture.received.isEmpty)
        fixture.receive([[1, 0, 4, 0, 7]])
        #expect(fixture.received == [[7]])
        #expect(heard.count == 1)
    }

    @Test func continuationsWithoutAStartAreIgnored() {
        var heard = 0
        fixture.channel.onOversized = { _, _, _ in heard += 1 }
        fixture.receive([[12, 0, 4, 0]])
        fixture.receive([[1, 0, 4, 0, 7]])
        fixture.receive([[9]], startsAt: nil)
        #expect(heard == 0)
        #expect(fixture.received == [[7]])
    }
}
