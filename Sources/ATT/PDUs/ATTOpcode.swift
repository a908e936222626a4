import BluetoothTypes

/// The first octet of an ATT PDU (Core Vol 3 Part F 3.3.1 and 3.4.8).
package struct ATTOpcode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    /// Creates an opcode, which may be an unassigned one.
    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// ATT_ERROR_RSP.
    package static let errorResponse = ATTOpcode(rawValue: 0x01)
    /// ATT_EXCHANGE_MTU_REQ.
    package static let exchangeMTURequest = ATTOpcode(rawValue: 0x02)
    /// ATT_EXCHANGE_MTU_RSP.
    package static let exchangeMTUResponse = ATTOpcode(rawValue: 0x03)
    /// ATT_FIND_INFORMATION_REQ.
    package static let findInformationRequest = ATTOpcode(rawValue: 0x04)
    /// ATT_FIND_INFORMATION_RSP.
    package static let findInformationResponse = ATTOpcode(rawValue: 0x05)
    /// ATT_FIND_BY_TYPE_VALUE_REQ.
    package static let findByTypeValueRequest = ATTOpcode(rawValue: 0x06)
    /// ATT_FIND_BY_TYPE_VALUE_RSP.
    package static let findByTypeValueResponse = ATTOpcode(rawValue: 0x07)
    /// ATT_READ_BY_TYPE_REQ.
    package static let readByTypeRequest = ATTOpcode(rawValue: 0x08)
    /// ATT_READ_BY_TYPE_RSP.
    package static let readByTypeResponse = ATTOpcode(rawValue: 0x09)
    /// ATT_READ_REQ.
    package static let readRequest = ATTOpcode(rawValue: 0x0A)
    /// ATT_READ_RSP.
    package static let readResponse = ATTOpcode(rawValue: 0x0B)
    /// ATT_READ_BLOB_REQ.
    package static let readBlobRequest = ATTOpcode(rawValue: 0x0C)
    /// ATT_READ_BLOB_RSP.
    package static let readBlobResponse = ATTOpcode(rawValue: 0x0D)
    /// ATT_READ_MULTIPLE_REQ.
    package static let readMultipleRequest = ATTOpcode(rawValue: 0x0E)
    /// ATT_READ_MULTIPLE_RSP.
    package static let readMultipleResponse = ATTOpcode(rawValue: 0x0F)
    /// ATT_READ_BY_GROUP_TYPE_REQ.
    package static let readByGroupTypeRequest = ATTOpcode(rawValue: 0x10)
    /// ATT_READ_BY_GROUP_TYPE_RSP.
    package static let readByGroupTypeResponse = ATTOpcode(rawValue: 0x11)
    /// ATT_WRITE_REQ.
    package static let writeRequest = ATTOpcode(rawValue: 0x12)
    /// ATT_WRITE_RSP.
    package static let writeResponse = ATTOpcode(rawValue: 0x13)
    /// ATT_PREPARE_WRITE_REQ.
    package static let prepareWriteRequest = ATTOpcode(rawValue: 0x16)
    /// ATT_PREPARE_WRITE_RSP.
    package static let prepareWriteResponse = ATTOpcode(rawValue: 0x17)
    /// ATT_EXECUTE_WRITE_REQ.
    package static let executeWriteRequest = ATTOpcode(rawValue: 0x18)
    /// ATT_EXECUTE_WRITE_RSP.
    package static let executeWriteResponse = ATTOpcode(rawValue: 0x19)
    /// ATT_HANDLE_VALUE_NTF.
    package static let handleValueNotification = ATTOpcode(rawValue: 0x1B)
    /// ATT_HANDLE_VALUE_IND.
    package static let handleValueIndication = ATTOpcode(rawValue: 0x1D)
    /// ATT_HANDLE_VALUE_CFM.
    package static let handleValueConfirmation = ATTOpcode(rawValue: 0x1E)
    /// ATT_READ_MULTIPLE_VARIABLE_REQ.
    package static let readMultipleVariableRequest = ATTOpcode(rawValue: 0x20)
    /// ATT_READ_MULTIPLE_VARIABLE_RSP.
    package static let readMultipleVariableResponse = ATTOpcode(rawValue: 0x21)
    /// ATT_MULTIPLE_HANDLE_VALUE_NTF.
    package static let multipleHandleValueNotification = ATTOpcode(rawValue: 0x23)
    /// ATT_WRITE_CMD.
    package static let writeCommand = ATTOpcode(rawValue: 0x52)
    /// ATT_SIGNED_WRITE_CMD.
    package static let signedWriteCommand = ATTOpcode(rawValue: 0xD2)

    /// The command flag: the PDU has no response.
    @inlinable package var isCommand: Bool { rawValue & 0x40 != 0 }
    /// The authentication signature flag: the PDU ends with a signature of twelve octets.
    @inlinable package var isSigned: Bool { rawValue & 0x80 != 0 }

    /// The kind of a PDU. An unknown opcode without the command flag is a request, to be answered with Request Not
    /// Supported (Vol 3 Part F 3.3).
    package enum Kind: Sendable {
        /// Requires a response, which may be an error response.
        case request
        /// Answers a request, possibly with an error.
        case response
        /// Has no response, not even an error.
        case command
        /// Carries a value and has no response.
        case notification
        /// Carries a value and requires a confirmation.
        case indication
        /// Answers an indication and carries no value.
        case confirmation
    }

    package var kind: Kind {
        switch self {
        case .handleValueNotification, .multipleHandleValueNotification: .notification
        case .handleValueIndication: .indication
        case .handleValueConfirmation: .confirmation
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readMultipleResponse, .readByGroupTypeResponse,
            .writeResponse, .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse:
            .response
        default: isCommand ? .command : .request
        }
    }

    /// The opcode in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
