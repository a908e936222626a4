import BluetoothTypes

/// Replaces what is private in advertising data: names, addresses, and the data of services and manufacturers. Flags,
/// UUIDs, intervals and appearances stay.
struct AdvertisingRedactor: Sendable {
    /// The advertisement that data belong to, since long ones arrive in parts.
    enum Key: Hashable, Sendable {
        case none
        case command(UInt16, UInt8, UInt32)
        case report(UInt64, UInt32)
    }

    /// A structure that continues in the next part.
    private struct Rest: Sendable {
        var type: UInt8
        var count: Int
    }

    private var rests = RecencyTable<Key, Rest>(limit: 256)

    /// Returns the data with replacements, of the same length.
    mutating func redacted(
        _ data: PacketBuffer,
        _ key: Key,
        isLast: Bool,
        _ pseudonyms: inout Pseudonyms
    ) -> [UInt8] {
        var result: [UInt8] = []
        var rest = data
        if let earlier = rests.removeValue(for: key) {
            let part = rest.prefix(upTo: earlier.count)
            result += pseudonyms.octets(part)
            rest = rest.suffix(after: part.count)
            if earlier.count > part.count {
                keep(Rest(type: earlier.type, count: earlier.count - part.count), key, isLast)
            }
        }
        while let length = rest.octet(at: 0).map(Int.init), length > 0 {
            let payload = rest.slice(min(2, rest.count)..<min(1 + length, rest.count))
            let type = rest.octet(at: 1) ?? 0
            result += Array(rest.prefix(upTo: 2)) + replaced(payload, type, &pseudonyms)
            if rest.count < 1 + length, rest.count >= 2 {
                keep(Rest(type: type, count: 1 + length - rest.count), key, isLast)
            }
            rest = rest.suffix(after: 1 + length)
        }
        // A length of zero ends the data early.
        return result + [UInt8](repeating: 0, count: data.count - result.count)
    }

    private mutating func keep(_ rest: Rest, _ key: Key, _ isLast: Bool) {
        if key != .none, !isLast { rests.set(rest, for: key) }
    }

    private func replaced(_ payload: PacketBuffer, _ type: UInt8, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        let kept =
            switch AdvertisingDataType(rawValue: type) {
            case .incompleteServices16, .completeServices16, .solicitedServices16: payload.count / 2 * 2
            case .incompleteServices32, .completeServices32, .solicitedServices32: payload.count / 4 * 4
            case .incompleteServices128, .completeServices128, .solicitedServices128: payload.count / 16 * 16
            case .flags, .txPowerLevel: 1
            case .appearance, .advertisingInterval, .manufacturerData, .serviceData16: 2
            case .peripheralConnectionIntervalRange, .longAdvertisingInterval, .serviceData32: 4
            case .serviceData128: 16
            default: 0
            }
        let head = Array(payload.prefix(upTo: kept))
        let tail = payload.suffix(after: kept)
        switch AdvertisingDataType(rawValue: type) {
        case .shortenedLocalName, .completeLocalName: return pseudonyms.text(tail)
        case .publicTargetAddress, .randomTargetAddress: return head + addresses(tail, &pseudonyms)
        default: return head + pseudonyms.octets(tail)
        }
    }

    private func addresses(_ octets: PacketBuffer, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        var (result, rest) = ([UInt8](), octets)
        while let address = rest.address(at: 0, isRandom: true) {
            result += pseudonyms.octets(of: address)
            rest = rest.suffix(after: 6)
        }
        return result + pseudonyms.octets(rest)
    }
}
