import BluetoothTypes

/// Reads the capacity of the list (Core Vol 4 Part E 7.8.14).
package struct LEReadFilterAcceptListSize: ValueCommand {
    package static let entry = CommandEntry(.le, 0x0F, "LE Read Filter Accept List Size", bit: (26, 6))
    /// The capacity of the list, at least 1.
    package typealias Value = UInt8
    package static let valueName = "Filter_Accept_List_Size"

    package init() {}
}

/// Removes all devices from the list (Core Vol 4 Part E 7.8.15).
package struct LEClearFilterAcceptList: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x10, "LE Clear Filter Accept List", bit: (26, 7))

    package init() {}
}

/// Adds a device to the list (Core Vol 4 Part E 7.8.16).
package struct LEAddDeviceToFilterAcceptList: HCICommand {
    package static let entry = CommandEntry(.le, 0x11, "LE Add Device To Filter Accept List", bit: (27, 0))

    /// The device's address; type 0xFF stands for all anonymous advertisers.
    package var address = BluetoothAddress.none

    package init() {}
    package init(address: BluetoothAddress) { self.address = address }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Address_Type", "Address", &address)
    }
}

/// Removes a device from the list (Core Vol 4 Part E 7.8.17).
package struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    package static let entry = CommandEntry(.le, 0x12, "LE Remove Device From Filter Accept List", bit: (27, 1))

    /// The device's address; type 0xFF stands for all anonymous advertisers.
    package var address = BluetoothAddress.none

    package init() {}
    package init(address: BluetoothAddress) { self.address = address }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Address_Type", "Address", &address)
    }
}
