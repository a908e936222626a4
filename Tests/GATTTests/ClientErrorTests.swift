import ATT
import BluetoothTypes
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
}
