import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import Testing

@Suite struct ServerReadTests {
    let client: BareClient
    var app: RecordingApp { client.fixture.app }

    init() throws {
        client = try ServerFixture().bareClient()
    }

    @Test("GATT/SR/GAR/BV-01: the server answers reads")
    func answersReads() {
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
        #expect(client.exchange([0x0A, 3, 0]) == [0x0B] + Array("Harald".utf8))
        app.values[28] = [7, 8, 9]
        #expect(client.exchange([0x0A, 28, 0]) == [0x0B, 7, 8, 9])
    }

    @Test(
        "GATT/SR/GAR/BI-01, GATT/SR/GAR/BI-02, GATT/SR/GAR/BI-03: the server refuses reads with the error of the cause"
    )
    func refusesReads() {
        #expect(client.exchange([0x0A, 33, 0]) == client.error(0x0A, 33, .readNotPermitted))
        #expect(client.exchange([0x0A, 99, 0]) == client.error(0x0A, 99, .invalidHandle))
        #expect(client.exchange([0x0A, 0, 0]) == client.error(0x0A, 0, .invalidHandle))
        app.refusals[28] = .insufficientAuthorization
        #expect(client.exchange([0x0A, 28, 0]) == client.error(0x0A, 28, .insufficientAuthorization))
        #expect(app.reads.count == 1)
    }

    @Test("GATT/SR/GAR/BV-03: the server answers reads by type")
    func answersReadByType() {
        #expect(client.exchange([0x08, 1, 0, 0xFF, 0xFF, 0x19, 0x2A]) == [0x09, 3, 14, 0, 0x64])
        app.values[28] = [7, 8]
        #expect(client.exchange([0x08, 1, 0, 0xFF, 0xFF, 0x39, 0x2A]) == [0x09, 4, 28, 0, 7, 8])
        // The client's own configurations: two of them, equal in length.
        #expect(client.exchange([0x08, 1, 0, 0xFF, 0xFF, 2, 0x29]) == [0x09, 4, 9, 0, 0, 0, 24, 0, 0, 0])
    }

    @Test("GATT/SR/GAR/BI-06, GATT/SR/GAR/BI-07: the server refuses reads by type with the error of the cause")
    func refusesReadByType() {
        #expect(client.exchange([0x08, 1, 0, 0xFF, 0xFF, 0x3B, 0x2A]) == client.error(0x08, 33, .readNotPermitted))
        #expect(client.exchange([0x08, 1, 0, 0xFF, 0xFF, 0x99, 0x99]) == client.error(0x08, 1, .attributeNotFound))
    }

    @Test(
        "GATT/SR/GAR/BV-04, GATT/SR/GAR/BI-12, GATT/SR/GAR/BI-13, GATT/SR/GAR/BI-14: the server answers read blob requests up to the end of the value"
    )
    func answersReadBlob() {
        #expect(client.exchange([0x0A, 26, 0]) == [0x0B] + [UInt8](0..<22))
        #expect(client.exchange([0x0C, 26, 0, 22, 0]) == [0x0D] + [UInt8](22..<44))
        #expect(client.exchange([0x0C, 26, 0, 0xFE, 1]) == [0x0D, 0xFE, 0xFF])
        #expect(client.exchange([0x0C, 26, 0, 0x00, 2]) == [0x0D])
        #expect(client.exchange([0x0C, 26, 0, 0x01, 2]) == client.error(0x0C, 26, .invalidOffset))
        #expect(client.exchange([0x0C, 33, 0, 0, 0]) == client.error(0x0C, 33, .readNotPermitted))
        #expect(client.exchange([0x0C, 99, 0, 0, 0]) == client.error(0x0C, 99, .invalidHandle))
    }

    @Test("behaviour 7.32: the app receives the offset of a read")
    func theAppSeesTheOffset() {
        app.values[28] = [UInt8](0..<30)
        client.exchange([0x0A, 28, 0])
        #expect(client.exchange([0x0C, 28, 0, 22, 0]) == [0x0D] + [UInt8](22..<30))
        #expect(client.exchange([0x0C, 28, 0, 31, 0]) == client.error(0x0C, 28, .invalidOffset))
        #expect(app.reads.map(\.offset) == [0, 22, 31])
    }

    @Test("GATT/SR/GAR/BV-05, GATT/SR/GAR/BI-18, GATT/SR/GAR/BI-19: the server answers a read of several values")
    func answersReadMultiple() {
        app.values[28] = [7, 8]
        #expect(client.exchange([0x0E, 14, 0, 28, 0, 14, 0]) == [0x0F, 0x64, 7, 8, 0x64])
        #expect(client.exchange([0x0E, 14, 0, 33, 0, 99, 0]) == client.error(0x0E, 33, .readNotPermitted))
        #expect(client.exchange([0x0E, 28, 0, 99, 0]) == client.error(0x0E, 99, .invalidHandle))
        #expect(app.reads.count == 1)
    }

