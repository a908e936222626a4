import BluetoothTypes

/// Who may read and write an attribute.
package struct AttributePermissions: Hashable, Sendable {
    /// What reading asks of the link; nil when nobody reads.
    package var read: SecurityLevel?
    /// What writing asks of the link; nil when nobody writes.
    package var write: SecurityLevel?
    /// Whether writing asks for a signature as long as the link is not encrypted: LE security mode 2 (Core Vol 3 Part C
    /// 10.2.2). The characteristic's properties have to allow signed writes.
    package var needsSignature: Bool
    /// Whether both ask for the word of this system's user besides.
    package var needsAuthorization: Bool

    /// The given permissions.
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

    /// Everybody reads, nobody writes.
    package static let readable = AttributePermissions(read: SecurityLevel.none)
}

/// Where an attribute's value comes from.
package enum AttributeSource: Hashable, Sendable {
    /// The database has it, and answers by itself (behaviour 7.3).
    case fixed(PacketBuffer)
    /// The server's delegate is asked each time (behaviour 7.5).
    case asked
}

/// A service to be published.
package struct ServiceDefinition: Hashable, Sendable {
    /// The service's UUID.
    package var uuid: BluetoothUUID
    /// Whether it stands for itself; otherwise others include it.
    package var isPrimary: Bool
    /// The services that it includes, by their first handles; they have been published before (behaviour 7.9).
    package var includedServices: [UInt16]
    /// Its characteristics, in order.
    package var characteristics: [CharacteristicDefinition]

    /// A service.
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

/// A characteristic to be published.
package struct CharacteristicDefinition: Hashable, Sendable {
    /// The characteristic's UUID.
    package var uuid: BluetoothUUID
    /// What may be done with its value. Notify and indicate bring a Client Characteristic Configuration descriptor.
    package var properties: CharacteristicProperties
    /// Who may read and write its value.
    package var permissions: AttributePermissions
    /// What notifications ask of the link, to be chosen and to be sent (behaviour 6.15).
    package var notification: SecurityLevel
    /// What indications ask of the link, to be chosen and to be sent.
    package var indication: SecurityLevel
    /// Where its value comes from.
    package var source: AttributeSource
    /// Properties beyond the eight, which bring an Extended Properties descriptor (Core Vol 3 Part G 3.3.3.1). A name for
    /// people that may be written adds its own.
    package var extendedProperties: ExtendedProperties
    /// Its descriptors, in order, without those that come by themselves: Extended Properties, Client Characteristic
    /// Configuration, and Aggregate Format when there are several presentation formats.
    package var descriptors: [DescriptorDefinition]

    /// A characteristic.
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

/// A descriptor to be published.
package struct DescriptorDefinition: Hashable, Sendable {
    /// The descriptor's UUID.
    package var uuid: BluetoothUUID
    /// Who may read and write its value.
    package var permissions: AttributePermissions
    /// Where its value comes from.
    package var source: AttributeSource

    /// A descriptor.
    package init(_ uuid: BluetoothUUID, permissions: AttributePermissions = .readable, source: AttributeSource) {
        self.uuid = uuid
        self.permissions = permissions
        self.source = source
    }

    /// A name for people (Core Vol 3 Part G 3.3.3.2).
    package static func userDescription(_ text: String) -> DescriptorDefinition {
        DescriptorDefinition(GATTUUID.userDescription, source: .fixed(PacketBuffer(Array(text.utf8))))
    }

    /// How the value is to be shown (Core Vol 3 Part G 3.3.3.5). Several are the formats of the value's parts, in order.
    package static func presentationFormat(_ format: PresentationFormat) -> DescriptorDefinition {
        var value = PacketBuffer(headroom: 0, capacity: 7)
        format.write(to: &value)
        return DescriptorDefinition(GATTUUID.presentationFormat, source: .fixed(value))
    }
}

/// Where a service was published.
package struct PublishedService: Hashable, Sendable {
    /// From the service's declaration to its last attribute.
    package var handles: ClosedRange<UInt16>
    /// Its characteristics, in the order of the definition.
    package var characteristics: [PublishedCharacteristic]

    /// A service's handles.
    package init(handles: ClosedRange<UInt16>, characteristics: [PublishedCharacteristic]) {
        self.handles = handles
        self.characteristics = characteristics
    }
}

/// Where a characteristic was published.
package struct PublishedCharacteristic: Hashable, Sendable {
    /// The value.
    package var value: UInt16
    /// The Client Characteristic Configuration descriptor, when there is one.
    package var configuration: UInt16?
    /// The descriptors, in the order of the definition.
    package var descriptors: [UInt16]

    /// A characteristic's handles.
    package init(value: UInt16, configuration: UInt16?, descriptors: [UInt16]) {
        self.value = value
        self.configuration = configuration
        self.descriptors = descriptors
    }
}

/// Why a service could not be published or removed.
package enum GATTDatabaseError: Error, Hashable, Sendable {
    /// There are as many attributes as there may be, or no handles are left.
    case full
    /// A fixed value has more than 512 octets.
    case valueTooLong(BluetoothUUID)
    /// There is no service at the handle.
    case unknownService(UInt16)
    /// Another service includes the service, which is to be removed first (behaviour 7.9).
    case included(by: UInt16)
    /// There is no fixed value at the handle.
    case noFixedValue(UInt16)
}
