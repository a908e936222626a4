/// The type of an advertising structure (Bluetooth Assigned Numbers 2.3, "Common Data Types").
package struct AdvertisingDataType: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    /// Any number, known or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What the device can do and how it can be found.
    package static let flags = AdvertisingDataType(rawValue: 0x01)
    /// Some of the services with 16-bit UUIDs.
    package static let incompleteServices16 = AdvertisingDataType(rawValue: 0x02)
    /// All services with 16-bit UUIDs.
    package static let completeServices16 = AdvertisingDataType(rawValue: 0x03)
    /// Some of the services with 32-bit UUIDs.
    package static let incompleteServices32 = AdvertisingDataType(rawValue: 0x04)
    /// All services with 32-bit UUIDs.
    package static let completeServices32 = AdvertisingDataType(rawValue: 0x05)
    /// Some of the services with 128-bit UUIDs.
    package static let incompleteServices128 = AdvertisingDataType(rawValue: 0x06)
    /// All services with 128-bit UUIDs.
    package static let completeServices128 = AdvertisingDataType(rawValue: 0x07)
    /// The beginning of the name.
    package static let shortenedLocalName = AdvertisingDataType(rawValue: 0x08)
    /// The name.
    package static let completeLocalName = AdvertisingDataType(rawValue: 0x09)
    /// The transmit power in dBm.
    package static let txPowerLevel = AdvertisingDataType(rawValue: 0x0A)
    /// The connection intervals that the device prefers.
    package static let peripheralConnectionIntervalRange = AdvertisingDataType(rawValue: 0x12)
    /// Services with 16-bit UUIDs that the device looks for.
    package static let solicitedServices16 = AdvertisingDataType(rawValue: 0x14)
    /// Services with 128-bit UUIDs that the device looks for.
    package static let solicitedServices128 = AdvertisingDataType(rawValue: 0x15)
    /// Data of a service with a 16-bit UUID.
    package static let serviceData16 = AdvertisingDataType(rawValue: 0x16)
    /// The public addresses of the devices that the advertisement is for.
    package static let publicTargetAddress = AdvertisingDataType(rawValue: 0x17)
    /// The random addresses of the devices that the advertisement is for.
    package static let randomTargetAddress = AdvertisingDataType(rawValue: 0x18)
    /// What the device looks like.
    package static let appearance = AdvertisingDataType(rawValue: 0x19)
    /// How often the device advertises.
    package static let advertisingInterval = AdvertisingDataType(rawValue: 0x1A)
    /// Services with 32-bit UUIDs that the device looks for.
    package static let solicitedServices32 = AdvertisingDataType(rawValue: 0x1F)
    /// Data of a service with a 32-bit UUID.
    package static let serviceData32 = AdvertisingDataType(rawValue: 0x20)
    /// Data of a service with a 128-bit UUID.
    package static let serviceData128 = AdvertisingDataType(rawValue: 0x21)
    /// Where more is to be found.
    package static let uri = AdvertisingDataType(rawValue: 0x24)
    /// What the device's link layer can do.
    package static let supportedFeatures = AdvertisingDataType(rawValue: 0x27)
    /// How often the device advertises, when that is seldom.
    package static let longAdvertisingInterval = AdvertisingDataType(rawValue: 0x2F)
    /// Other structures, encrypted.
    package static let encryptedData = AdvertisingDataType(rawValue: 0x31)
    /// Data in the format of a company.
    package static let manufacturerData = AdvertisingDataType(rawValue: 0xFF)

    /// The name for a log; the number of a type that has none here.
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
    /// The first octet on the wire.
    package var rawValue: UInt8
    /// Any bits, known or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Can be found for a short time.
    package static let limitedDiscoverable = AdvertisingFlags(rawValue: 1 << 0)
    /// Can be found at any time.
    package static let generalDiscoverable = AdvertisingFlags(rawValue: 1 << 1)
    /// Has no Bluetooth Classic.
    package static let classicNotSupported = AdvertisingFlags(rawValue: 1 << 2)
    /// The controller can do LE and Bluetooth Classic to one device at a time.
    package static let simultaneousController = AdvertisingFlags(rawValue: 1 << 3)
    /// So can the host. The bit is reserved since Core 5; Apple devices go on setting it.
    package static let simultaneousHost = AdvertisingFlags(rawValue: 1 << 4)
}

/// The number of a company in manufacturer data (Bluetooth Assigned Numbers 7).
package struct CompanyIdentifier: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    /// Any number, known or not.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Whose structures carry the overflow area.
    package static let apple = CompanyIdentifier(rawValue: 0x004C)

    /// The name for a log, or the number.
    package var description: String {
        self == .apple ? "Apple" : "0x" + hexadecimal([UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)])
    }
}
