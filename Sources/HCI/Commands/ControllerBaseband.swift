import BluetoothTypes

/// Set Event Mask (Core Vol 4 Part E 7.3.1): tells which events the host wants.
package struct SetEventMask: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0001) }
    /// The command's name.
    package static var name: String { "Set Event Mask" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 5, bit: 6) }

    /// The events that are wanted.
    package var mask: EventMask = []

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(mask: EventMask) {
        self.mask = mask
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Mask", &mask)
    }
}

/// Reset (Core Vol 4 Part E 7.3.2): puts the controller into its initial state, without connections.
package struct Reset: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0003) }
    /// The command's name.
    package static var name: String { "Reset" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 5, bit: 7) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// Read Transmit Power Level (Core Vol 4 Part E 7.3.35): reads the transmit power of a connection.
package struct ReadTransmitPowerLevel: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The connection.
        package var handle = ConnectionHandle(rawValue: 0)
        /// The power in dBm, -30 to 20.
        package var level: Int8 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, level: Int8) {
            self.status = status
            self.handle = handle
            self.level = level
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("TX_Power_Level", &level)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x002D) }
    /// The command's name.
    package static var name: String { "Read Transmit Power Level" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 2) }

    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)
    /// Which power.
    package var kind = TransmitPowerKind(rawValue: 0)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(handle: ConnectionHandle, kind: TransmitPowerKind) {
        self.handle = handle
        self.kind = kind
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Type", &kind)
    }
}

/// Set Event Mask Page 2 (Core Vol 4 Part E 7.3.69): tells which of the newer events the host wants.
package struct SetEventMaskPage2: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0063) }
    /// The command's name.
    package static var name: String { "Set Event Mask Page 2" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 22, bit: 2) }

    /// The events that are wanted.
    package var mask: EventMaskPage2 = []

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(mask: EventMaskPage2) {
        self.mask = mask
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Mask_Page_2", &mask)
    }
}

/// Write LE Host Support (Core Vol 4 Part E 7.3.79): tells a controller that also does BR/EDR that the host does LE.
package struct WriteLEHostSupport: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x006D) }
    /// The command's name.
    package static var name: String { "Write LE Host Support" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 24, bit: 6) }

    /// Whether the host does LE.
    package var isSupported = false
    /// Zero.
    package var unused: UInt8 = 0

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(isSupported: Bool, unused: UInt8 = 0) {
        self.isSupported = isSupported
        self.unused = unused
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Supported_Host", &isSupported)
        try coder.field("Unused", &unused)
    }
}

/// Read Authenticated Payload Timeout (Core Vol 4 Part E 7.3.93): reads how long an encrypted link may be without an
/// authenticated packet.
package struct ReadAuthenticatedPayloadTimeout: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The connection.
        package var handle = ConnectionHandle(rawValue: 0)
        /// The time in units of 10 ms, 0x0001 to 0xFFFF.
        package var timeout: UInt16 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, timeout: UInt16) {
            self.status = status
            self.handle = handle
            self.timeout = timeout
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("Authenticated_Payload_Timeout", &timeout)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x007B) }
    /// The command's name.
    package static var name: String { "Read Authenticated Payload Timeout" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 32, bit: 4) }

    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(handle: ConnectionHandle) {
        self.handle = handle
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

/// Write Authenticated Payload Timeout (Core Vol 4 Part E 7.3.94): sets how long an encrypted link may be without an
/// authenticated packet.
package struct WriteAuthenticatedPayloadTimeout: HCICommand {
    /// A status and the connection.
    package typealias Response = StatusAndHandle

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x007C) }
    /// The command's name.
    package static var name: String { "Write Authenticated Payload Timeout" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 32, bit: 5) }

    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)
    /// The time in units of 10 ms, 0x0001 to 0xFFFF.
    package var timeout: UInt16 = 0

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(handle: ConnectionHandle, timeout: UInt16) {
        self.handle = handle
        self.timeout = timeout
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Authenticated_Payload_Timeout", &timeout)
    }
}
