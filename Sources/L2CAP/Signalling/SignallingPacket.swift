import BluetoothTypes

/// A command's code on the signalling channel (Core Vol 3 Part A 4, table of codes).
package struct SignallingCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The request cannot be carried out.
    package static let commandReject = SignallingCode(rawValue: 0x01)
    /// Ends a credit-based channel.
    package static let disconnectionRequest = SignallingCode(rawValue: 0x06)
    /// Confirms that.
    package static let disconnectionResponse = SignallingCode(rawValue: 0x07)
    /// A peripheral asks for connection parameters.
    package static let parameterUpdateRequest = SignallingCode(rawValue: 0x12)
    /// The central's answer.
    package static let parameterUpdateResponse = SignallingCode(rawValue: 0x13)
    /// Opens a credit-based channel.
    package static let creditBasedConnectionRequest = SignallingCode(rawValue: 0x14)
    /// The answer to that.
    package static let creditBasedConnectionResponse = SignallingCode(rawValue: 0x15)
    /// Gives credits to a channel.
    package static let flowControlCredit = SignallingCode(rawValue: 0x16)
    /// Opens up to five enhanced credit-based channels.
    package static let enhancedConnectionRequest = SignallingCode(rawValue: 0x17)
    /// The answer to that.
    package static let enhancedConnectionResponse = SignallingCode(rawValue: 0x18)
    /// Changes the sizes of enhanced channels.
    package static let reconfigureRequest = SignallingCode(rawValue: 0x19)
    /// The answer to that.
    package static let reconfigureResponse = SignallingCode(rawValue: 0x1A)

    /// Whether the command answers another one, or wants no answer: then it is never rejected (Vol 3 Part A 4.1).
    var isUnanswered: Bool {
        switch self {
        case .commandReject, .disconnectionResponse, .parameterUpdateResponse, .creditBasedConnectionResponse,
            .flowControlCredit, .enhancedConnectionResponse, .reconfigureResponse:
            true
        default: false
        }
    }

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// One command on the signalling channel with its header (Core Vol 3 Part A 4).
package struct SignallingPacket: PacketFields, Hashable, Sendable {
    /// The largest payload that an LE device has to take: MTUsig (Vol 3 Part A 4).
    package static let maximumLength = 23
    /// Octets of the header.
    static let headerLength = 4

    /// What the command is.
    package var code = SignallingCode(rawValue: 0)
    /// Ties an answer to its request; 0 is not allowed.
    package var identifier: UInt8 = 0
    /// The command's own fields.
    package var data = PacketBuffer(headroom: 0)

    /// All zero and empty.
    package init() {}

    /// A command with fields that are already octets.
    package init(_ code: SignallingCode, identifier: UInt8, data: PacketBuffer) {
        self.code = code
        self.identifier = identifier
        self.data = data
    }

    /// A command with the given fields.
    package init(_ command: some SignallingCommand, identifier: UInt8) {
        var data = PacketBuffer(headroom: 0)
        command.write(to: &data)
        self.init(type(of: command).code, identifier: identifier, data: data)
    }

    /// Names the fields. The length has to be that of the payload: one command a packet on LE (Vol 3 Part A 4).
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

/// The fields of a command on the signalling channel.
package protocol SignallingCommand: PacketFields, Hashable, Sendable {
    /// The command's code.
    static var code: SignallingCode { get }
}

/// Why a packet on the signalling channel went unanswered.
package enum SignallingFault: Hashable, Sendable {
    /// Shorter than a header, or with identifier 0, which no answer may carry.
    case unanswerable
    /// An answer that nobody waits for, or that is malformed.
    case unexpected(SignallingCode)
    /// A command of a peer that does not take the answers it has asked for already.
    case unheeded(SignallingCode)
    /// Refused with Command Reject, for the given reason.
    case rejected(SignallingCode, CommandReject.Reason)
}
