import BluetoothTypes
import L2CAP
import Testing

@testable import ATT

/// The moment at which a PDU began to arrive, and its consequences.
@Suite struct ReceiptTests {
    let fixture = BearerFixture.listening()

    /// Octets that begin before the request was sent do not answer it, wherever they are cut.
    @Test("AB-A10: a response begun before the request does not answer it", arguments: 1...5)
    func aResponseBegunBeforeTheRequestIsNoAnswer(cut: Int) {
        let forged: [UInt8] = [2, 0, 4, 0, 0x0B, 9]
        fixture.receive(Array(forged[..<cut]), isStart: true)
        fixture.read(1)
        fixture.receive(Array(forged[cut...]), isStart: false)
        #expect(fixture.results.isEmpty)
        fixture.exchange([0x0B, 7])
        #expect(fixture.results == [.success(.readResponse(ATTReadResponse(value: [7])))])
    }

    /// The second of two requests is sent when the first is answered.
    @Test("AB-A10: the response to a request that had to wait counts")
    func aRequestThatWaitedIsSentWhenItIs() {
        fixture.read(1)
        fixture.read(2)
        fixture.exchange([0x0B, 1])
        fixture.exchange([0x0B, 2])
        #expect(fixture.results.count == 2)
    }

    @Test("AB-A10: a confirmation begun before the indication confirms nothing")
    func aConfirmationBegunBeforeTheIndicationConfirmsNothing() {
        var confirmed = 0
        fixture.receive([1, 0, 4], isStart: true)
        #expect(fixture.bearer.indicate([1], of: 3) { _ in confirmed += 1 })
        fixture.receive([0, 0x1E], isStart: false)
        #expect(confirmed == 0)
        fixture.exchange([0x1E])
        #expect(confirmed == 1)
    }

    /// A request that waits for others keeps the moment of its own arrival.
    @Test func requestsKeepTheirMoments() {
        fixture.serve()
        var moments: [LinkMoment] = []
        for handle: UInt8 in 1...3 {
            fixture.exchange([0x0A, handle, 0])
            moments.append(fixture.bearer.moment)
        }
        fixture.exchange([0x1B, 1, 0])
        while fixture.replies.count < 3 { fixture.replies.last?.fail(.unlikelyError) }
        #expect(fixture.replies.map(\.moment) == moments)
        #expect(moments == moments.sorted())
        #expect(Set(moments).count == 3)
    }
}
