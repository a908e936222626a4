import BluetoothTypes
import GATT
import ServiceMessages

/// The bits of `CBCharacteristicProperties`, including those that are not sent over the air (behaviour 6.15).
private enum LocalProperties {
    static let notifyEncryptionRequired: UInt16 = 0x100
    static let indicateEncryptionRequired: UInt16 = 0x200
    static let signedWrites: UInt16 = 0x40
    static let writes: UInt16 = 0x4C
    /// The properties that a constant value may not have (behaviour 7.4), and below those that no local characteristic
    /// may have (behaviour 7.7).
    static let changing: UInt16 = 0x37C
    static let forbidden: UInt16 = 0x81
}

/// The bits of `CBAttributePermissions`.
private enum LocalPermissions {
    static let readable: UInt8 = 1
    static let writeable: UInt8 = 2
    static let readEncryptionRequired: UInt8 = 4
    static let writeEncryptionRequired: UInt8 = 8
}

extension ServiceDefinition {
    /// The services that the system publishes itself; apps cannot publish them (behaviour 7.10).
    static let reserved: Set<BluetoothUUID> = [GATTUUID.genericAccess, GATTUUID.genericAttribute]

    /// Validates and converts a service that an app publishes.
    ///
    /// - Parameters:
    ///   - includedServices: The first handles of the services that it includes.
    ///   - trust: The security level that attributes with an encryption requirement demand of the link (behaviour 6.9).
    ///   - anyDescriptor: Whether descriptors may have any type, except for those with a function in GATT.
    init(
        _ service: LocalService,
        includedServices: [UInt16],
        trust: SecurityLevel,
        anyDescriptor: Bool = false
    ) throws(ServiceError) {
        guard !Self.reserved.contains(service.uuid) else {
            throw ServiceError(.uuidNotAllowed, reason: "the system publishes \(service.uuid) itself")
        }
        let characteristics = try service.characteristics.map { local throws(ServiceError) in
            try CharacteristicDefinition(local, trust, anyDescriptor)
        }
        self.init(
            service.uuid.attributeForm,
            isPrimary: service.isPrimary,
            includedServices: includedServices,
            characteristics: characteristics
        )
    }
}

extension ServiceDefinition {
    var takesSignedWrites: Bool {
        characteristics.contains { $0.properties.rawValue & UInt8(LocalProperties.signedWrites) != 0 }
    }
}

extension CharacteristicDefinition {
    fileprivate init(
        _ local: LocalCharacteristic,
        _ trust: SecurityLevel,
        _ anyDescriptor: Bool
    ) throws(ServiceError) {
        guard local.properties & LocalProperties.forbidden == 0 else {
            let reason = "\(local.uuid) cannot be broadcast or have extended properties"
            throw ServiceError(.invalidParameters, reason: reason)
        }
        var properties = UInt8(truncatingIfNeeded: local.properties)
        var permissions = local.permissions
        if local.value != nil {
            let isChanging = local.properties & LocalProperties.changing != 0
            guard !isChanging, permissions & ~(LocalPermissions.readable | LocalPermissions.readEncryptionRequired) == 0
            else {
                let reason = "\(local.uuid) has a constant value, so it must be read-only"
                throw ServiceError(.invalidParameters, reason: reason)
            }
            properties |= CharacteristicProperties.read.rawValue
            permissions |= LocalPermissions.readable
        }
        let notifiesEncrypted = local.properties & LocalProperties.notifyEncryptionRequired != 0
        let indicatesEncrypted = local.properties & LocalProperties.indicateEncryptionRequired != 0
        if notifiesEncrypted { properties |= CharacteristicProperties.notify.rawValue }
        if indicatesEncrypted { properties |= CharacteristicProperties.indicate.rawValue }
        let descriptors = try local.descriptors.map { descriptor throws(ServiceError) in
            try DescriptorDefinition(descriptor, any: anyDescriptor)
        }
        var granted = AttributePermissions(permissions, trust: trust)
        // If signed writes are the only way to write the value, they have to be signed.
        granted.needsSignature = local.properties & LocalProperties.writes == LocalProperties.signedWrites
        self.init(
            local.uuid.attributeForm,
            properties: CharacteristicProperties(rawValue: properties),
            permissions: granted,
            notification: notifiesEncrypted ? trust : .none,
            indication: indicatesEncrypted ? trust : .none,
            source: local.value.map { .fixed($0) } ?? .asked,
            descriptors: descriptors
        )
    }
}

extension DescriptorDefinition {
    /// The descriptors with a function in GATT: extended properties and configurations (Core Vol 3 Part G 3.3.3).
    private static let functional: Set<BluetoothUUID> = [0x2900, 0x2902, 0x2903]

    /// Accepts only descriptors that describe the value. Those with a function are added by the system (behaviour 7.8).
    fileprivate init(_ local: LocalDescriptor, any: Bool) throws(ServiceError) {
        let isAllowed = local.uuid == GATTUUID.userDescription || local.uuid == GATTUUID.presentationFormat
        guard isAllowed || any && !Self.functional.contains(local.uuid) else {
            throw ServiceError(.invalidParameters, reason: "a descriptor \(local.uuid) cannot be published")
        }
        self.init(local.uuid.attributeForm, source: .fixed(local.value))
    }
}

extension AttributePermissions {
    fileprivate init(_ bits: UInt8, trust: SecurityLevel) {
        func requirement(_ open: UInt8, _ encrypted: UInt8) -> SecurityLevel? {
            if bits & encrypted != 0 { return trust }
            return bits & open != 0 ? SecurityLevel.none : nil
        }
        self.init(
            read: requirement(LocalPermissions.readable, LocalPermissions.readEncryptionRequired),
            write: requirement(LocalPermissions.writeable, LocalPermissions.writeEncryptionRequired)
        )
    }
}

extension ServiceError {
    init(_ error: GATTDatabaseError) {
        switch error {
        case .full: self.init(.outOfSpace, reason: "the attribute table is full")
        case .valueTooLong(let uuid):
            self.init(.invalidParameters, reason: "the value of \(uuid) is longer than 512 octets")
        case .unknownService(let handle): self.init(.invalidHandle, reason: "there is no service at handle \(handle)")
        case .included(let other):
            self.init(.invalidParameters, reason: "the service at handle \(other) includes this one")
        case .noFixedValue(let handle):
            self.init(.invalidHandle, reason: "there is no constant value at handle \(handle)")
        }
    }
}
