/// A device address and its type (Core Vol 6 Part B 1.3).
public struct BluetoothAddress: Hashable, Sendable {
    /// The address types of HCI commands and events (Core Vol 4 Part E 7.8.10 and 7.7.65).
    public struct Kind: WireValue, CustomStringConvertible {
        /// The number on the wire.
        public var rawValue: UInt8
        /// Creates a kind from any number, assigned or not.
        @inlinable
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A public address, assigned by the IEEE.
        @inlinable public static var publicDevice: Kind { Kind(rawValue: 0) }
        /// A random address: static or private.
        public static let randomDevice = Kind(rawValue: 1)
        /// The public identity address behind a private address that the controller resolved.
        public static let publicIdentity = Kind(rawValue: 2)
        /// The static identity address behind a private address that the controller resolved.
        public static let randomIdentity = Kind(rawValue: 3)

        /// Whether the address is random, identity or not.
        public var isRandom: Bool { rawValue & 1 == 1 }

        /// The name of the kind, for logs.
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

    /// The subtypes of random addresses, encoded in the two top bits (Vol 6 Part B 1.3.2).
    public enum RandomKind: Sendable {
        /// A static address. It stays the same at least until the next power cycle.
        case `static`
        /// A resolvable private address. It changes, and the identity resolving key of the device recognises it.
        case resolvable
        /// A non-resolvable private address. It changes, and no key recognises it.
        case nonResolvable
        /// Reserved for future use.
        case reserved
    }

    /// The 48 bits of the address; the first printed octet is the most significant.
    public var value: UInt64
    /// The type of the address.
    public var kind: Kind

    /// Creates an address from the 48 low bits of `value`.
    @inlinable
    public init(_ value: UInt64, kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// Parses an address such as `C0:FF:EE:00:00:01`; nil for any other format.
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

    /// The all-zero address, which stands for no address.
    @inlinable public static var none: BluetoothAddress { BluetoothAddress(0, kind: .publicDevice) }

    /// The subtype of a random address; nil for a public address.
    public var randomKind: RandomKind? {
        guard kind.isRandom else { return nil }
        switch value >> 46 {
        case 0b11: return .static
        case 0b01: return .resolvable
        case 0b00: return .nonResolvable
        default: return .reserved
        }
    }

    /// The six octets in wire order, least significant first.
    public var littleEndianBytes: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

extension BluetoothAddress: CustomStringConvertible {
    /// The six octets in upper-case hexadecimal, most significant first, separated by colons.
    public var description: String {
        littleEndianBytes.reversed().map { hexadecimal([$0]).uppercased() }.joined(separator: ":")
    }
}

extension FieldCoder {
    /// Codes an address type and an address, in the form that most HCI packets use.
    ///
    /// - Parameters:
    ///   - typeName: The name of the address type.
    ///   - name: The name of the address.
    ///   - address: The address, whose kind is coded as the address type.
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

    /// Codes the six octets of an address and leaves its kind unchanged.
    @inlinable
    public mutating func address(_ name: String, _ address: inout BluetoothAddress) throws(PacketError) {
        var value = address.value
        try uint48(name, &value)
        address.value = value
        let shown = address
        note(name, shown.description)
    }
}
