import ATT
import BluetoothTypes
import EventLoops
import GATT
import Testing

/// The app receives every error of a server with its code and handle.
@Suite struct ClientErrorTests {
    private static let reading: [ATTErrorCode] = [
        .invalidHandle, .readNotPermitted, .insufficientAuthorization, .insufficientAuthentication,
        .encryptionKeySizeTooShort, .insufficientEncryption, ATTErrorCode(rawValue: 0x80),
    ]
    private static let writing: [ATTErrorCode] = [
        .invalidHandle, .writeNotPermitted, .insufficientAuthorization, .insufficientAuthentication,
        .encryptionKeySizeTooShort, .insufficientEncryption, ATTErrorCode(rawValue: 0x80),
    ]

    private func check<T>(
        _ code: ATTErrorCode,
        _ opcode: ATTOpcode,
        _ procedure: (GATTClient, @escaping (Result<T, GATTError>) -> Void) -> Void
    ) {
        let server = ScriptedServer { request in
            // Only the request in question fails; those before it are answered in full.
            if request[0] == opcode.rawValue { return [0x01, request[0], 11, 0, code.rawValue] }
            return request[0] == 0x16
                ? [0x17] + request.dropFirst() : [request[0] + 1] + [UInt8](repeating: 7, count: 22)
        }
        let error = server.failure { procedure(server.client, $0) }
        #expect(error == .att(ATTErrorResponse(code, to: opcode, at: 11)))
    }

    @Test(
        "GATT/CL/GAR/BI-01, GATT/CL/GAR/BI-02, GATT/CL/GAR/BI-03, GATT/CL/GAR/BI-04, GATT/CL/GAR/BI-05: the errors of a read reach the caller",
        arguments: reading
    )
    func errorsOfARead(code: ATTErrorCode) {
        check(code, .readRequest) { $0.read(11, completion: $1) }
    }

    @Test(
        "GATT/CL/GAR/BI-06, GATT/CL/GAR/BI-07, GATT/CL/GAR/BI-09, GATT/CL/GAR/BI-10, GATT/CL/GAR/BI-11: the errors of a read by type reach the caller",
        arguments: reading + [.attributeNotFound]
    )
    func errorsOfAReadByType(code: ATTErrorCode) {
        check(code, .readByTypeRequest) { $0.readValues(of: 0x2A19, completion: $1) }
    }

    @Test(
        "GATT/CL/GAR/BI-12, GATT/CL/GAR/BI-14, GATT/CL/GAR/BI-15, GATT/CL/GAR/BI-16, GATT/CL/GAR/BI-17: the errors of a read blob reach the caller",
        arguments: reading
    )
    func errorsOfAReadBlob(code: ATTErrorCode) {
        check(code, .readBlobRequest) { $0.read(11, completion: $1) }
    }

