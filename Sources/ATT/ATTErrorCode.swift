import BluetoothTypes

/// Why a request failed (Core Vol 3 Part F 3.4.1.1 and Core Specification Supplement Part B 1.2).
package struct ATTErrorCode: WireValue, Error, CustomStringConvertible {
    /// The number on the wire. 0x80 to 0x9F belong to the application.
    package var rawValue: UInt8

    /// Any number, known or not.
    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The handle is not one of this server.
    package static let invalidHandle = ATTErrorCode(rawValue: 0x01)
    /// The attribute cannot be read.
    package static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
    /// The attribute cannot be written.
    package static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
    /// The PDU is malformed.
    package static let invalidPDU = ATTErrorCode(rawValue: 0x04)
    /// The attribute asks for a key, or for a better one than there is.
    package static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
    /// The server does not know the request.
    package static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
    /// The offset is past the end of the value.
    package static let invalidOffset = ATTErrorCode(rawValue: 0x07)
    /// The application does not allow it.
    package static let insufficientAuthorization = ATTErrorCode(rawValue: 0x08)
    /// Too many prepared writes.
    package static let prepareQueueFull = ATTErrorCode(rawValue: 0x09)
    /// No such attribute in the range.
    package static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
    /// The value fits one response and cannot be read in parts.
    package static let attributeNotLong = ATTErrorCode(rawValue: 0x0B)
    /// The key of the link is too short.
    package static let encryptionKeySizeTooShort = ATTErrorCode(rawValue: 0x0C)
    /// The value is too long or too short for the attribute.
    package static let invalidAttributeValueLength = ATTErrorCode(rawValue: 0x0D)
    /// Something went wrong that has no code.
    package static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
    /// There is a key, and the link is not encrypted.
    package static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)
    /// The type does not begin a group.
    package static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
    /// The server has no room for it.
    package static let insufficientResources = ATTErrorCode(rawValue: 0x11)
    /// The client has to look at the database again.
    package static let databaseOutOfSync = ATTErrorCode(rawValue: 0x12)
    /// The attribute does not take this value.
    package static let valueNotAllowed = ATTErrorCode(rawValue: 0x13)
    /// The profile does not allow the write now.
    package static let writeRequestRejected = ATTErrorCode(rawValue: 0xFC)
    /// The client configuration is not one that the characteristic can follow.
    package static let improperlyConfigured = ATTErrorCode(rawValue: 0xFD)
    /// The profile is busy with the same procedure.
    package static let procedureAlreadyInProgress = ATTErrorCode(rawValue: 0xFE)
    /// The value is outside of the range of the profile.
    package static let outOfRange = ATTErrorCode(rawValue: 0xFF)

    /// Whether a better link may help: pairing, encryption or a longer key (Core Vol 3 Part C 10.3.2).
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

    /// The name for a log, or the number.
    package var description: String { Self.names[rawValue] ?? "error 0x" + String(rawValue, radix: 16) }
}
