/// The values that describe how to reach the advertiser and where to find more about it (Core Specification Supplement
/// Part A 1.9 and 1.13 to 1.19).
///
/// A value of the wrong length counts as absent. A value outside its range is returned unchanged.
extension AdvertisingData {
    /// A peripheral's preferred connection intervals (Core Specification Supplement Part A 1.9).
    package struct ConnectionIntervalRange: Hashable, Sendable {
        /// The shortest interval, in units of 1.25 ms, 6 to 3,200; nil for no preference.
        package var minimum: UInt16?
        /// The longest interval, in units of 1.25 ms, 6 to 3,200 and not below ``minimum``; nil for no preference.
        package var maximum: UInt16?

        /// Creates a range in units of 1.25 ms.
        package init(minimum: UInt16?, maximum: UInt16?) {
            self.minimum = minimum
            self.maximum = maximum
        }

        /// The value on the air that means no preference.
        fileprivate static let noPreference: UInt16 = 0xFFFF

        /// Whether both values are in range and in order.
        var isLegal: Bool {
            let allowed: ClosedRange<UInt16> = 6...3_200
            guard minimum.map(allowed.contains) ?? true, maximum.map(allowed.contains) ?? true else { return false }
            guard let minimum, let maximum else { return true }
            return minimum <= maximum
        }
    }

    package var connectionIntervalRange: ConnectionIntervalRange? {
        guard let octets = first(.peripheralConnectionIntervalRange), octets.count == 4 else { return nil }
        func interval(_ value: UInt32) -> UInt16? {
            value == UInt32(ConnectionIntervalRange.noPreference) ? nil : UInt16(truncatingIfNeeded: value)
        }
        return ConnectionIntervalRange(
            minimum: interval(octets.prefix(upTo: 2).littleEndianValue),
            maximum: interval(octets.suffix(after: 2).littleEndianValue)
        )
    }

    /// The addresses of the devices that the advertisement is directed at, public ones first.
    package var targetAddresses: [BluetoothAddress] {
        addresses(in: .publicTargetAddress, .publicDevice) + addresses(in: .randomTargetAddress, .randomDevice)
    }

    private func addresses(
        in type: AdvertisingDataType,
        _ kind: BluetoothAddress.Kind
    ) -> [BluetoothAddress] {
        var result: [BluetoothAddress] = []
        for structure in structures where structure.type == type {
            var octets = structure.payload
            // A list that ends in the middle of an address keeps the addresses before it.
            while octets.count >= 6 {
                let value = octets.prefix(upTo: 6).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                result.append(BluetoothAddress(value, kind: kind))
                octets = octets.suffix(after: 6)
            }
        }
        return result
    }

    /// The advertising interval, in units of 625 µs, from the short structure or else the long one.
    package var advertisingInterval: UInt32? {
        if let octets = first(.advertisingInterval), octets.count == 2 { return octets.littleEndianValue }
        guard let octets = first(.longAdvertisingInterval), (3...4).contains(octets.count) else { return nil }
        return octets.littleEndianValue
    }

    /// The URI to more information, with its scheme spelled out; nil if the scheme's number is not assigned.
    package var uri: String? {
        guard let octets = first(.uri) else { return nil }
        let text = String(decoding: octets, as: UTF8.self).unicodeScalars
        guard let number = text.first, let scheme = URISchemes.scheme(number.value) else { return nil }
        return scheme + String(text.dropFirst())
    }

    /// The link layer features of the advertiser, feature bit 0 in the lowest bit. Features from 64 on are dropped.
    package var supportedFeatures: UInt64? {
        first(.supportedFeatures).map { octets in
            octets.prefix(upTo: 8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}

// MARK: Encoding

extension AdvertisingStructure {
    /// Returns the structure for this device's preferred connection intervals.
    package static func connectionIntervalRange(
        _ range: AdvertisingData.ConnectionIntervalRange
    ) -> AdvertisingStructure {
        let noPreference = AdvertisingData.ConnectionIntervalRange.noPreference
        var payload = PacketBuffer(headroom: 0)
        payload.append(integer: range.minimum ?? noPreference)
        payload.append(integer: range.maximum ?? noPreference)
        return AdvertisingStructure(.peripheralConnectionIntervalRange, payload)
    }

    /// Returns the structure for an advertising interval in units of 625 µs. An interval that needs more than 16 bits
    /// uses the long form.
    package static func advertisingInterval(_ interval: UInt32) -> AdvertisingStructure {
        var payload = PacketBuffer(headroom: 0)
        if let short = UInt16(exactly: interval) {
            payload.append(integer: short)
            return AdvertisingStructure(.advertisingInterval, payload)
        }
        payload.append(integer: interval)
        // Three octets where they suffice (Core Specification Supplement Part A 1.15).
        return AdvertisingStructure(
            .longAdvertisingInterval,
            interval < 1 << 24 ? payload.prefix(upTo: 3) : payload
        )
    }

    /// Returns the structure for a URI, with its scheme compressed if the scheme has a number.
    package static func uri(_ uri: String) -> AdvertisingStructure {
        let (number, length) = URISchemes.number(of: uri) ?? (URISchemes.none, 0)
        var text = String.UnicodeScalarView()
        if let scheme = UnicodeScalar(number) { text.append(scheme) }
        return AdvertisingStructure(.uri, PacketBuffer(Array(String(text).utf8) + Array(uri.dropFirst(length).utf8)))
    }

    /// Returns the structure for this device's link layer features, in as few octets as hold them (Core Specification
    /// Supplement Part A 1.19).
    package static func supportedFeatures(_ features: UInt64) -> AdvertisingStructure {
        var octets: [UInt8] = []
        var rest = features
        while rest != 0 {
            octets.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
        return AdvertisingStructure(.supportedFeatures, PacketBuffer(octets))
    }
}

extension PacketBuffer {
    /// The first four octets, or fewer, as an integer.
    fileprivate var littleEndianValue: UInt32 {
        prefix(upTo: 4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
