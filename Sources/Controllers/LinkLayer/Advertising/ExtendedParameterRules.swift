import BluetoothTypes
import EventLoops
import HCI

/// The rules for LE Set Extended Advertising Parameters (Core Vol 4 Part E 7.8.53) and for the data of a set.
enum ExtendedParameterRules {
    /// Returns the error for the first rule that a command violates.
    static func check(_ command: LESetExtendedAdvertisingParameters, supported: LEPHYs) -> HCIStatus? {
        guard areProperties(command.properties) else { return .invalidParameters }
        let isLegacy = command.properties.contains(.legacy)
        let isDirected = command.properties.contains(.directed)
        // Reserved bits are ignored.
        guard !command.channels.isDisjoint(with: .all), command.filterPolicy.rawValue <= 3, command.sid <= 0x0F,
            !isDirected && !command.ownAddressKind.isPrivate || command.peerAddress.kind.rawValue <= 1,
            command.txPower == 0x7F || (-127...20).contains(command.txPower)
        else { return .invalidParameters }
        // High duty cycle uses an interval of its own; the parameters are ignored.
        if !command.properties.contains(.highDutyCycle) {
            guard command.intervalMin >= 0x20, command.intervalMax >= 0x20 else {
                return .unsupportedFeatureOrParameter
            }
            guard command.intervalMin <= command.intervalMax else { return .invalidParameters }
        }
        return checkPHYs(command, isLegacy: isLegacy, supported: supported)
    }

    private static func checkPHYs(
        _ command: LESetExtendedAdvertisingParameters,
        isLegacy: Bool,
        supported: LEPHYs
    ) -> HCIStatus? {
        guard command.primaryPHY == .le1M || command.primaryPHY == .coded else { return .invalidParameters }
        guard !isLegacy || command.primaryPHY == .le1M else { return .invalidParameters }
        guard let primary = LEPHYs(command.primaryPHY), supported.isSuperset(of: primary) else {
            return .unsupportedFeatureOrParameter
        }
        // Legacy PDUs have no secondary PHY; the parameter is ignored.
        if isLegacy { return nil }
        guard let secondary = LEPHYs(command.secondaryPHY) else { return .invalidParameters }
        return supported.isSuperset(of: secondary) ? nil : .unsupportedFeatureOrParameter
    }

    /// Whether the properties form a valid event type.
    private static func areProperties(_ properties: LEAdvertisingProperties) -> Bool {
        let known: LEAdvertisingProperties = [
            .connectable, .scannable, .directed, .highDutyCycle, .legacy, .anonymous, .includeTxPower,
        ]
        let properties = properties.intersection(known)
        if properties.contains(.legacy) {
            let kinds: [LEAdvertisingKind] = [
                .connectableScannable, .directedHighDutyCycle, .scannable, .nonConnectable, .directedLowDutyCycle,
            ]
            return kinds.contains { LEAdvertisingProperties($0) == properties }
        }
        // An anonymous advertiser can be neither connectable nor scannable.
        let answers: LEAdvertisingProperties = [.connectable, .scannable]
        return !properties.isSuperset(of: answers) && !properties.contains(.highDutyCycle)
            && (!properties.contains(.anonymous) || properties.isDisjoint(with: answers))
    }

    /// Returns an error if the data of a set do not fit its parameters.
    static func checkData(of set: AdvertisingSet) -> HCIStatus? {
        guard set.canHaveData || set.data.bytes.isEmpty, set.isScannable || set.scanResponse.bytes.isEmpty else {
            return .invalidParameters
        }
        if set.isLegacy {
            let isShort = max(set.data.bytes.count, set.scanResponse.bytes.count) <= UndirectedAdvertisement.maximumData
            return isShort ? nil : .invalidParameters
        }
        return checkLength(of: set)
    }

    /// Returns an error if the data of an extended set cannot be sent with its parameters (7.8.53 to 7.8.56).
    static func checkLength(of set: AdvertisingSet) -> HCIStatus? {
        if set.isLegacy { return nil }
        // Connectable advertising is not chained.
        if set.isConnectable, set.data.bytes.count > AuxiliarySegment.capacity(behind: set.auxiliaryHeader) {
            return .invalidParameters
        }
        // An event must end before the next one starts, even with the longest interval that the host allows.
        let slowest = Int64(set.parameters.intervalMax) * 625
        return set.eventTime <= slowest ? nil : .packetTooLong
    }
}

/// A command that sets the data of a set, in whole or in fragments (7.8.54, 7.8.55).
struct DataUpdate {
    var operation: LEDataOperation
    var data: PacketBuffer
    var isEnabled: Bool

    private var isWhole: Bool { operation == .complete }

    /// Returns an error if the command cannot set advertising data.
    func check(advertising set: AdvertisingSet) -> HCIStatus? {
        guard set.canHaveData, operation.rawValue <= 4 else { return .invalidParameters }
        if set.isLegacy, !isWhole || data.count > UndirectedAdvertisement.maximumData { return .invalidParameters }
        if operation == .unchanged {
            let isMeant = isEnabled && !set.data.bytes.isEmpty && data.isEmpty
            return isMeant ? nil : .invalidParameters
        }
        guard isWhole || !data.isEmpty else { return .invalidParameters }
        return isEnabled && !isWhole ? .commandDisallowed : nil
    }

    /// Returns an error if the command cannot set scan response data.
    func check(scanResponse set: AdvertisingSet) -> HCIStatus? {
        guard operation.rawValue <= 3 else { return .invalidParameters }
        if !set.isScannable, !isWhole || !data.isEmpty { return .invalidParameters }
        if set.isLegacy, !isWhole || data.count > UndirectedAdvertisement.maximumData { return .invalidParameters }
        guard isWhole || !data.isEmpty else { return .invalidParameters }
        if isEnabled, !isWhole { return .commandDisallowed }
        // A scannable set needs scan response data.
        return isEnabled && set.isScannable && !set.isLegacy && data.isEmpty ? .commandDisallowed : nil
    }
}

extension LEPHYs {
    /// Creates the set of one PHY; nil for an unknown PHY.
    init?(_ phy: LEPHY) {
        switch phy {
        case .le1M: self = .le1M
        case .le2M: self = .le2M
        case .coded: self = .coded
        default: return nil
        }
    }
}
