import ATT
import BluetoothTypes
import EventLoops
import GATT
import Testing

/// Whatever error a server answers with, the app hears of it with its code and handle.
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

    @Test(arguments: reading)
    func GATT_CL_GAR_BI_01_GATT_CL_GAR_BI_02_GATT_CL_GAR_BI_03_GATT_CL_GAR_BI_04_GATT_CL_GAR_BI_05_read(
        code: ATTErrorCode
    ) {
        check(code, .readRequest) { $0.read(11, completion: $1) }
    }

    @Test(arguments: reading + [.attributeNotFound])
    func GATT_CL_GAR_BI_06_GATT_CL_GAR_BI_07_GATT_CL_GAR_BI_09_GATT_CL_GAR_BI_10_GATT_CL_GAR_BI_11_readByType(
        code: ATTErrorCode
    ) {
        check(code, .readByTypeRequest) { $0.readValues(of: 0x2A19, completion: $1) }
    }

    @Test(arguments: reading)
    func GATT_CL_GAR_BI_12_GATT_CL_GAR_BI_14_GATT_CL_GAR_BI_15_GATT_CL_GAR_BI_16_GATT_CL_GAR_BI_17_readBlob(
        code: ATTErrorCode
    ) {
        check(code, .readBlobRequest) { $0.read(11, completion: $1) }
    }

    @Test func GATT_CL_GAR_BI_13_readBlobBehindTheEnd() {
        for code: ATTErrorCode in [.invalidOffset, .attributeNotLong] {
            check(code, .readBlobRequest) { $0.read(11, from: 23, completion: $1) }
        }
        let server = ScriptedServer { $0 == [0x0C, 11, 0, 9, 0] ? [0x0D, 1, 2] : nil }
        var value: PacketBuffer?
        server.client.read(11, from: 9) { value = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(value == [1, 2])
    }

    /// A value that the server shows over another transport only is refused with an error of its application.
    @Test func GATT_CL_GAR_BI_35_aValueOfAnotherTransport() {
        for code in UInt8(0x80)...0x9F {
            check(ATTErrorCode(rawValue: code), .readRequest) { $0.read(11, completion: $1) }
        }
    }

    @Test(arguments: reading)
    func GATT_CL_GAR_BI_18_GATT_CL_GAR_BI_19_GATT_CL_GAR_BI_20_GATT_CL_GAR_BI_21_GATT_CL_GAR_BI_22_readMultiple(
        code: ATTErrorCode
    ) {
        check(code, .readMultipleRequest) { $0.readMultiple([11, 12], completion: $1) }
    }

    @Test(arguments: reading)
    func GATT_CL_GAR_BI_36_GATT_CL_GAR_BI_38_GATT_CL_GAR_BI_40_GATT_CL_GAR_BI_42_GATT_CL_GAR_BI_44_readVariable(
        code: ATTErrorCode
    ) {
        check(code, .readMultipleVariableRequest) { $0.readMultipleVariable([11, 12], completion: $1) }
    }

    @Test(arguments: writing)
    func GATT_CL_GAW_BI_02_GATT_CL_GAW_BI_03_GATT_CL_GAW_BI_04_GATT_CL_GAW_BI_05_GATT_CL_GAW_BI_06_write(
        code: ATTErrorCode
    ) {
        check(code, .writeRequest) { $0.write([1], to: 11, completion: $1) }
    }

    @Test(arguments: writing)
    func GATT_CL_GAW_BI_07_GATT_CL_GAW_BI_08_GATT_CL_GAW_BI_11_GATT_CL_GAW_BI_12_GATT_CL_GAW_BI_13_prepareWrite(
        code: ATTErrorCode
    ) {
        let long = PacketBuffer([UInt8](repeating: 1, count: 40))
        check(code, .prepareWriteRequest) { $0.write(long, to: 11, completion: $1) }
    }

    @Test(arguments: writing + [.invalidOffset, .invalidAttributeValueLength])
    func GATT_CL_GAW_BI_09_executeWrite(code: ATTErrorCode) {
        let long = PacketBuffer([UInt8](repeating: 1, count: 40))
        check(code, .executeWriteRequest) { $0.write(long, to: 11, completion: $1) }
    }

    /// After 30 seconds the app hears of it, nothing is sent again, and nothing more goes on that bearer.
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

    @Test func GATT_CL_GAT_BV_01_noAnswerToARead() {
        checkTimeout([0x0A, 11, 0]) { $0.read(11, completion: $1) }
    }

    @Test func GATT_CL_GAT_BV_02_noAnswerToAWrite() {
        checkTimeout([0x12, 11, 0, 1]) { $0.write([1], to: 11, completion: $1) }
    }

    @Test func GATT_CL_GAT_BV_03_noAnswerToAReadOfSeveral() {
        checkTimeout([0x20, 11, 0, 12, 0]) { $0.readMultipleVariable([11, 12], completion: $1) }
    }
}
