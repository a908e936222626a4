/// A violation of the specification in advertising data that this device is about to send.
///
/// Parsing is lenient with data from other devices. Sending is strict, because other devices may not be.
package enum AdvertisingDataFault: Error, Hashable, Sendable {
    /// The data exceed the capacity of the packet.
    case tooLong(octets: Int, limit: Int)
    /// The length or the value of a structure is not allowed for its type.
    case illegalValue(AdvertisingDataType)
    case repeated(AdvertisingDataType)
    case notInScanResponse(AdvertisingDataType)
}

extension AdvertisingDataFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let octets, let limit):
            "the data has \(octets) octets, but only \(limit) fit; leave something out, or use extended advertising"
        case .illegalValue(let type): "the specification does not allow this value for the \(type)"
        case .repeated(let type): "the \(type) may occur only once; put both values into one structure"
        case .notInScanResponse(let type): "the \(type) belong in the advertisement, not in the scan response"
        }
    }
}

extension AdvertisingData {
    /// The packet that carries the data.
    package enum Place: Sendable {
        /// The advertisement itself, not its scan response.
        case advertisement
        case scanResponse
    }

    /// Checks the data against the specification and throws the first violation (Core Specification Supplement Part A).
    ///
    /// - Parameters:
    ///   - place: The packet that carries the data.
    ///   - limit: The capacity of the packet, in octets.
    package func check(for place: Place, limit: Int) throws(AdvertisingDataFault) {
        var seen: Set<AdvertisingDataType> = []
        for structure in structures {
            guard structure.isLegal else { throw .illegalValue(structure.type) }
            // Flags are allowed only in the advertisement (1.3.2).
            guard place == .advertisement || structure.type != .flags else { throw .notInScanResponse(.flags) }
            guard structure.type.mayRepeat || seen.insert(structure.type).inserted else {
                throw .repeated(structure.type)
            }
        }
        guard encodedLength <= limit else { throw .tooLong(octets: encodedLength, limit: limit) }
    }
}

extension AdvertisingDataType {
    /// Whether the type may occur several times (Core Specification Supplement Part A 1, table 1.1).
    fileprivate var mayRepeat: Bool { !Self.once.contains(self) }

    private static let once: Set<AdvertisingDataType> = [
        .flags, .incompleteServices16, .completeServices16, .incompleteServices32, .completeServices32,
        .incompleteServices128, .completeServices128, .shortenedLocalName, .completeLocalName, .txPowerLevel,
        .peripheralConnectionIntervalRange, .solicitedServices16, .solicitedServices32, .solicitedServices128,
        .publicTargetAddress, .randomTargetAddress, .appearance, .advertisingInterval, .longAdvertisingInterval,
        .supportedFeatures,
    ]
}

extension AdvertisingStructure {
    /// Whether the length and value are allowed for the type. Types without a rule here are the caller's
    /// responsibility.
    fileprivate var isLegal: Bool {
        let count = payload.count
        switch type {
        case .flags: return count >= 1
        case .incompleteServices16, .completeServices16: return count % 2 == 0
        case .incompleteServices32, .completeServices32: return count % 4 == 0
        case .incompleteServices128, .completeServices128: return count % 16 == 0
        case .solicitedServices16: return count > 0 && count % 2 == 0
        case .solicitedServices32: return count > 0 && count % 4 == 0
        case .solicitedServices128: return count > 0 && count % 16 == 0
        case .serviceData16, .manufacturerData: return count >= 2
        case .serviceData32: return count >= 4
        case .serviceData128: return count >= 16
        case .txPowerLevel: return count == 1
        case .publicTargetAddress, .randomTargetAddress: return count > 0 && count % 6 == 0
        case .appearance: return count == 2
        case .shortenedLocalName, .completeLocalName: return String(validating: payload, as: UTF8.self) != nil
        case .uri: return AdvertisingData([self]).uri.map { !$0.isEmpty } ?? false
        case .peripheralConnectionIntervalRange:
            return AdvertisingData([self]).connectionIntervalRange?.isLegal ?? false
        case .advertisingInterval, .longAdvertisingInterval:
            return AdvertisingData([self]).advertisingInterval.map { $0 >= 0x20 } ?? false
        case .supportedFeatures: return payload.last != 0
        // A 5-octet randomizer and a 4-octet MIC (1.23).
        case .encryptedData: return count >= 9
        default: return true
        }
    }
}
