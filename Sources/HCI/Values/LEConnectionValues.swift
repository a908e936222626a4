import BluetoothTypes

/// Which end of a connection a device is (Core Vol 4 Part E 7.7.65.1).
package struct LERole: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// It connected.
    package static let central = LERole(rawValue: 0x00)
    /// It advertised.
    package static let peripheral = LERole(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "central",
        0x01: "peripheral",
    ]
}

/// Whom to connect to (Core Vol 4 Part E 7.8.12).
package struct LEInitiatorFilterPolicy: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// The peer that the command names.
    package static let peerAddress = LEInitiatorFilterPolicy(rawValue: 0x00)
    /// Whoever of the accept list comes first.
    package static let acceptList = LEInitiatorFilterPolicy(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "peer address",
        0x01: "accept list",
    ]
}

/// The worst error of the sleep clock of a central (Core Vol 4 Part E 7.7.65.1).
package struct LEClockAccuracy: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// 500 parts in a million.
    package static let ppm500 = LEClockAccuracy(rawValue: 0x00)
    /// 250 parts in a million.
    package static let ppm250 = LEClockAccuracy(rawValue: 0x01)
    /// 150 parts in a million.
    package static let ppm150 = LEClockAccuracy(rawValue: 0x02)
    /// 100 parts in a million.
    package static let ppm100 = LEClockAccuracy(rawValue: 0x03)
    /// 75 parts in a million.
    package static let ppm75 = LEClockAccuracy(rawValue: 0x04)
    /// 50 parts in a million.
    package static let ppm50 = LEClockAccuracy(rawValue: 0x05)
    /// 30 parts in a million.
    package static let ppm30 = LEClockAccuracy(rawValue: 0x06)
    /// 20 parts in a million.
    package static let ppm20 = LEClockAccuracy(rawValue: 0x07)

    static let names: [UInt8: String] = [
        0x00: "500 ppm",
        0x01: "250 ppm",
        0x02: "150 ppm",
        0x03: "100 ppm",
        0x04: "75 ppm",
        0x05: "50 ppm",
        0x06: "30 ppm",
        0x07: "20 ppm",
    ]
}

/// Whether a link is encrypted (Core Vol 4 Part E 7.7.8).
package struct EncryptionState: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// It is not.
    package static let off = EncryptionState(rawValue: 0x00)
    /// It is, with AES-CCM on LE links.
    package static let on = EncryptionState(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "off",
        0x01: "on",
    ]
}

/// How strict a controller is about a peer that has an identity resolving key (Core Vol 4 Part E 7.8.77).
package struct LEPrivacyMode: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Only private addresses of the peer are accepted.
    package static let network = LEPrivacyMode(rawValue: 0x00)
    /// Its identity address is accepted too.
    package static let device = LEPrivacyMode(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "network",
        0x01: "device",
    ]
}

/// How the channels of a connection follow each other (Core Vol 4 Part E 7.7.65.20).
package struct LEChannelSelection: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Channel Selection Algorithm #1.
    package static let algorithm1 = LEChannelSelection(rawValue: 0x00)
    /// Channel Selection Algorithm #2.
    package static let algorithm2 = LEChannelSelection(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "#1",
        0x01: "#2",
    ]
}
