import BluetoothTypes

/// LE Read Filter Accept List Size (Core Vol 4 Part E 7.8.14): reads the capacity of the list.
package struct LEReadFilterAcceptListSize: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The capacity of the list, at least 1.
        package var size: UInt8 = 0

        package init() {}

        package init(status: HCIStatus = HCIStatus.success, size: UInt8) {
            self.status = status
            self.size = size
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Filter_Accept_List_Size", &size)
        }
    }

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x000F) }
    package static var name: String { "LE Read Filter Accept List Size" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 26, bit: 6) }

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Clear Filter Accept List (Core Vol 4 Part E 7.8.15): removes all devices from the list.
package struct LEClearFilterAcceptList: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0010) }
    package static var name: String { "LE Clear Filter Accept List" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 26, bit: 7) }

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Add Device To Filter Accept List (Core Vol 4 Part E 7.8.16): adds a device to the list.
package struct LEAddDeviceToFilterAcceptList: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0011) }
    package static var name: String { "LE Add Device To Filter Accept List" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 27, bit: 0) }

    /// The device's address; type 0xFF stands for all anonymous advertisers.
    package var address = BluetoothAddress.none

    package init() {}

    package init(address: BluetoothAddress) {
        self.address = address
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Address_Type", "Address", &address)
    }
}

/// LE Remove Device From Filter Accept List (Core Vol 4 Part E 7.8.17): removes a device from the list.
package struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0012) }
    package static var name: String { "LE Remove Device From Filter Accept List" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 27, bit: 1) }

    /// The device's address; type 0xFF stands for all anonymous advertisers.
    package var address = BluetoothAddress.none

    package init() {}

    package init(address: BluetoothAddress) {
        self.address = address
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Address_Type", "Address", &address)
    }
}
