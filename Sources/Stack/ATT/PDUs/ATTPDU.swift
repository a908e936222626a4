import BluetoothTypes

/// Any PDU of the Attribute Protocol (Core Vol 3 Part F 3.4).
package enum ATTPDU: Hashable, Sendable {
    case error(ATTErrorResponse)
    case exchangeMTURequest(ATTExchangeMTURequest)
    case exchangeMTUResponse(ATTExchangeMTUResponse)
    case findInformationRequest(ATTFindInformationRequest)
    case findInformationResponse(ATTFindInformationResponse)
    case findByTypeValueRequest(ATTFindByTypeValueRequest)
    case findByTypeValueResponse(ATTFindByTypeValueResponse)
    case readByTypeRequest(ATTReadByTypeRequest)
    case readByTypeResponse(ATTReadByTypeResponse)
    case readRequest(ATTReadRequest)
    case readResponse(ATTReadResponse)
    case readBlobRequest(ATTReadBlobRequest)
    case readBlobResponse(ATTReadBlobResponse)
    case readMultipleRequest(ATTReadMultipleRequest)
    case readMultipleResponse(ATTReadMultipleResponse)
    case readByGroupTypeRequest(ATTReadByGroupTypeRequest)
    case readByGroupTypeResponse(ATTReadByGroupTypeResponse)
    case writeRequest(ATTWriteRequest)
    case writeResponse(ATTWriteResponse)
    case prepareWriteRequest(ATTPrepareWriteRequest)
    case prepareWriteResponse(ATTPrepareWriteResponse)
    case executeWriteRequest(ATTExecuteWriteRequest)
    case executeWriteResponse(ATTExecuteWriteResponse)
    case readMultipleVariableRequest(ATTReadMultipleVariableRequest)
    case readMultipleVariableResponse(ATTReadMultipleVariableResponse)
    case handleValueNotification(ATTHandleValueNotification)
    case handleValueIndication(ATTHandleValueIndication)
    case handleValueConfirmation(ATTHandleValueConfirmation)
    case multipleHandleValueNotification(ATTMultipleHandleValueNotification)
    case writeCommand(ATTWriteCommand)
    case signedWriteCommand(ATTSignedWriteCommand)

    package var packet: any ATTPacket {
        switch self {
        case .error(let packet): packet
        case .exchangeMTURequest(let packet): packet
        case .exchangeMTUResponse(let packet): packet
        case .findInformationRequest(let packet): packet
        case .findInformationResponse(let packet): packet
        case .findByTypeValueRequest(let packet): packet
        case .findByTypeValueResponse(let packet): packet
        case .readByTypeRequest(let packet): packet
        case .readByTypeResponse(let packet): packet
        case .readRequest(let packet): packet
        case .readResponse(let packet): packet
        case .readBlobRequest(let packet): packet
        case .readBlobResponse(let packet): packet
        case .readMultipleRequest(let packet): packet
        case .readMultipleResponse(let packet): packet
        case .readByGroupTypeRequest(let packet): packet
        case .readByGroupTypeResponse(let packet): packet
        case .writeRequest(let packet): packet
        case .writeResponse(let packet): packet
        case .prepareWriteRequest(let packet): packet
        case .prepareWriteResponse(let packet): packet
        case .executeWriteRequest(let packet): packet
        case .executeWriteResponse(let packet): packet
        case .readMultipleVariableRequest(let packet): packet
        case .readMultipleVariableResponse(let packet): packet
        case .handleValueNotification(let packet): packet
        case .handleValueIndication(let packet): packet
        case .handleValueConfirmation(let packet): packet
        case .multipleHandleValueNotification(let packet): packet
        case .writeCommand(let packet): packet
        case .signedWriteCommand(let packet): packet
        }
    }

    package var opcode: ATTOpcode { type(of: packet).opcode }
}

/// An error in decoding an ATT PDU.
package enum ATTDecodingError: Error, Hashable, Sendable {
    case empty
    case unknownOpcode(ATTOpcode)
    case malformed(ATTOpcode, PacketError)
}

extension ATTPDU {
    package init(reading payload: PacketBuffer) throws(ATTDecodingError) {
        guard let first = payload.first else { throw .empty }
        let opcode = ATTOpcode(rawValue: first)
        let pdu: ATTPDU?
        do throws(PacketError) {
            pdu = try Self.read(opcode, payload.suffix(after: 1))
        } catch {
            throw .malformed(opcode, error)
        }
        guard let pdu else { throw .unknownOpcode(opcode) }
        self = pdu
    }

