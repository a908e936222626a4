import SMP

/// An LE security mode and level, as a service requires it (Core Vol 3 Part C 10.2).
package enum LESecurity: Hashable, Sendable {
    /// Mode 1, encryption, with level 1 to 4.
    case mode1(level: UInt8)
    /// Mode 2, data signing, with level 1 or 2.
    case mode2(level: UInt8)

    /// No security: level 1 (Core Vol 3 Part C 10.2.1).
    package static let none = LESecurity.mode1(level: 1)
    /// Encryption, with any key.
    package static let encrypted = LESecurity.mode1(level: 2)
    /// Encryption with an authenticated key.
    package static let authenticated = LESecurity.mode1(level: 3)
    /// Encryption with an authenticated 16-octet key from LE Secure Connections.
    package static let secureConnections = LESecurity.mode1(level: 4)

    /// The numbers of the mode and the level, as in the LE GATT Security Levels characteristic (Vol 3 Part C 12.7).
    package var octets: [UInt8] {
        switch self {
        case .mode1(let level): [1, level]
        case .mode2(let level): [2, level]
        }
    }

    /// Whether the specification defines the level.
    package var isValid: Bool {
        switch self {
        case .mode1(let level): (1...4).contains(level)
        case .mode2(let level): (1...2).contains(level)
        }
    }
}
