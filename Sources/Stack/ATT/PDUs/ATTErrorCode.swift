import BluetoothTypes

/// An ATT error code (Core Vol 3 Part F 3.4.1.1 and Core Specification Supplement Part B 1.2).
package struct ATTErrorCode: WireValue, Error, CustomStringConvertible {
    /// The code on the wire. 0x80 to 0x9F are reserved for applications.
    package var rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let invalidHandle = ATTErrorCode(rawValue: 0x01)
    package static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
    package static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
    package static let invalidPDU = ATTErrorCode(rawValue: 0x04)
    /// The attribute requires an authenticated link or a stronger key.
    package static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
    package static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
    /// The offset is past the end of the value.
    package static let invalidOffset = ATTErrorCode(rawValue: 0x07)
    package static let insufficientAuthorization = ATTErrorCode(rawValue: 0x08)
    package static let prepareQueueFull = ATTErrorCode(rawValue: 0x09)
    /// The range contains no such attribute.
    package static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
    /// The value fits into one response and cannot be read in parts.
    package static let attributeNotLong = ATTErrorCode(rawValue: 0x0B)
    package static let encryptionKeySizeTooShort = ATTErrorCode(rawValue: 0x0C)
    package static let invalidAttributeValueLength = ATTErrorCode(rawValue: 0x0D)
    /// An error for which no other code fits.
    package static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
    /// The attribute requires encryption; a key exists, but the link is not encrypted.
    package static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)
    package static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
    package static let insufficientResources = ATTErrorCode(rawValue: 0x11)
    /// The client's view of the database is out of date; it must discover the database again.
    package static let databaseOutOfSync = ATTErrorCode(rawValue: 0x12)
    package static let valueNotAllowed = ATTErrorCode(rawValue: 0x13)
    /// The profile rejects the write for now.
    package static let writeRequestRejected = ATTErrorCode(rawValue: 0xFC)
    /// The Client Characteristic Configuration does not suit the characteristic.
    package static let improperlyConfigured = ATTErrorCode(rawValue: 0xFD)
    /// The profile is already running this procedure.
    package static let procedureAlreadyInProgress = ATTErrorCode(rawValue: 0xFE)
    /// The value is outside the range that the profile defines.
    package static let outOfRange = ATTErrorCode(rawValue: 0xFF)

    /// Whether better security may help: pairing, encryption or a longer key (Core Vol 3 Part C 10.3.2).
    package var isInsufficientSecurity: Bool {
        self == .insufficientAuthentication || self == .insufficientEncryption || self == .encryptionKeySizeTooShort
    }

    private static let names: [UInt8: String] = [
        0x01: "invalid handle", 0x02: "read not permitted", 0x03: "write not permitted", 0x04: "invalid PDU",
        0x05: "insufficient authentication", 0x06: "request not supported", 0x07: "invalid offset",
        0x08: "insufficient authorization", 0x09: "prepare queue full", 0x0A: "attribute not found",
        0x0B: "attribute not long", 0x0C: "encryption key size too short", 0x0D: "invalid attribute value length",
        0x0E: "unlikely error", 0x0F: "insufficient encryption", 0x10: "unsupported group type",
        0x11: "insufficient resources", 0x12: "database out of sync", 0x13: "value not allowed",
        0xFC: "write request rejected", 0xFD: "client characteristic configuration improperly configured",
        0xFE: "procedure already in progress", 0xFF: "out of range",
    ]

    package var description: String { Self.names[rawValue] ?? "error 0x" + String(rawValue, radix: 16) }
}
