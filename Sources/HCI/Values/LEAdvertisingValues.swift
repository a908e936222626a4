import BluetoothTypes

/// Which of its own addresses a device uses on the air (Core Vol 4 Part E 7.8.5).
package struct OwnAddressKind: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// The public address.
    package static let publicDevice = OwnAddressKind(rawValue: 0x00)
    /// The random address that was set.
    package static let randomDevice = OwnAddressKind(rawValue: 0x01)
    /// A resolvable private address of the controller, or the public address if it cannot make one.
    package static let resolvableOrPublic = OwnAddressKind(rawValue: 0x02)
    /// A resolvable private address of the controller, or the random address if it cannot make one.
    package static let resolvableOrRandom = OwnAddressKind(rawValue: 0x03)

    static let names: [UInt8: String] = [
        0x00: "public device",
        0x01: "random device",
        0x02: "resolvable or public",
        0x03: "resolvable or random",
    ]
}

/// What kind of legacy advertising a device does (Core Vol 4 Part E 7.8.5).
package struct LEAdvertisingKind: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Connectable and scannable, undirected.
    package static let connectableScannable = LEAdvertisingKind(rawValue: 0x00)
    /// Connectable and directed, at the highest rate, for 1.28 s at most.
    package static let directedHighDutyCycle = LEAdvertisingKind(rawValue: 0x01)
    /// Scannable, undirected.
    package static let scannable = LEAdvertisingKind(rawValue: 0x02)
    /// Neither connectable nor scannable, undirected.
    package static let nonConnectable = LEAdvertisingKind(rawValue: 0x03)
    /// Connectable and directed, at the interval that was set.
    package static let directedLowDutyCycle = LEAdvertisingKind(rawValue: 0x04)

    static let names: [UInt8: String] = [
        0x00: "ADV_IND",
        0x01: "ADV_DIRECT_IND high",
        0x02: "ADV_SCAN_IND",
        0x03: "ADV_NONCONN_IND",
        0x04: "ADV_DIRECT_IND low",
    ]
}

/// Whom an advertiser answers (Core Vol 4 Part E 7.8.5).
package struct LEAdvertisingFilterPolicy: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Scan and connection requests from everybody.
    package static let everybody = LEAdvertisingFilterPolicy(rawValue: 0x00)
    /// Scan requests from the accept list, connection requests from everybody.
    package static let scanFromAcceptList = LEAdvertisingFilterPolicy(rawValue: 0x01)
    /// Scan requests from everybody, connection requests from the accept list.
    package static let connectFromAcceptList = LEAdvertisingFilterPolicy(rawValue: 0x02)
    /// Scan and connection requests from the accept list.
    package static let acceptListOnly = LEAdvertisingFilterPolicy(rawValue: 0x03)

    static let names: [UInt8: String] = [
        0x00: "everybody",
        0x01: "scan from accept list",
        0x02: "connect from accept list",
        0x03: "accept list only",
    ]
}

/// The primary advertising channels in use (Core Vol 4 Part E 7.8.5).
package struct LEAdvertisingChannels: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Channel 37, at 2402 MHz.
    package static let channel37 = bit(0)
    /// Channel 38, at 2426 MHz.
    package static let channel38 = bit(1)
    /// Channel 39, at 2480 MHz.
    package static let channel39 = bit(2)

    /// All three.
    package static let all: LEAdvertisingChannels = [.channel37, .channel38, .channel39]

    /// The names of the bits, for a log.
    package static let names: [(flag: LEAdvertisingChannels, name: String)] = [
        (.channel37, "37"),
        (.channel38, "38"),
        (.channel39, "39"),
    ]
}

/// What an advertising set does (Core Vol 4 Part E 7.8.53).
package struct LEAdvertisingProperties: WireFlags {
    package var rawValue: UInt16

    /// Any bits, known or not.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// It can be connected to.
    package static let connectable = bit(0)
    /// It answers scan requests.
    package static let scannable = bit(1)
    /// It is meant for one peer.
    package static let directed = bit(2)
    /// Directed at the highest rate.
    package static let highDutyCycle = bit(3)
    /// It uses the PDUs of legacy advertising.
    package static let legacy = bit(4)
    /// It leaves the address out.
    package static let anonymous = bit(5)
    /// The extended header has the transmit power.
    package static let includeTxPower = bit(6)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEAdvertisingProperties, name: String)] = [
        (.connectable, "connectable"),
        (.scannable, "scannable"),
        (.directed, "directed"),
        (.highDutyCycle, "high duty cycle"),
        (.legacy, "legacy"),
        (.anonymous, "anonymous"),
        (.includeTxPower, "include tx power"),
    ]
}

/// Which part of the data of a set a command carries (Core Vol 4 Part E 7.8.54).
package struct LEDataOperation: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// A fragment between the first and the last.
    package static let intermediate = LEDataOperation(rawValue: 0x00)
    /// The first fragment.
    package static let first = LEDataOperation(rawValue: 0x01)
    /// The last fragment.
    package static let last = LEDataOperation(rawValue: 0x02)
    /// All of the data.
    package static let complete = LEDataOperation(rawValue: 0x03)
    /// No data: only the identifier of the data changes.
    package static let unchanged = LEDataOperation(rawValue: 0x04)

    static let names: [UInt8: String] = [
        0x00: "intermediate",
        0x01: "first",
        0x02: "last",
        0x03: "complete",
        0x04: "unchanged",
    ]
}

/// Which changes of data make a new private address necessary (Core Vol 4 Part E 7.8.122).
package struct LEAddressChangeReasons: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Of what is advertised.
    package static let advertisingData = bit(0)
    /// Of what answers a scan request.
    package static let scanResponseData = bit(1)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEAddressChangeReasons, name: String)] = [
        (.advertisingData, "advertising data"),
        (.scanResponseData, "scan response data"),
    ]
}

/// Which coding an advertising set uses on the Coded PHY (Core Vol 4 Part E 7.8.53).
package struct LEAdvertisingPHYOptions: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// No preference.
    package static let none = LEAdvertisingPHYOptions(rawValue: 0x00)
    /// Preferably two symbols for a bit.
    package static let prefersS2 = LEAdvertisingPHYOptions(rawValue: 0x01)
    /// Preferably eight symbols for a bit.
    package static let prefersS8 = LEAdvertisingPHYOptions(rawValue: 0x02)
    /// Two symbols for a bit.
    package static let requiresS2 = LEAdvertisingPHYOptions(rawValue: 0x03)
    /// Eight symbols for a bit.
    package static let requiresS8 = LEAdvertisingPHYOptions(rawValue: 0x04)

    static let names: [UInt8: String] = [
        0x00: "no preference",
        0x01: "prefers S=2",
        0x02: "prefers S=8",
        0x03: "requires S=2",
        0x04: "requires S=8",
    ]
}