    @Test("GATT/CL/GAR/BI-13: a read blob past the end is an error")
    func errorsOfAReadBlobBehindTheEnd() {
        for code: ATTErrorCode in [.invalidOffset, .attributeNotLong] {
            check(code, .readBlobRequest) { $0.read(11, from: 23, completion: $1) }
        }
        check(.invalidOffset, .readBlobRequest) { $0.read(11, completion: $1) }
        let server = ScriptedServer { $0 == [0x0C, 11, 0, 9, 0] ? [0x0D, 1, 2] : nil }
        var value: PacketBuffer?
        server.client.read(11, from: 9) { value = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(value == [1, 2])
    }

    /// A value available over another transport only is refused with an application error.
    @Test("GATT/CL/GAR/BI-35: the application error for a value of another transport reaches the caller")
    func errorsOfAnotherTransport() {
        for code in UInt8(0x80)...0x9F {
            check(ATTErrorCode(rawValue: code), .readRequest) { $0.read(11, completion: $1) }
        }
    }

    @Test(
        "GATT/CL/GAR/BI-18, GATT/CL/GAR/BI-19, GATT/CL/GAR/BI-20, GATT/CL/GAR/BI-21, GATT/CL/GAR/BI-22: the errors of a read of several values reach the caller",
        arguments: reading
    )
    func errorsOfAReadMultiple(code: ATTErrorCode) {
        check(code, .readMultipleRequest) { $0.readMultiple([11, 12], completion: $1) }
    }

    @Test(
        "GATT/CL/GAR/BI-36, GATT/CL/GAR/BI-38, GATT/CL/GAR/BI-40, GATT/CL/GAR/BI-42, GATT/CL/GAR/BI-44: the errors of a read of values of variable length reach the caller",
        arguments: reading
    )
    func errorsOfAReadMultipleVariable(code: ATTErrorCode) {
        check(code, .readMultipleVariableRequest) { $0.readMultipleVariable([11, 12], completion: $1) }
    }

    @Test(
        "GATT/CL/GAW/BI-02, GATT/CL/GAW/BI-03, GATT/CL/GAW/BI-04, GATT/CL/GAW/BI-05, GATT/CL/GAW/BI-06: the errors of a write reach the caller",
        arguments: writing
    )
    func errorsOfAWrite(code: ATTErrorCode) {
        check(code, .writeRequest) { $0.write([1], to: 11, completion: $1) }
    }

    @Test(
        "GATT/CL/GAW/BI-07, GATT/CL/GAW/BI-08, GATT/CL/GAW/BI-11, GATT/CL/GAW/BI-12, GATT/CL/GAW/BI-13: the errors of a prepared write reach the caller",
        arguments: writing
    )
    func errorsOfAPreparedWrite(code: ATTErrorCode) {
        let long = PacketBuffer([UInt8](repeating: 1, count: 40))
        check(code, .prepareWriteRequest) { $0.write(long, to: 11, completion: $1) }
    }

    @Test(
        "GATT/CL/GAW/BI-09: the errors of an executed write reach the caller",
        arguments: writing + [.invalidOffset, .invalidAttributeValueLength]
    )
    func errorsOfAnExecutedWrite(code: ATTErrorCode) {
        let long = PacketBuffer([UInt8](repeating: 1, count: 40))
        check(code, .executeWriteRequest) { $0.write(long, to: 11, completion: $1) }
    }

    /// After 30 seconds the app gets an error, nothing is retransmitted, and the bearer is no longer used.
    private func checkTimeout<T>(
        _ request: [UInt8],
        _ procedure: (GATTClient, @escaping (Result<T, GATTError>) -> Void) -> Void
    ) {
        let server = ScriptedServer { _ in nil }
        var errors: [GATTError] = []
        procedure(server.client) { if case .failure(let error) = $0 { errors.append(error) } }
        server.loop.run(for: .milliseconds(29_900))
        #expect(errors.isEmpty)
        server.loop.run(for: .milliseconds(200))
        #expect(errors == [.bearer(.closed(.requestTimeout))])
        procedure(server.client) { if case .failure(let error) = $0 { errors.append(error) } }
        server.loop.run(for: .seconds(100))
        #expect(errors.count == 2)
        #expect(server.requests == [request])
    }

    @Test("GATT/CL/GAT/BV-01: a read that is not answered ends with a timeout")
    func noAnswerToARead() {
        checkTimeout([0x0A, 11, 0]) { $0.read(11, completion: $1) }
    }

    @Test("GATT/CL/GAT/BV-02: a write that is not answered ends with a timeout")
    func noAnswerToAWrite() {
        checkTimeout([0x12, 11, 0, 1]) { $0.write([1], to: 11, completion: $1) }
    }

    @Test("GATT/CL/GAT/BV-03: a read of several values that is not answered ends with a timeout")
    func noAnswerToAReadOfSeveral() {
        checkTimeout([0x20, 11, 0, 12, 0]) { $0.readMultipleVariable([11, 12], completion: $1) }
    }
}
