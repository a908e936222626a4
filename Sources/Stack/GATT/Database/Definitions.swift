import BluetoothTypes

/// The permissions of an attribute.
package struct AttributePermissions: Hashable, Sendable {
    /// The link security that reading requires; nil if the attribute is not readable.
    package var read: SecurityLevel?
    /// The link security that writing requires; nil if the attribute is not writable.
    package var write: SecurityLevel?
    /// Whether writing requires a signature while the link is not encrypted: LE security mode 2 (Core Vol 3 Part C
    /// 10.2.2). The characteristic's properties must allow signed writes.
    package var needsSignature: Bool
    /// Whether reading and writing also require authorization by the local user.
    package var needsAuthorization: Bool

    package init(
        read: SecurityLevel? = nil,
        write: SecurityLevel? = nil,
        needsSignature: Bool = false,
        needsAuthorization: Bool = false
    ) {
        self.read = read
        self.write = write
        self.needsSignature = needsSignature
        self.needsAuthorization = needsAuthorization
    }

    /// Readable without any security, not writable.
    package static let readable = AttributePermissions(read: SecurityLevel.none)
}

/// The source of an attribute's value.
package enum AttributeSource: Hashable, Sendable {
    /// The value is stored in the database, which answers by itself (behaviour 7.3).
    case fixed(PacketBuffer)
    /// The server's delegate is asked for every access (behaviour 7.5).
    case asked
}

/// The definition of a service to be published.
package struct ServiceDefinition: Hashable, Sendable {
    package var uuid: BluetoothUUID
    /// Whether the service is primary. A secondary service only serves to be included by others.
    package var isPrimary: Bool
    /// The first handles of the included services, which must already be published (behaviour 7.9).
    package var includedServices: [UInt16]
    package var characteristics: [CharacteristicDefinition]

    package init(
        _ uuid: BluetoothUUID,
        isPrimary: Bool = true,
        includedServices: [UInt16] = [],
        characteristics: [CharacteristicDefinition] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

/// The definition of a characteristic to be published.
package struct CharacteristicDefinition: Hashable, Sendable {
    package var uuid: BluetoothUUID
    /// The properties. Notify and indicate add a Client Characteristic Configuration descriptor.
    package var properties: CharacteristicProperties
    package var permissions: AttributePermissions
    /// The link security that notifications require, both to subscribe and to be sent (behaviour 6.15).
    package var notification: SecurityLevel
    /// The link security that indications require, both to subscribe and to be sent.
    package var indication: SecurityLevel
    package var source: AttributeSource
    /// The extended properties. If there are any, the characteristic gets an Extended Properties descriptor (Core Vol 3
    /// Part G 3.3.3.1). A writable user description adds its own property.
    package var extendedProperties: ExtendedProperties
    /// The descriptors, in order, without those that are added automatically: Extended Properties, Client
    /// Characteristic Configuration, and Aggregate Format if there are several presentation formats.
    package var descriptors: [DescriptorDefinition]

    package init(
        _ uuid: BluetoothUUID,
        properties: CharacteristicProperties,
        permissions: AttributePermissions,
        notification: SecurityLevel = .none,
        indication: SecurityLevel = .none,
        source: AttributeSource = .asked,
        extendedProperties: ExtendedProperties = [],
        descriptors: [DescriptorDefinition] = []
    ) {
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.notification = notification
        self.indication = indication
        self.source = source
        self.extendedProperties = extendedProperties
        self.descriptors = descriptors
    }
}

/// The definition of a descriptor to be published.
package struct DescriptorDefinition: Hashable, Sendable {
    package var uuid: BluetoothUUID
    package var permissions: AttributePermissions
    package var source: AttributeSource

    package init(_ uuid: BluetoothUUID, permissions: AttributePermissions = .readable, source: AttributeSource) {
        (self.uuid, self.permissions, self.source) = (uuid, permissions, source)
    }

    /// Returns a Characteristic User Description descriptor with `text` (Core Vol 3 Part G 3.3.3.2).
    package static func userDescription(_ text: String) -> DescriptorDefinition {
        DescriptorDefinition(GATTUUID.userDescription, source: .fixed(PacketBuffer(Array(text.utf8))))
    }

    /// Returns a Characteristic Presentation Format descriptor (Core Vol 3 Part G 3.3.3.5). Several of them describe
    /// the parts of the value, in order.
    package static func presentationFormat(_ format: PresentationFormat) -> DescriptorDefinition {
        var value = PacketBuffer(headroom: 0, capacity: 7)
        format.write(to: &value)
        return DescriptorDefinition(GATTUUID.presentationFormat, source: .fixed(value))
    }
}

/// The handles of a published service.
package struct PublishedService: Hashable, Sendable {
    /// The handles from the service's declaration through its last attribute.
    package var handles: ClosedRange<UInt16>
    /// The characteristics, in the order of the definition.
    package var characteristics: [PublishedCharacteristic]
}

/// The handles of a published characteristic.
package struct PublishedCharacteristic: Hashable, Sendable {
    package var value: UInt16
    package var configuration: UInt16?
    /// The descriptors, in the order of the definition.
    package var descriptors: [UInt16]

    package init(value: UInt16, configuration: UInt16?, descriptors: [UInt16]) {
        (self.value, self.configuration, self.descriptors) = (value, configuration, descriptors)
    }
}

/// An error in publishing, removing or changing a service.
package enum GATTDatabaseError: Error, Hashable, Sendable {
    /// The database has reached its maximum number of attributes, or there are no free handles.
    case full
    /// A fixed value is longer than 512 octets.
    case valueTooLong(BluetoothUUID)
    case unknownService(UInt16)
    /// Another service includes this service and must be removed first (behaviour 7.9).
    case included(by: UInt16)
    case noFixedValue(UInt16)
}
