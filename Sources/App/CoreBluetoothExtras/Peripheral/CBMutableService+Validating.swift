import CoreBluetooth
import Foundation

extension CBMutableCharacteristic {
    /// Creates a characteristic that can be published.
    ///
    /// - Parameters:
    ///   - type: The UUID of the characteristic's type.
    ///   - properties: The operations that it supports.
    ///   - value: A value for which the system answers reads, or nil.
    ///   - permissions: The access that clients have to the value.
    /// - Returns: The characteristic.
    /// - Throws: ``PublishingFault`` if it could not be published.
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

    /// Checks whether the characteristic can be published in its present state.
    ///
    /// - Throws: ``PublishingFault`` if it cannot.
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
    /// Creates a descriptor that can be published.
    ///
    /// - Parameters:
    ///   - type: The UUID of the descriptor's type.
    ///   - value: The value.
    /// - Returns: The descriptor.
    /// - Throws: ``PublishingFault`` where Core Bluetooth's initializer traps, and for a value that cannot be
    ///   published.
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
    /// The maximum length of a value, in octets (behaviour 14.21).
    static let maximumValue = 512

    /// Checks whether the service and its characteristics can be published in their present state.
    ///
    /// - Throws: ``PublishingFault`` if they cannot.
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
