import BluetoothTypes

/// Set Event Mask (Core Vol 4 Part E 7.3.1): selects the events that the controller sends.
package struct SetEventMask: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0001) }
    package static var name: String { "Set Event Mask" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 5, bit: 6) }

    /// The events to send.
    package var mask: EventMask = []

    package init() {}

    package init(mask: EventMask) {
        self.mask = mask
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Mask", &mask)
    }
}

/// Reset (Core Vol 4 Part E 7.3.2): returns the controller to its initial state, without connections.
package struct Reset: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0003) }
    package static var name: String { "Reset" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 5, bit: 7) }

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// Read Transmit Power Level (Core Vol 4 Part E 7.3.35): reads the transmit power of a connection.
package struct ReadTransmitPowerLevel: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        /// The power, in dBm, -30 to 20.
        package var level: Int8 = 0

        package init() {}

        package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, level: Int8) {
            self.status = status
            self.handle = handle
            self.level = level
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("TX_Power_Level", &level)
        }
    }

    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x002D) }
    package static var name: String { "Read Transmit Power Level" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 2) }

    package var handle = ConnectionHandle(rawValue: 0)
    /// Whether to read the current or the maximum power.
    package var kind = TransmitPowerKind(rawValue: 0)

    package init() {}

    package init(handle: ConnectionHandle, kind: TransmitPowerKind) {
        self.handle = handle
        self.kind = kind
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Type", &kind)
    }
}

/// Set Event Mask Page 2 (Core Vol 4 Part E 7.3.69): selects further events that the controller sends.
package struct SetEventMaskPage2: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0063) }
    package static var name: String { "Set Event Mask Page 2" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 22, bit: 2) }

    /// The events to send.
    package var mask: EventMaskPage2 = []

    package init() {}

    package init(mask: EventMaskPage2) {
        self.mask = mask
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Mask_Page_2", &mask)
    }
}

/// Write LE Host Support (Core Vol 4 Part E 7.3.79): tells a dual-mode controller that the host supports LE.
package struct WriteLEHostSupport: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x006D) }
    package static var name: String { "Write LE Host Support" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 24, bit: 6) }

    /// Whether the host supports LE.
    package var isSupported = false
    /// Reserved for future use; 0.
    package var unused: UInt8 = 0

    package init() {}

    package init(isSupported: Bool, unused: UInt8 = 0) {
        self.isSupported = isSupported
        self.unused = unused
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Supported_Host", &isSupported)
        try coder.field("Unused", &unused)
    }
}

/// Read Authenticated Payload Timeout (Core Vol 4 Part E 7.3.93): reads the maximum time without an authenticated
/// packet on an encrypted link.
package struct ReadAuthenticatedPayloadTimeout: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        /// The timeout, in units of 10 ms, 0x0001 to 0xFFFF.
        package var timeout: UInt16 = 0

        package init() {}

        package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, timeout: UInt16) {
            self.status = status
            self.handle = handle
            self.timeout = timeout
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("Authenticated_Payload_Timeout", &timeout)
        }
    }

    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x007B) }
    package static var name: String { "Read Authenticated Payload Timeout" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 32, bit: 4) }

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}

    package init(handle: ConnectionHandle) {
        self.handle = handle
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

/// Write Authenticated Payload Timeout (Core Vol 4 Part E 7.3.94): sets the maximum time without an authenticated
/// packet on an encrypted link.
package struct WriteAuthenticatedPayloadTimeout: HCICommand {
    package typealias Response = StatusAndHandle

    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x007C) }
    package static var name: String { "Write Authenticated Payload Timeout" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 32, bit: 5) }

    package var handle = ConnectionHandle(rawValue: 0)
    /// The timeout, in units of 10 ms, 0x0001 to 0xFFFF.
    package var timeout: UInt16 = 0

    package init() {}

    package init(handle: ConnectionHandle, timeout: UInt16) {
        self.handle = handle
        self.timeout = timeout
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Authenticated_Payload_Timeout", &timeout)
    }
}
