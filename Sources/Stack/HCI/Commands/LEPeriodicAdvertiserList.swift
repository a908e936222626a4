import BluetoothTypes

/// Adds an advertiser's set to the list (Core Vol 4 Part E 7.8.70).
package struct LEAddDeviceToPeriodicAdvertiserList: HCICommand {
    package static let entry = CommandEntry(.le, 0x47, "LE Add Device To Periodic Advertiser List", bit: (38, 3))

    /// The advertiser's device address, or its identity address.
    package var address = BluetoothAddress.none
    /// The advertising SID of the set, 0x00 to 0x0F.
    package var sid: UInt8 = 0

    package init() {}
    package init(address: BluetoothAddress, sid: UInt8) { (self.address, self.sid) = (address, sid) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Advertiser_Address_Type", "Advertiser_Address", &address)
        try coder.field("Advertising_SID", &sid)
    }
}

/// Removes an advertiser's set from the list (Core Vol 4 Part E 7.8.71).
package struct LERemoveDeviceFromPeriodicAdvertiserList: HCICommand {
    package static let entry = CommandEntry(.le, 0x48, "LE Remove Device From Periodic Advertiser List", bit: (38, 4))

    /// The advertiser's device address, or its identity address.
    package var address = BluetoothAddress.none
    /// The advertising SID of the set, 0x00 to 0x0F.
    package var sid: UInt8 = 0

    package init() {}
    package init(address: BluetoothAddress, sid: UInt8) { (self.address, self.sid) = (address, sid) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Advertiser_Address_Type", "Advertiser_Address", &address)
        try coder.field("Advertising_SID", &sid)
    }
}

/// Removes all sets from the list (Core Vol 4 Part E 7.8.72).
package struct LEClearPeriodicAdvertiserList: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x49, "LE Clear Periodic Advertiser List", bit: (38, 5))

    package init() {}
}

/// Reads the capacity of the list (Core Vol 4 Part E 7.8.73).
package struct LEReadPeriodicAdvertiserListSize: ValueCommand {
    package static let entry = CommandEntry(.le, 0x4A, "LE Read Periodic Advertiser List Size", bit: (38, 6))
    /// The capacity of the list, at least 1.
    package typealias Value = UInt8
    package static let valueName = "Periodic_Advertiser_List_Size"

    package init() {}
}
