import BluetoothTypes

/// Selects the events that the controller sends (Core Vol 4 Part E 7.3.1).
package struct SetEventMask: HCICommand {
    package static let entry = CommandEntry(.baseband, 0x01, "Set Event Mask", bit: (5, 6))

    package var mask: EventMask = []

    package init() {}
    package init(mask: EventMask) { self.mask = mask }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Mask", &mask)
    }
}

/// Returns the controller to its initial state, without connections (Core Vol 4 Part E 7.3.2).
package struct Reset: ParameterlessCommand {
    package static let entry = CommandEntry(.baseband, 0x03, "Reset", bit: (5, 7))

    package init() {}
}

/// Reads the transmit power of a connection (Core Vol 4 Part E 7.3.35).
package struct ReadTransmitPowerLevel: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        /// The power, in dBm, -30 to 20.
        package var level: Int8 = 0

        package init() {}

        package init(status: HCIStatus = .success, handle: ConnectionHandle, level: Int8) {
            (self.status, self.handle, self.level) = (status, handle, level)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("TX_Power_Level", &level)
        }
    }

    package static let entry = CommandEntry(.baseband, 0x2D, "Read Transmit Power Level", bit: (10, 2))

    package var handle = ConnectionHandle(rawValue: 0)
    package var kind = TransmitPowerKind(rawValue: 0)

    package init() {}
    package init(handle: ConnectionHandle, kind: TransmitPowerKind) { (self.handle, self.kind) = (handle, kind) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Type", &kind)
    }
}

/// Selects further events that the controller sends (Core Vol 4 Part E 7.3.69).
package struct SetEventMaskPage2: HCICommand {
    package static let entry = CommandEntry(.baseband, 0x63, "Set Event Mask Page 2", bit: (22, 2))

    package var mask: EventMaskPage2 = []

    package init() {}
    package init(mask: EventMaskPage2) { self.mask = mask }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Mask_Page_2", &mask)
    }
}

/// Tells a dual-mode controller that the host supports LE (Core Vol 4 Part E 7.3.79).
package struct WriteLEHostSupport: HCICommand {
    package static let entry = CommandEntry(.baseband, 0x6D, "Write LE Host Support", bit: (24, 6))

    package var isSupported = false
    /// Reserved for future use; 0.
    package var unused: UInt8 = 0

    package init() {}
    package init(isSupported: Bool, unused: UInt8 = 0) { (self.isSupported, self.unused) = (isSupported, unused) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Supported_Host", &isSupported)
        try coder.field("Unused", &unused)
    }
}

/// Reads the maximum time without an authenticated packet on an encrypted link (Core Vol 4 Part E 7.3.93).
package struct ReadAuthenticatedPayloadTimeout: LinkCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        /// The timeout, in units of 10 ms, 0x0001 to 0xFFFF.
        package var timeout: UInt16 = 0

        package init() {}

        package init(status: HCIStatus = .success, handle: ConnectionHandle, timeout: UInt16) {
            (self.status, self.handle, self.timeout) = (status, handle, timeout)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("Authenticated_Payload_Timeout", &timeout)
        }
    }

    package static let entry = CommandEntry(.baseband, 0x7B, "Read Authenticated Payload Timeout", bit: (32, 4))

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Sets the maximum time without an authenticated packet on an encrypted link (Core Vol 4 Part E 7.3.94).
package struct WriteAuthenticatedPayloadTimeout: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.baseband, 0x7C, "Write Authenticated Payload Timeout", bit: (32, 5))

    package var handle = ConnectionHandle(rawValue: 0)
    /// The timeout, in units of 10 ms, 0x0001 to 0xFFFF.
    package var timeout: UInt16 = 0

    package init() {}
    package init(handle: ConnectionHandle, timeout: UInt16) { (self.handle, self.timeout) = (handle, timeout) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Authenticated_Payload_Timeout", &timeout)
    }
}
