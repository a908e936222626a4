import BluetoothTypes

/// Command Reject (Core Vol 3 Part A 4.1).
package struct CommandReject: SignallingCommand {
    /// Why a command was rejected.
    package struct Reason: WireValue {
        package var rawValue: UInt16
        /// Any number, known or not.
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Unknown, malformed, or not for this role.
        package static let notUnderstood = Reason(rawValue: 0)
        /// The packet is longer than the signalling channel carries; the data are the limit.
        package static let signallingMTUExceeded = Reason(rawValue: 1)
        /// A channel that does not exist; the data are the two channel numbers of the request.
        package static let invalidChannel = Reason(rawValue: 2)
    }

    /// The command's code.
    package static let code = SignallingCode.commandReject
    /// Why the command was rejected.
    package var reason = Reason.notUnderstood
    /// More about the reason.
    package var data = PacketBuffer(headroom: 0)

    /// Not understood.
    package init() {}

    /// A rejection for the given reason.
    package init(_ reason: Reason, data: PacketBuffer = PacketBuffer(headroom: 0)) {
        self.reason = reason
        self.data = data
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
        try coder.rest("Reason Data", &data)
    }
}

extension ConnectionParameters: SignallingCommand {
    /// The code of the request that these are the fields of.
    package static let code = SignallingCode.parameterUpdateRequest
}

/// Connection Parameter Update Response (Core Vol 3 Part A 4.21).
package struct ParameterUpdateResponse: SignallingCommand {
    /// The command's code.
    package static let code = SignallingCode.parameterUpdateResponse
    /// 0 when the parameters are accepted, 1 when they are rejected.
    package var result: UInt16 = 0

    /// Accepted.
    package init() {}

    /// Accepted or rejected.
    package init(isAccepted: Bool) {
        result = isAccepted ? 0 : 1
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}
