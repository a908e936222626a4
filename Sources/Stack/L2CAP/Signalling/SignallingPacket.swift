import BluetoothTypes

/// The code of a signalling command (Core Vol 3 Part A 4, table of codes).
package struct SignallingCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let commandReject = SignallingCode(rawValue: 0x01)
    package static let disconnectionRequest = SignallingCode(rawValue: 0x06)
    package static let disconnectionResponse = SignallingCode(rawValue: 0x07)
    /// Requests connection parameters, from peripheral to central.
    package static let parameterUpdateRequest = SignallingCode(rawValue: 0x12)
    package static let parameterUpdateResponse = SignallingCode(rawValue: 0x13)
    package static let creditBasedConnectionRequest = SignallingCode(rawValue: 0x14)
    package static let creditBasedConnectionResponse = SignallingCode(rawValue: 0x15)
    package static let flowControlCredit = SignallingCode(rawValue: 0x16)
    /// Requests up to five enhanced credit-based channels.
    package static let enhancedConnectionRequest = SignallingCode(rawValue: 0x17)
    package static let enhancedConnectionResponse = SignallingCode(rawValue: 0x18)
    package static let reconfigureRequest = SignallingCode(rawValue: 0x19)
    package static let reconfigureResponse = SignallingCode(rawValue: 0x1A)

    /// Whether the command is itself a response, or requires none, and so must never be rejected (Vol 3 Part A 4.1).
    var isUnanswered: Bool {
        switch self {
        case .commandReject, .disconnectionResponse, .parameterUpdateResponse, .creditBasedConnectionResponse,
            .flowControlCredit, .enhancedConnectionResponse, .reconfigureResponse:
            true
        default: false
        }
    }

    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// A signalling command with its header (Core Vol 3 Part A 4).
package struct SignallingPacket: PacketFields, Hashable, Sendable {
    /// The largest packet that an LE device must support, in octets: MTUsig (Vol 3 Part A 4).
    package static let maximumLength = 23
    /// The length of the header in octets.
    package static let headerLength = 4

    package var code = SignallingCode(rawValue: 0)
    /// The identifier that matches a response to its request; 0 is not allowed.
    package var identifier: UInt8 = 0
    /// The fields of the command, encoded.
    package var data = PacketBuffer(headroom: 0)

    package init() {}

    package init(_ code: SignallingCode, identifier: UInt8, data: PacketBuffer) {
        (self.code, self.identifier, self.data) = (code, identifier, data)
    }

    package init(_ command: some SignallingCommand, identifier: UInt8) {
        var data = PacketBuffer(headroom: 0)
        command.write(to: &data)
        self.init(type(of: command).code, identifier: identifier, data: data)
    }

    /// Codes the fields. The length must be that of the payload: LE allows one command per packet (Vol 3 Part A 4).
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Code", &code)
        try coder.field("Identifier", &identifier)
        var length = UInt16(truncatingIfNeeded: data.count)
        try coder.field("Data Length", &length)
        if coder.isReading, Int(length) != coder.remaining {
            throw PacketError(.length(Int(length)), at: "Data Length")
        }
        try coder.rest("Data", &data)
    }
}

extension SignallingPacket {
    private static let commands: [any SignallingCommand.Type] = [
        CommandReject.self, DisconnectionRequest.self, DisconnectionResponse.self, ConnectionParameters.self,
        ParameterUpdateResponse.self, CreditBasedConnectionRequest.self, CreditBasedConnectionResponse.self,
        FlowControlCredit.self, EnhancedConnectionRequest.self, EnhancedConnectionResponse.self,
        ReconfigureRequest.self, ReconfigureResponse.self,
    ]

    /// Returns the command in the packet; nil if its code is unknown.
    ///
    /// - Throws: ``PacketError`` if the fields are not those of the command.
    package func command() throws(PacketError) -> (any SignallingCommand)? {
        for type in Self.commands where type.code == code { return try type.init(reading: data) }
        return nil
    }
}

/// The fields of a signalling command.
package protocol SignallingCommand: PacketFields, Hashable, Sendable {
    static var code: SignallingCode { get }
}

/// The reason why a signalling packet was dropped or rejected.
package enum SignallingFault: Hashable, Sendable {
    /// The packet is shorter than a header, or has identifier 0, which no response may carry.
    case unanswerable
    /// The response is malformed, or does not match a pending request.
    case unexpected(SignallingCode)
    /// The command was ignored because the peer does not collect the responses already queued for it.
    case unheeded(SignallingCode)
    case rejected(SignallingCode, CommandReject.Reason)
}
