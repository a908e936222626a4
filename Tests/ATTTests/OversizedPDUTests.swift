import BluetoothTypes
import Testing

@testable import ATT

/// PDUs longer than this side accepts.
@Suite struct OversizedPDUTests {
    let fixture = BearerFixture.listening()

    /// 518 octets on a channel that accepts 517, and 186 with an agreed MTU of 185, both fail immediately.
    @Test(arguments: [186, 517, 518, 600])
    func aResponseThatIsTooLongFailsAtOnce(length: Int) {
        fixture.agree(185)
        for cut in [4, 5, 6, 100, 0] {
            fixture.results = []
            fixture.read(1)
            fixture.read(2)
            _ = fixture.sent()
            let pdu =
                [UInt8(truncatingIfNeeded: length), UInt8(length >> 8), 4, 0, 0x0B]
                + [UInt8](repeating: 7, count: length - 1)
            if cut > 0 {
                fixture.receive(Array(pdu[..<cut]), isStart: true)
                fixture.receive(Array(pdu[cut...]), isStart: false)
            } else {
                fixture.receive(pdu, isStart: true)
            }
            #expect(fixture.results == [.failure(.oversizedResponse(.readResponse, length: length))], "cut at \(cut)")
            // The next request has been sent, and is answered.
            #expect(fixture.sent() == [[0x0A, 2, 0]])
            fixture.exchange([0x0B, 7])
            #expect(fixture.results.count == 2)
            #expect(fixture.closures.isEmpty)
        }
    }

    /// A PDU that answers another request, or none, or began before the request, causes no failure.
    @Test("AB-A05: an oversized PDU that does not answer the request causes no failure")
    func oversizedPDUsThatAreNotResponsesAreIgnored() {
        let long = [UInt8](repeating: 7, count: 600)
        fixture.receive([0x59, 2, 4, 0], isStart: true)
        fixture.read(1)
        fixture.receive([0x0B] + long, isStart: false)
        for opcode: UInt8 in [0x09, 0x01, 0x0D, 0x1B, 0x23, 0x52, 0xD2, 0x1E] { fixture.exchange([opcode] + long) }
        #expect(fixture.results.isEmpty)
        #expect(fixture.sent() == [])
        fixture.exchange([0x0B, 7])
        #expect(fixture.results == [.success(.readResponse(ATTReadResponse(value: [7])))])
    }

    /// Indications are confirmed at any length (AB-A09), and requests are answered in their turn.
    @Test("AB-A09: oversized requests and indications are answered nevertheless")
    func thePeerIsNotLeftWaiting() {
        fixture.serve()
        fixture.recordValues()
        _ = fixture.sent()
        let long = [UInt8](repeating: 7, count: 600)
        #expect(fixture.exchange([0x1D, 3, 0] + long) == [[0x1E]])
        #expect(fixture.exchange([0x12, 3, 0] + long) == [[0x01, 0x12, 0, 0, 0x04]])
        #expect(fixture.exchange([0x0A, 3, 0]).isEmpty)
        #expect(fixture.exchange([0x16, 3, 0] + long).isEmpty)
        fixture.replies.last?.fail(.unlikelyError)
        #expect(fixture.sent() == [[0x01, 0x0A, 0, 0, 0x0E], [0x01, 0x16, 0, 0, 0x04]])
        #expect(fixture.values.isEmpty)
        #expect(fixture.requests.count == 1)
        #expect(fixture.closures.isEmpty)
    }

    /// AB-A06: they count towards the limit of waiting requests like others.
    @Test("AB-A06: endless oversized requests close the bearer like others")
    func longRequestsWithoutEnd() {
        fixture.serve()
        fixture.exchange([0x0A, 3, 0])
        for _ in 0..<100 { fixture.exchange([0x12, 3, 0] + [UInt8](repeating: 7, count: 600)) }
        #expect(fixture.closures == [.tooManyRequests])
    }
}
