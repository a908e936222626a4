import BluetoothTypes

/// The first octet of an ATT PDU (Core Vol 3 Part F 3.3.1 and 3.4.8).
package struct ATTOpcode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    /// Creates an opcode, which may be an unassigned one.
    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    // The constants and the comparison are inlined into other modules, because most packets are told apart by them.

    @inlinable
    package static func == (a: ATTOpcode, b: ATTOpcode) -> Bool { a.rawValue == b.rawValue }

    /// Compares in a `switch`, where the operator for all equatable types would not be inlined.
    @inlinable
    package static func ~= (a: ATTOpcode, b: ATTOpcode) -> Bool { a.rawValue == b.rawValue }

    /// ATT_ERROR_RSP.
    @inlinable package static var errorResponse: ATTOpcode { ATTOpcode(rawValue: 0x01) }
    /// ATT_EXCHANGE_MTU_REQ.
    @inlinable package static var exchangeMTURequest: ATTOpcode { ATTOpcode(rawValue: 0x02) }
    /// ATT_EXCHANGE_MTU_RSP.
    @inlinable package static var exchangeMTUResponse: ATTOpcode { ATTOpcode(rawValue: 0x03) }
    /// ATT_FIND_INFORMATION_REQ.
    @inlinable package static var findInformationRequest: ATTOpcode { ATTOpcode(rawValue: 0x04) }
    /// ATT_FIND_INFORMATION_RSP.
    @inlinable package static var findInformationResponse: ATTOpcode { ATTOpcode(rawValue: 0x05) }
    /// ATT_FIND_BY_TYPE_VALUE_REQ.
    @inlinable package static var findByTypeValueRequest: ATTOpcode { ATTOpcode(rawValue: 0x06) }
    /// ATT_FIND_BY_TYPE_VALUE_RSP.
    @inlinable package static var findByTypeValueResponse: ATTOpcode { ATTOpcode(rawValue: 0x07) }
    /// ATT_READ_BY_TYPE_REQ.
    @inlinable package static var readByTypeRequest: ATTOpcode { ATTOpcode(rawValue: 0x08) }
    /// ATT_READ_BY_TYPE_RSP.
    @inlinable package static var readByTypeResponse: ATTOpcode { ATTOpcode(rawValue: 0x09) }
    /// ATT_READ_REQ.
    @inlinable package static var readRequest: ATTOpcode { ATTOpcode(rawValue: 0x0A) }
    /// ATT_READ_RSP.
    @inlinable package static var readResponse: ATTOpcode { ATTOpcode(rawValue: 0x0B) }
    /// ATT_READ_BLOB_REQ.
    @inlinable package static var readBlobRequest: ATTOpcode { ATTOpcode(rawValue: 0x0C) }
    /// ATT_READ_BLOB_RSP.
    @inlinable package static var readBlobResponse: ATTOpcode { ATTOpcode(rawValue: 0x0D) }
    /// ATT_READ_MULTIPLE_REQ.
    @inlinable package static var readMultipleRequest: ATTOpcode { ATTOpcode(rawValue: 0x0E) }
    /// ATT_READ_MULTIPLE_RSP.
    @inlinable package static var readMultipleResponse: ATTOpcode { ATTOpcode(rawValue: 0x0F) }
    /// ATT_READ_BY_GROUP_TYPE_REQ.
    @inlinable package static var readByGroupTypeRequest: ATTOpcode { ATTOpcode(rawValue: 0x10) }
    /// ATT_READ_BY_GROUP_TYPE_RSP.
    @inlinable package static var readByGroupTypeResponse: ATTOpcode { ATTOpcode(rawValue: 0x11) }
    /// ATT_WRITE_REQ.
    @inlinable package static var writeRequest: ATTOpcode { ATTOpcode(rawValue: 0x12) }
    /// ATT_WRITE_RSP.
    @inlinable package static var writeResponse: ATTOpcode { ATTOpcode(rawValue: 0x13) }
    /// ATT_PREPARE_WRITE_REQ.
    @inlinable package static var prepareWriteRequest: ATTOpcode { ATTOpcode(rawValue: 0x16) }
    /// ATT_PREPARE_WRITE_RSP.
    @inlinable package static var prepareWriteResponse: ATTOpcode { ATTOpcode(rawValue: 0x17) }
    /// ATT_EXECUTE_WRITE_REQ.
    @inlinable package static var executeWriteRequest: ATTOpcode { ATTOpcode(rawValue: 0x18) }
    /// ATT_EXECUTE_WRITE_RSP.
    @inlinable package static var executeWriteResponse: ATTOpcode { ATTOpcode(rawValue: 0x19) }
    /// ATT_HANDLE_VALUE_NTF.
    @inlinable package static var handleValueNotification: ATTOpcode { ATTOpcode(rawValue: 0x1B) }
    /// ATT_HANDLE_VALUE_IND.
    @inlinable package static var handleValueIndication: ATTOpcode { ATTOpcode(rawValue: 0x1D) }
    /// ATT_HANDLE_VALUE_CFM.
    @inlinable package static var handleValueConfirmation: ATTOpcode { ATTOpcode(rawValue: 0x1E) }
    /// ATT_READ_MULTIPLE_VARIABLE_REQ.
    @inlinable package static var readMultipleVariableRequest: ATTOpcode { ATTOpcode(rawValue: 0x20) }
    /// ATT_READ_MULTIPLE_VARIABLE_RSP.
    @inlinable package static var readMultipleVariableResponse: ATTOpcode { ATTOpcode(rawValue: 0x21) }
    /// ATT_MULTIPLE_HANDLE_VALUE_NTF.
    @inlinable package static var multipleHandleValueNotification: ATTOpcode { ATTOpcode(rawValue: 0x23) }
    /// ATT_WRITE_CMD.
    @inlinable package static var writeCommand: ATTOpcode { ATTOpcode(rawValue: 0x52) }
    /// ATT_SIGNED_WRITE_CMD.
    @inlinable package static var signedWriteCommand: ATTOpcode { ATTOpcode(rawValue: 0xD2) }

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

    @inlinable package var kind: Kind {
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
