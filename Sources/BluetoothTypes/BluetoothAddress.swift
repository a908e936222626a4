/// The address of a device with what kind of address it is (Core Vol 6 Part B 1.3).
public struct BluetoothAddress: Hashable, Sendable {
    /// The address types of HCI commands and events (Core Vol 4 Part E 7.8.10 and 7.7.65).
    public struct Kind: WireValue, CustomStringConvertible {
        /// The number on the wire.
        public var rawValue: UInt8
        /// Any number, known or not.
        @inlinable
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A public address, given out by the IEEE.
        @inlinable public static var publicDevice: Kind { Kind(rawValue: 0) }
        /// A random address: static or private.
        public static let randomDevice = Kind(rawValue: 1)
        /// The public identity behind a private address that the controller resolved.
        public static let publicIdentity = Kind(rawValue: 2)
        /// The static identity behind a private address that the controller resolved.
        public static let randomIdentity = Kind(rawValue: 3)

        /// Whether the address itself is of the random kind, identity or not.
        public var isRandom: Bool { rawValue & 1 == 1 }

        /// The name for a log.
        public var description: String {
            switch self {
            case .publicDevice: "public"
            case .randomDevice: "random"
            case .publicIdentity: "public identity"
            case .randomIdentity: "random identity"
            default: "kind \(rawValue)"
            }
        }
    }

    /// What the two top bits of a random address say (Vol 6 Part B 1.3.2).
    public enum RandomKind: Sendable {
        /// Stays until the power is cycled at least.
        case `static`
        /// Changes, and can be recognised with the device's identity resolving key.
        case resolvable
        /// Changes, and cannot be recognised.
        case nonResolvable
        /// Reserved for future use.
        case reserved
    }

    /// The 48 bits as printed: the first printed octet is the most significant one.
    public var value: UInt64
    /// What kind of address it is.
    public var kind: Kind

    /// An address from its 48 low bits.
    @inlinable
    public init(_ value: UInt64, kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// Reads `C0:FF:EE:00:00:01`; nil for anything else.
    public init?(_ text: String, kind: Kind) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        var value: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, part.allSatisfy(\.isHexDigit), let octet = UInt8(part, radix: 16) else {
                return nil
            }
            value = value << 8 | UInt64(octet)
        }
        self.init(value, kind: kind)
    }

    /// The address with every bit zero, which stands for none.
    @inlinable public static var none: BluetoothAddress { BluetoothAddress(0, kind: .publicDevice) }

    /// For a random address, which of the three it is.
    public var randomKind: RandomKind? {
        guard kind.isRandom else { return nil }
        switch value >> 46 {
        case 0b11: return .static
        case 0b01: return .resolvable
        case 0b00: return .nonResolvable
        default: return .reserved
        }
    }

    /// The six octets, least significant first as on the wire.
    public var littleEndianBytes: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

extension BluetoothAddress: CustomStringConvertible {
    /// Six octets with colons, upper case, most significant first.
    public var description: String {
        littleEndianBytes.reversed().map { hexadecimal([$0]).uppercased() }.joined(separator: ":")
    }
}

extension FieldCoder {
    /// An address type and an address, as most HCI packets carry them.
    @inlinable
    public mutating func typedAddress(
        _ typeName: String,
        _ name: String,
        _ address: inout BluetoothAddress
    ) throws(PacketError) {
        var kind = address.kind
        try field(typeName, &kind)
        address.kind = kind
        try self.address(name, &address)
    }

    /// The six octets of an address; its kind stays as it is.
    @inlinable
    public mutating func address(_ name: String, _ address: inout BluetoothAddress) throws(PacketError) {
        var value = address.value
        try uint48(name, &value)
        address.value = value
        let shown = address
        note(name, shown.description)
    }
}
