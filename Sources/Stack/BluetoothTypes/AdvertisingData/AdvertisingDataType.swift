/// An AD type (Bluetooth Assigned Numbers 2.3, "Common Data Types").
package struct AdvertisingDataType: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Discoverability and BR/EDR support; see ``AdvertisingFlags``.
    package static let flags = AdvertisingDataType(rawValue: 0x01)
    /// An incomplete list of 16-bit service UUIDs.
    package static let incompleteServices16 = AdvertisingDataType(rawValue: 0x02)
    /// The complete list of 16-bit service UUIDs.
    package static let completeServices16 = AdvertisingDataType(rawValue: 0x03)
    /// An incomplete list of 32-bit service UUIDs.
    package static let incompleteServices32 = AdvertisingDataType(rawValue: 0x04)
    /// The complete list of 32-bit service UUIDs.
    package static let completeServices32 = AdvertisingDataType(rawValue: 0x05)
    /// An incomplete list of 128-bit service UUIDs.
    package static let incompleteServices128 = AdvertisingDataType(rawValue: 0x06)
    /// The complete list of 128-bit service UUIDs.
    package static let completeServices128 = AdvertisingDataType(rawValue: 0x07)
    package static let shortenedLocalName = AdvertisingDataType(rawValue: 0x08)
    package static let completeLocalName = AdvertisingDataType(rawValue: 0x09)
    package static let txPowerLevel = AdvertisingDataType(rawValue: 0x0A)
    package static let peripheralConnectionIntervalRange = AdvertisingDataType(rawValue: 0x12)
    /// The solicited services with 16-bit UUIDs.
    package static let solicitedServices16 = AdvertisingDataType(rawValue: 0x14)
    /// The solicited services with 128-bit UUIDs.
    package static let solicitedServices128 = AdvertisingDataType(rawValue: 0x15)
    /// Service data with a 16-bit UUID.
    package static let serviceData16 = AdvertisingDataType(rawValue: 0x16)
    /// The public addresses of the devices that the advertisement is directed at.
    package static let publicTargetAddress = AdvertisingDataType(rawValue: 0x17)
    /// The random addresses of the devices that the advertisement is directed at.
    package static let randomTargetAddress = AdvertisingDataType(rawValue: 0x18)
    /// The category of the device, as a number from Bluetooth Assigned Numbers 2.6.
    package static let appearance = AdvertisingDataType(rawValue: 0x19)
    /// The advertising interval, in 16 bits.
    package static let advertisingInterval = AdvertisingDataType(rawValue: 0x1A)
    /// The solicited services with 32-bit UUIDs.
    package static let solicitedServices32 = AdvertisingDataType(rawValue: 0x1F)
    /// Service data with a 32-bit UUID.
    package static let serviceData32 = AdvertisingDataType(rawValue: 0x20)
    /// Service data with a 128-bit UUID.
    package static let serviceData128 = AdvertisingDataType(rawValue: 0x21)
    package static let uri = AdvertisingDataType(rawValue: 0x24)
    /// The link layer features of the device.
    package static let supportedFeatures = AdvertisingDataType(rawValue: 0x27)
    /// An advertising interval that needs more than 16 bits.
    package static let longAdvertisingInterval = AdvertisingDataType(rawValue: 0x2F)
    /// Other structures, encrypted (Core Specification Supplement Part A 1.23).
    package static let encryptedData = AdvertisingDataType(rawValue: 0x31)
    /// A company identifier and data in that company's format.
    package static let manufacturerData = AdvertisingDataType(rawValue: 0xFF)

    /// The name of the type, for logs; its number if it has no name here.
    package var description: String {
        Self.names[rawValue] ?? "type 0x" + hexadecimal([rawValue])
    }

    private static let names: [UInt8: String] = [
        0x01: "flags", 0x02: "some 16-bit services", 0x03: "16-bit services", 0x04: "some 32-bit services",
        0x05: "32-bit services", 0x06: "some 128-bit services", 0x07: "128-bit services", 0x08: "shortened name",
        0x09: "name", 0x0A: "transmit power", 0x12: "connection interval range", 0x14: "solicited 16-bit services",
        0x15: "solicited 128-bit services", 0x16: "16-bit service data", 0x17: "public target address",
        0x18: "random target address", 0x19: "appearance", 0x1A: "advertising interval",
        0x1F: "solicited 32-bit services", 0x20: "32-bit service data", 0x21: "128-bit service data", 0x24: "URI",
        0x27: "supported features", 0x2F: "long advertising interval", 0x31: "encrypted data",
        0xFF: "manufacturer data",
    ]
}

/// The bits of the flags structure (Core Specification Supplement Part A 1.3).
package struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let limitedDiscoverable = AdvertisingFlags(rawValue: 1 << 0)
    package static let generalDiscoverable = AdvertisingFlags(rawValue: 1 << 1)
    /// BR/EDR Not Supported: the device supports LE only.
    package static let classicNotSupported = AdvertisingFlags(rawValue: 1 << 2)
    /// The controller supports LE and BR/EDR to the same device simultaneously.
    package static let simultaneousController = AdvertisingFlags(rawValue: 1 << 3)
    /// The host supports LE and BR/EDR to the same device simultaneously. Reserved since Core 5, but still set by Apple
    /// devices.
    package static let simultaneousHost = AdvertisingFlags(rawValue: 1 << 4)
}

/// A company identifier (Bluetooth Assigned Numbers 7).
package struct CompanyIdentifier: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Apple, whose structures carry the overflow area.
    package static let apple = CompanyIdentifier(rawValue: 0x004C)

    /// The company's name, for logs; its number if it has no name here.
    package var description: String {
        self == .apple ? "Apple" : "0x" + hexadecimal([UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)])
    }
}
