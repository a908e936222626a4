import CoreBluetooth
import Foundation

/// Why something cannot be published. Core Bluetooth traps, or says so in the log alone (behaviours 7.3, 7.4, 7.7, 7.8).
public enum PublishingFault: Error, Hashable, Sendable {
    /// A characteristic with a value is answered for by the system: it can be read, and nothing else.
    case cachedValueNotReadOnly
    /// The octets are more than the 512 of a value (behaviour 14.21).
    case valueTooLong(octets: Int)
    /// Broadcast and extended properties are not for local characteristics.
    case propertiesNotAllowed
    /// Of descriptors 2901 and 2904 alone can be made; 2900 and 2902 come by themselves.
    case descriptorNotAllowed
    /// 2901 takes a `String`, 2904 takes `Data` of seven octets.
    case descriptorValue
    /// A part was not made for publishing: it is no `CBMutableCharacteristic` or `CBMutableDescriptor`.
    case notMutable
    /// The service is published by this manager already.
    case publishedAlready
}

extension CBMutableCharacteristic {
    /// A characteristic that can be published as it is, or why not.
    public static func validated(
        type: CBUUID,
        properties: CBCharacteristicProperties,
        value: Data?,
        permissions: CBAttributePermissions
    ) throws(PublishingFault) -> CBMutableCharacteristic {
        let new = CBMutableCharacteristic(type: type, properties: properties, value: value, permissions: permissions)
        try new.validate()
        return new
    }

    /// Says why it cannot be published as it is now.
    public func validate() throws(PublishingFault) {
        if let fault { throw fault }
    }

    fileprivate var fault: PublishingFault? {
        guard properties.isDisjoint(with: [.broadcast, .extendedProperties]) else { return .propertiesNotAllowed }
        if hasCachedValue {
            let isReadOnly =
                properties.isSubset(of: .read) && permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired])
            guard isReadOnly else { return .cachedValueNotReadOnly }
            let octets = value?.count ?? 0
            guard octets <= CBMutableService.maximumValue else { return .valueTooLong(octets: octets) }
        }
        for descriptor in descriptors ?? [] {
            guard let descriptor = descriptor as? CBMutableDescriptor else { return .notMutable }
            if let fault = CBMutableDescriptor.fault(descriptor.uuid, descriptor.value) { return fault }
        }
        return nil
    }
}

extension CBMutableDescriptor {
    /// A descriptor, or why there cannot be one.
    public static func validated(type: CBUUID, value: Any?) throws(PublishingFault) -> CBMutableDescriptor {
        if let fault = fault(type, value) { throw fault }
        return CBMutableDescriptor(type: type, value: value)
    }

    fileprivate static func fault(_ type: CBUUID, _ value: Any?) -> PublishingFault? {
        switch type {
        case CBUUID(string: CBUUIDCharacteristicUserDescriptionString):
            guard let octets = (value as? String)?.utf8.count else { return .descriptorValue }
            return octets <= CBMutableService.maximumValue ? nil : .valueTooLong(octets: octets)
        case CBUUID(string: CBUUIDCharacteristicFormatString):
            // Core Vol 3 Part G 3.3.3.5.
            return (value as? Data)?.count == 7 ? nil : .descriptorValue
        default: return .descriptorNotAllowed
        }
    }
}

extension CBMutableService {
    /// Octets of a value (behaviour 14.21).
    static let maximumValue = 512

    /// Says why it cannot be published as it is now.
    public func validate() throws(PublishingFault) {
        if let fault { throw fault }
    }

    var fault: PublishingFault? {
        for characteristic in characteristics ?? [] {
            guard let characteristic = characteristic as? CBMutableCharacteristic else { return .notMutable }
            if let fault = characteristic.fault { return fault }
        }
        return nil
    }
}