    private static func read(_ opcode: ATTOpcode, _ fields: PacketBuffer) throws(PacketError) -> ATTPDU? {
        switch opcode {
        case .errorResponse: .error(try ATTErrorResponse(reading: fields))
        case .exchangeMTURequest: .exchangeMTURequest(try ATTExchangeMTURequest(reading: fields))
        case .exchangeMTUResponse: .exchangeMTUResponse(try ATTExchangeMTUResponse(reading: fields))
        case .findInformationRequest: .findInformationRequest(try ATTFindInformationRequest(reading: fields))
        case .findInformationResponse: .findInformationResponse(try ATTFindInformationResponse(reading: fields))
        case .findByTypeValueRequest: .findByTypeValueRequest(try ATTFindByTypeValueRequest(reading: fields))
        case .findByTypeValueResponse: .findByTypeValueResponse(try ATTFindByTypeValueResponse(reading: fields))
        case .readByTypeRequest: .readByTypeRequest(try ATTReadByTypeRequest(reading: fields))
        case .readByTypeResponse: .readByTypeResponse(try ATTReadByTypeResponse(reading: fields))
        case .readRequest: .readRequest(try ATTReadRequest(reading: fields))
        case .readResponse: .readResponse(try ATTReadResponse(reading: fields))
        case .readBlobRequest: .readBlobRequest(try ATTReadBlobRequest(reading: fields))
        case .readBlobResponse: .readBlobResponse(try ATTReadBlobResponse(reading: fields))
        case .readMultipleRequest: .readMultipleRequest(try ATTReadMultipleRequest(reading: fields))
        case .readMultipleResponse: .readMultipleResponse(try ATTReadMultipleResponse(reading: fields))
        case .readByGroupTypeRequest: .readByGroupTypeRequest(try ATTReadByGroupTypeRequest(reading: fields))
        case .readByGroupTypeResponse: .readByGroupTypeResponse(try ATTReadByGroupTypeResponse(reading: fields))
        case .writeRequest: .writeRequest(try ATTWriteRequest(reading: fields))
        case .writeResponse: .writeResponse(try ATTWriteResponse(reading: fields))
        case .prepareWriteRequest: .prepareWriteRequest(try ATTPrepareWriteRequest(reading: fields))
        case .prepareWriteResponse: .prepareWriteResponse(try ATTPrepareWriteResponse(reading: fields))
        case .executeWriteRequest: .executeWriteRequest(try ATTExecuteWriteRequest(reading: fields))
        case .executeWriteResponse: .executeWriteResponse(try ATTExecuteWriteResponse(reading: fields))
        case .readMultipleVariableRequest:
            .readMultipleVariableRequest(try ATTReadMultipleVariableRequest(reading: fields))
        case .readMultipleVariableResponse:
            .readMultipleVariableResponse(try ATTReadMultipleVariableResponse(reading: fields))
        case .handleValueNotification: .handleValueNotification(try ATTHandleValueNotification(reading: fields))
        case .handleValueIndication: .handleValueIndication(try ATTHandleValueIndication(reading: fields))
        case .handleValueConfirmation: .handleValueConfirmation(try ATTHandleValueConfirmation(reading: fields))
        case .multipleHandleValueNotification:
            .multipleHandleValueNotification(try ATTMultipleHandleValueNotification(reading: fields))
        case .writeCommand: .writeCommand(try ATTWriteCommand(reading: fields))
        case .signedWriteCommand: .signedWriteCommand(try ATTSignedWriteCommand(reading: fields))
        default: nil
        }
    }
}

extension ATTPDU {
    /// Encodes the PDU, with headroom for the layers below.
    ///
    /// A value at the end of the PDU keeps its storage if this is the only reference to it: the opcode and the fields
    /// before the value go into its headroom.
    package consuming func encoded() -> PacketBuffer {
        switch consume self {
        case .readResponse(let packet): Self.frame(.readResponse, packet.value)
        case .readBlobResponse(let packet): Self.frame(.readBlobResponse, packet.value)
        case .writeRequest(let packet): Self.frame(.writeRequest, packet.handle, packet.value)
        case let other: other.packet.framed()
        }
    }

    static func frame(_ opcode: ATTOpcode, _ value: consuming PacketBuffer) -> PacketBuffer {
        value.prepend(opcode.rawValue)
        return value
    }

    static func frame(_ opcode: ATTOpcode, _ handle: UInt16, _ value: consuming PacketBuffer) -> PacketBuffer {
        value.prepend(integer: handle)
        value.prepend(opcode.rawValue)
        return value
    }
}

extension ATTPDU: CustomStringConvertible {
    package var description: String {
        let packet = packet
        return "\(type(of: packet).opcode) \(packet.fieldDescription)"
    }
}
