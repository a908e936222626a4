import BluetoothTypes

/// Command Reject (Core Vol 3 Part A 4.1).
package struct CommandReject: SignallingCommand {
    /// The reason for a rejection.
    package struct Reason: WireValue {
        package var rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The command is unknown, malformed, or not allowed for this role.
        package static let notUnderstood = Reason(rawValue: 0)
        /// The packet exceeds the signalling MTU, which is in ``CommandReject/data``.
        package static let signallingMTUExceeded = Reason(rawValue: 1)
        /// A channel does not exist; ``CommandReject/data`` has the two channel identifiers of the request.
        package static let invalidChannel = Reason(rawValue: 2)
    }

    package static let code = SignallingCode.commandReject
    package var reason = Reason.notUnderstood
    /// Additional data, depending on ``reason``.
    package var data = PacketBuffer(headroom: 0)

    package init() {}

    package init(_ reason: Reason, data: PacketBuffer = PacketBuffer(headroom: 0)) {
        (self.reason, self.data) = (reason, data)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
        try coder.rest("Reason Data", &data)
    }
}

extension ConnectionParameters: SignallingCommand {
    package static let code = SignallingCode.parameterUpdateRequest
}

/// Connection Parameter Update Response (Core Vol 3 Part A 4.21).
package struct ParameterUpdateResponse: SignallingCommand {
    package static let code = SignallingCode.parameterUpdateResponse
    /// 0 if the parameters are accepted, 1 if they are rejected.
    package var result: UInt16 = 0

    package init() {}

    package init(isAccepted: Bool) {
        result = isAccepted ? 0 : 1
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}
