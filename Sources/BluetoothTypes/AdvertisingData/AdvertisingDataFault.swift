/// What the specification does not allow in advertising data that this device sends.
///
/// What others send is read as far as it can be; nothing is sent that others might be unable to read.
package enum AdvertisingDataFault: Error, Hashable, Sendable {
    /// The data are longer than the packet holds.
    case tooLong(octets: Int, limit: Int)
    /// A structure whose value has a length, or a number, that its type does not allow.
    case illegalValue(AdvertisingDataType)
    /// A type that may stand once stands twice.
    case repeated(AdvertisingDataType)
    /// A type that has no place in a scan response.
    case notInScanResponse(AdvertisingDataType)
}

extension AdvertisingDataFault: CustomStringConvertible {
    /// What is wrong, and what to do.
    package var description: String {
        switch self {
        case .tooLong(let octets, let limit):
            "the data have \(octets) octets where \(limit) have room; leave something out, or use extended advertising"
        case .illegalValue(let type): "the value of the \(type) is not one that the specification allows"
        case .repeated(let type): "the \(type) may stand once only; put both values into one structure"
        case .notInScanResponse(let type): "the \(type) belong into the advertisement, not into the scan response"
        }
    }
}

extension AdvertisingData {
    /// Which of the two places the data are for.
    package enum Place: Sendable {
        /// The advertisement itself.
        case advertisement
        /// What those who ask are told.
        case scanResponse
    }

    /// Finds the first thing that the specification does not allow (Core Specification Supplement Part A).
    ///
    /// - Parameter limit: The octets that there is room for.
    package func check(for place: Place, limit: Int) throws(AdvertisingDataFault) {
        var seen: Set<AdvertisingDataType> = []
        for structure in structures {
            guard structure.isLegal else { throw .illegalValue(structure.type) }
            // Flags stand in the advertisement alone (1.3.2).
            guard place == .advertisement || structure.type != .flags else { throw .notInScanResponse(.flags) }
            guard structure.type.mayRepeat || seen.insert(structure.type).inserted else {
                throw .repeated(structure.type)
            }
        }
        guard encodedLength <= limit else { throw .tooLong(octets: encodedLength, limit: limit) }
    }
}

extension AdvertisingDataType {
    /// Whether data may hold several structures of the type (Core Specification Supplement Part A 1, table 1.1).
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
    /// Whether the value is one that its type allows. Types that this host does not know are the caller's business.
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
        // A randomizer of 5 octets and a code of 4 (1.23).
        case .encryptedData: return count >= 9
        default: return true
        }
    }
}
