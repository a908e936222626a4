import BluetoothTypes

/// Adds a peer and the keys that generate and resolve private addresses (Core Vol 4 Part E 7.8.38).
package struct LEAddDeviceToResolvingList: HCICommand {
    package static let entry = CommandEntry(.le, 0x27, "LE Add Device To Resolving List", bit: (34, 3))

    /// The peer's identity address: public or static random.
    package var peerIdentity = BluetoothAddress.none
    /// The peer's identity resolving key, 16 octets, least significant first; zeros if there is none.
    package var peerIRK: PacketBuffer = []
    /// The local identity resolving key for this peer, 16 octets, least significant first; zeros if there is none.
    package var localIRK: PacketBuffer = []

    package init() {}

    package init(peerIdentity: BluetoothAddress, peerIRK: PacketBuffer, localIRK: PacketBuffer) {
        (self.peerIdentity, self.peerIRK, self.localIRK) = (peerIdentity, peerIRK, localIRK)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Peer_Identity_Address_Type", "Peer_Identity_Address", &peerIdentity)
        try coder.secret("Peer_IRK", &peerIRK, count: 16)
        try coder.secret("Local_IRK", &localIRK, count: 16)
    }
}

/// Removes a peer from the list (Core Vol 4 Part E 7.8.39).
package struct LERemoveDeviceFromResolvingList: HCICommand {
    package static let entry = CommandEntry(.le, 0x28, "LE Remove Device From Resolving List", bit: (34, 4))

    package var peerIdentity = BluetoothAddress.none

    package init() {}
    package init(peerIdentity: BluetoothAddress) { self.peerIdentity = peerIdentity }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Peer_Identity_Address_Type", "Peer_Identity_Address", &peerIdentity)
    }
}

/// Removes all peers from the list (Core Vol 4 Part E 7.8.40).
package struct LEClearResolvingList: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x29, "LE Clear Resolving List", bit: (34, 5))

    package init() {}
}

/// Reads the capacity of the list (Core Vol 4 Part E 7.8.41).
package struct LEReadResolvingListSize: ValueCommand {
    package static let entry = CommandEntry(.le, 0x2A, "LE Read Resolving List Size", bit: (34, 6))
    /// The capacity of the list.
    package typealias Value = UInt8
    package static let valueName = "Resolving_List_Size"

    package init() {}
}

/// Reads the resolvable private address that a peer uses at present (Core Vol 4 Part E 7.8.42).
package struct LEReadPeerResolvableAddress: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var address = BluetoothAddress(0, kind: .randomDevice)

        package init() {}
        package init(address: BluetoothAddress) { self.address = address }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.address("Peer_Resolvable_Address", &address)
        }
    }

    package static let entry = CommandEntry(.le, 0x2B, "LE Read Peer Resolvable Address", bit: (34, 7))

    package var peerIdentity = BluetoothAddress.none

    package init() {}
    package init(peerIdentity: BluetoothAddress) { self.peerIdentity = peerIdentity }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Peer_Identity_Address_Type", "Peer_Identity_Address", &peerIdentity)
    }
}

/// Reads the resolvable private address that this device uses for a peer at present (Core Vol 4 Part E 7.8.43).
package struct LEReadLocalResolvableAddress: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var address = BluetoothAddress(0, kind: .randomDevice)

        package init() {}
        package init(address: BluetoothAddress) { self.address = address }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.address("Local_Resolvable_Address", &address)
        }
    }

    package static let entry = CommandEntry(.le, 0x2C, "LE Read Local Resolvable Address", bit: (35, 0))

    package var peerIdentity = BluetoothAddress.none

    package init() {}
    package init(peerIdentity: BluetoothAddress) { self.peerIdentity = peerIdentity }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Peer_Identity_Address_Type", "Peer_Identity_Address", &peerIdentity)
    }
}

/// Turns the resolution of addresses in the controller on or off (Core Vol 4 Part E 7.8.44).
package struct LESetAddressResolutionEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x2D, "LE Set Address Resolution Enable", bit: (35, 1))

    package var isEnabled = false

    package init() {}
    package init(isEnabled: Bool) { self.isEnabled = isEnabled }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Address_Resolution_Enable", &isEnabled)
    }
}

/// Sets how long a resolvable private address is used, version 1 (Core Vol 4 Part E 7.8.45).
package struct LESetResolvablePrivateAddressTimeout: HCICommand {
    package static let entry = CommandEntry(.le, 0x2E, "LE Set Resolvable Private Address Timeout", bit: (35, 2))

    /// The timeout, in seconds, 0x0001 to 0x0E10.
    package var timeout: UInt16 = 0

    package init() {}
    package init(timeout: UInt16) { self.timeout = timeout }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("RPA_Timeout", &timeout)
    }
}

/// Sets the range of time for which a resolvable private address is used (Core Vol 4 Part E 7.8.45). The controller
/// chooses a random time for each address, so that the times of changes do not link the addresses of a device.
package struct LESetResolvablePrivateAddressTimeoutV2: HCICommand {
    package static let entry = CommandEntry(.le, 0x9E, "LE Set Resolvable Private Address Timeout [v2]", bit: (48, 2))

    /// The minimum timeout, in seconds, 0x0001 to 0x0E10.
    package var timeoutMin: UInt16 = 0
    /// The maximum timeout, in seconds, 0x0001 to 0x0E10.
    package var timeoutMax: UInt16 = 0

    package init() {}

    package init(timeoutMin: UInt16, timeoutMax: UInt16) {
        (self.timeoutMin, self.timeoutMax) = (timeoutMin, timeoutMax)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("RPA_Timeout_Min", &timeoutMin)
        try coder.field("RPA_Timeout_Max", &timeoutMax)
    }
}

/// Sets the privacy mode for a peer (Core Vol 4 Part E 7.8.77).
package struct LESetPrivacyMode: HCICommand {
    package static let entry = CommandEntry(.le, 0x4E, "LE Set Privacy Mode", bit: (39, 2))

    package var peerIdentity = BluetoothAddress.none
    package var mode = LEPrivacyMode(rawValue: 0)

    package init() {}

    package init(peerIdentity: BluetoothAddress, mode: LEPrivacyMode) {
        (self.peerIdentity, self.mode) = (peerIdentity, mode)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.typedAddress("Peer_Identity_Address_Type", "Peer_Identity_Address", &peerIdentity)
        try coder.field("Privacy_Mode", &mode)
    }
}

/// Selects the changes of data with which a set changes its private address (Core Vol 4 Part E 7.8.122).
package struct LESetDataRelatedAddressChanges: HCICommand {
    package static let entry = CommandEntry(.le, 0x7C, "LE Set Data Related Address Changes", bit: (45, 6))

    package var set: UInt8 = 0
    package var reasons: LEAddressChangeReasons = []

    package init() {}
    package init(set: UInt8, reasons: LEAddressChangeReasons) { (self.set, self.reasons) = (set, reasons) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Change_Reasons", &reasons)
    }
}