    @Test("GATT/SR/GAR/BV-09, AB-A03: the server answers a read of values of variable length, truncated at the MTU")
    func answersReadMultipleVariable() {
        app.values[28] = [7, 8]
        #expect(client.exchange([0x20, 14, 0, 28, 0]) == [0x21, 1, 0, 0x64, 2, 0, 7, 8])
        // Cut exactly at MTU-1, with the length of the whole value.
        #expect(client.exchange([0x20, 28, 0, 26, 0]) == [0x21, 2, 0, 7, 8, 0, 2] + [UInt8](0..<16))
        // A length that would not fit completely is left out.
        app.values[28] = [UInt8](repeating: 1, count: 19)
        #expect(client.exchange([0x20, 28, 0, 14, 0]) == [0x21, 19, 0] + [UInt8](repeating: 1, count: 19))
        app.values[28] = [UInt8](repeating: 1, count: 18)
        #expect(client.exchange([0x20, 28, 0, 14, 0]) == [0x21, 18, 0] + [UInt8](repeating: 1, count: 18) + [1, 0])
    }

    @Test(
        "GATT/SR/GAR/BI-36, GATT/SR/GAR/BI-38: the server refuses a read of values of variable length with the first error"
    )
    func refusesReadMultipleVariable() {
        #expect(client.exchange([0x20, 14, 0, 33, 0, 99, 0]) == client.error(0x20, 33, .readNotPermitted))
        #expect(client.exchange([0x20, 28, 0, 99, 0]) == client.error(0x20, 99, .invalidHandle))
    }

    @Test("GATT/SR/GAR/BV-06, GATT/SR/GAR/BV-07, GATT/SR/GAR/BV-08: the server answers reads of descriptors")
    func answersReadsOfDescriptors() {
        let text = Array("something long enough to need blobs on a small MTU".utf8)
        let end = UInt8(text.count)
        #expect(client.exchange([0x0A, 18, 0]) == [0x0B] + text.prefix(22))
        #expect(client.exchange([0x0C, 18, 0, 44, 0]) == [0x0D] + text[44...])
        #expect(client.exchange([0x0C, 18, 0, end, 0]) == [0x0D])
        #expect(client.exchange([0x0C, 18, 0, end + 1, 0]) == client.error(0x0C, 18, .invalidOffset))
    }

    @Test("AB-A03: a read of several values accepts at least two handles and as many as fit")
    func manyAndFewHandles() {
        for opcode: UInt8 in [0x0E, 0x20] {
            #expect(client.exchange([opcode]) == client.error(opcode, 0, .invalidPDU))
            #expect(client.exchange([opcode, 14, 0]) == client.error(opcode, 0, .invalidPDU))
            #expect(client.exchange([opcode, 14, 0, 14, 0, 14]) == client.error(opcode, 0, .invalidPDU))
        }
        client.agree(517)
        let handles = Array(repeating: [26, 0] as [UInt8], count: 258).flatMap(\.self)
        for opcode: UInt8 in [0x0E, 0x20] { #expect(client.exchange([opcode] + handles).count == 517) }
        let asked = Array(repeating: [28, 0] as [UInt8], count: 258).flatMap(\.self)
        app.values[28] = [1]
        #expect(client.exchange([0x0E] + asked).count == 259)
    }

    @Test("behaviour 7.33: the app answers a read later, and once")
    func theAppAnswersLaterAndOnce() {
        app.isSlow = true
        #expect(client.exchange([0x0A, 28, 0]).isEmpty)
        #expect(client.exchange([0x12, 28, 0, 1]).isEmpty)
        #expect(app.writes.isEmpty)
        client.fixture.loop.run(for: .seconds(5))
        app.reads[0].respond(.success([1]))
        app.reads[0].respond(.success([2]))
        #expect(app.writes.count == 1)
        app.writes[0].respond(.writeNotPermitted)
        app.writes[0].respond()
        #expect(client.sent() == [[0x0B, 1], client.error(0x12, 28, .writeNotPermitted)])
    }

    @Test func anAnswerAfterTheEndIsDropped() {
        app.isSlow = true
        client.exchange([0x0E, 28, 0, 17, 0])
        client.connection.close()
        app.reads[0].respond(.success([1]))
        #expect(app.reads.count == 1 || client.sent().isEmpty)
        #expect(client.fixture.server.sessions.isEmpty)
    }

    @Test func withoutADelegateTheServerStillAnswers() {
        client.fixture.server.delegate = nil
        #expect(client.exchange([0x0A, 28, 0]) == client.error(0x0A, 28, .unlikelyError))
        #expect(client.exchange([0x12, 28, 0]) == client.error(0x12, 28, .unlikelyError))
    }
}
