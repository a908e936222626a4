import BluetoothTypes

/// The first octet of an ATT PDU (Core Vol 3 Part F 3.3.1 and 3.4.8).
package struct ATTOpcode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    // The constants and the comparison are inlined into other modules, because most packets are told apart by them.

    @inlinable
    package static func == (a: ATTOpcode, b: ATTOpcode) -> Bool { a.rawValue == b.rawValue }

    /// Compares in a `switch`, where the operator for all equatable types would not be inlined.
    @inlinable
    package static func ~= (a: ATTOpcode, b: ATTOpcode) -> Bool { a.rawValue == b.rawValue }

    @inlinable package static var errorResponse: ATTOpcode { ATTOpcode(rawValue: 0x01) }
    @inlinable package static var exchangeMTURequest: ATTOpcode { ATTOpcode(rawValue: 0x02) }
    @inlinable package static var exchangeMTUResponse: ATTOpcode { ATTOpcode(rawValue: 0x03) }
    @inlinable package static var findInformationRequest: ATTOpcode { ATTOpcode(rawValue: 0x04) }
    @inlinable package static var findInformationResponse: ATTOpcode { ATTOpcode(rawValue: 0x05) }
    @inlinable package static var findByTypeValueRequest: ATTOpcode { ATTOpcode(rawValue: 0x06) }
    @inlinable package static var findByTypeValueResponse: ATTOpcode { ATTOpcode(rawValue: 0x07) }
    @inlinable package static var readByTypeRequest: ATTOpcode { ATTOpcode(rawValue: 0x08) }
    @inlinable package static var readByTypeResponse: ATTOpcode { ATTOpcode(rawValue: 0x09) }
    @inlinable package static var readRequest: ATTOpcode { ATTOpcode(rawValue: 0x0A) }
    @inlinable package static var readResponse: ATTOpcode { ATTOpcode(rawValue: 0x0B) }
    @inlinable package static var readBlobRequest: ATTOpcode { ATTOpcode(rawValue: 0x0C) }
    @inlinable package static var readBlobResponse: ATTOpcode { ATTOpcode(rawValue: 0x0D) }
    @inlinable package static var readMultipleRequest: ATTOpcode { ATTOpcode(rawValue: 0x0E) }
    @inlinable package static var readMultipleResponse: ATTOpcode { ATTOpcode(rawValue: 0x0F) }
    @inlinable package static var readByGroupTypeRequest: ATTOpcode { ATTOpcode(rawValue: 0x10) }
    @inlinable package static var readByGroupTypeResponse: ATTOpcode { ATTOpcode(rawValue: 0x11) }
    @inlinable package static var writeRequest: ATTOpcode { ATTOpcode(rawValue: 0x12) }
    @inlinable package static var writeResponse: ATTOpcode { ATTOpcode(rawValue: 0x13) }
    @inlinable package static var prepareWriteRequest: ATTOpcode { ATTOpcode(rawValue: 0x16) }
    @inlinable package static var prepareWriteResponse: ATTOpcode { ATTOpcode(rawValue: 0x17) }
    @inlinable package static var executeWriteRequest: ATTOpcode { ATTOpcode(rawValue: 0x18) }
    @inlinable package static var executeWriteResponse: ATTOpcode { ATTOpcode(rawValue: 0x19) }
    @inlinable package static var handleValueNotification: ATTOpcode { ATTOpcode(rawValue: 0x1B) }
    @inlinable package static var handleValueIndication: ATTOpcode { ATTOpcode(rawValue: 0x1D) }
    @inlinable package static var handleValueConfirmation: ATTOpcode { ATTOpcode(rawValue: 0x1E) }
    @inlinable package static var readMultipleVariableRequest: ATTOpcode { ATTOpcode(rawValue: 0x20) }
    @inlinable package static var readMultipleVariableResponse: ATTOpcode { ATTOpcode(rawValue: 0x21) }
    @inlinable package static var multipleHandleValueNotification: ATTOpcode { ATTOpcode(rawValue: 0x23) }
    @inlinable package static var writeCommand: ATTOpcode { ATTOpcode(rawValue: 0x52) }
    @inlinable package static var signedWriteCommand: ATTOpcode { ATTOpcode(rawValue: 0xD2) }

    /// The command flag: the PDU has no response.
    @inlinable package var isCommand: Bool { rawValue & 0x40 != 0 }
    /// The authentication signature flag: the PDU ends with a signature of twelve octets.
    @inlinable package var isSigned: Bool { rawValue & 0x80 != 0 }

    /// The kind of a PDU. An unknown opcode without the command flag is a request, to be answered with Request Not
    /// Supported (Vol 3 Part F 3.3).
    package enum Kind: Sendable {
        case request
        case response
        /// Has no response, not even an error.
        case command
        case notification
        case indication
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

    package var description: String { "0x" + String(rawValue, radix: 16) }
}
