import BluetoothTypes

/// The attributes of a service in order (Core Vol 3 Part G 3), with handles relative to its declaration until it is
/// placed.
struct ServiceLayout {
    private(set) var attributes: [Attribute] = []
    private var characteristics: [PublishedCharacteristic] = []
    /// The handles of the presentation formats that each aggregate format refers to.
    private var aggregates: [UInt16: [UInt16]] = [:]

    init(_ definition: ServiceDefinition, includedServices: [Attribute]) {
        let type = definition.isPrimary ? GATTUUID.primaryService : GATTUUID.secondaryService
        append(type, .readable, .fixed(PacketBuffer(definition.uuid.attributeForm.littleEndianBytes)))
        for service in includedServices { append(includeOf: service) }
        for characteristic in definition.characteristics { append(characteristic) }
        attributes[0].groupEnd = UInt16(clamping: attributes.count - 1)
    }

    /// Returns the attributes and their handles with the service's declaration at `start`. All handles have to fit into
    /// 16 bits.
    func place(at start: UInt16) -> ([Attribute], PublishedService) {
        let placed = attributes.map { attribute in
            var attribute = attribute
            attribute.handle += start
            attribute.groupEnd += start
            if case .configuration(let value, let rule) = attribute.source {
                attribute.source = .configuration(of: value + start, rule)
            }
            if attribute.type == GATTUUID.characteristic, case .fixed(let value) = attribute.source {
                attribute.source = .fixed(Self.shiftDeclaration(value, to: attribute.handle + 1))
            }
            if attribute.type == GATTUUID.aggregateFormat, let formats = aggregates[attribute.handle - start] {
                attribute.source = .fixed(Self.handleList(formats.map { $0 + start }))
            }
            return attribute
        }
        let published = characteristics.map {
            PublishedCharacteristic(
                value: $0.value + start,
                configuration: $0.configuration.map { $0 + start },
                descriptors: $0.descriptors.map { $0 + start }
            )
        }
        let end = start + UInt16(clamping: attributes.count - 1)
        return (placed, PublishedService(handles: start...end, characteristics: published))
    }

    /// Appends an include declaration, which contains the UUID only if that has 16 bits (Vol 3 Part G 3.2).
    private mutating func append(includeOf service: Attribute) {
        var value = PacketBuffer(headroom: 0, capacity: 6)
        value.append(integer: service.handle)
        value.append(integer: service.groupEnd)
        if case .fixed(let uuid) = service.source, uuid.count == 2 { value.append(contentsOf: uuid) }
        append(GATTUUID.include, .readable, .fixed(value))
    }

    private mutating func append(_ definition: CharacteristicDefinition) {
        var properties = definition.properties
        let extended = definition.allExtendedProperties
        if !extended.isEmpty { properties.insert(.extendedProperties) }
        var declaration = PacketBuffer(headroom: 0, capacity: 19)
        declaration.append(properties.rawValue)
        declaration.append(integer: UInt16(0))
        declaration.append(contentsOf: definition.uuid.attributeForm.littleEndianBytes)
        append(GATTUUID.characteristic, .readable, .fixed(declaration))
        let value = append(definition.uuid, definition.permissions, Attribute.Source(definition.source))
        attributes[Int(value)].takesSignedWrites = definition.properties.contains(.authenticatedSignedWrites)
        if definition.uuid == GATTUUID.clientSupportedFeatures { attributes[Int(value)].source = .clientFeatures }
        if definition.uuid == GATTUUID.databaseHash { attributes[Int(value)].source = .databaseHash }

        if !extended.isEmpty {
            append(GATTUUID.extendedProperties, .readable, .fixed(Self.handleList([extended.rawValue])))
        }
        let descriptors = definition.descriptors.map {
            append($0.uuid, $0.permissions, Attribute.Source($0.source))
        }
        appendAggregate(of: descriptors.filter { attributes[Int($0)].type == GATTUUID.presentationFormat })
        let configuration = appendConfiguration(of: value, definition)
        characteristics.append(
            PublishedCharacteristic(value: value, configuration: configuration, descriptors: descriptors)
        )
    }

    /// Appends the Aggregate Format descriptor, which several presentation formats require (Vol 3 Part G 3.3.3.6).
    private mutating func appendAggregate(of formats: [UInt16]) {
        guard formats.count > 1 else { return }
        let handle = append(GATTUUID.aggregateFormat, .readable, .fixed(Self.handleList(formats)))
        aggregates[handle] = formats
    }

    private static func handleList(_ handles: [UInt16]) -> PacketBuffer {
        var value = PacketBuffer(headroom: 0, capacity: 2 * handles.count)
        for handle in handles { value.append(integer: handle) }
        return value
    }

    private mutating func appendConfiguration(of value: UInt16, _ definition: CharacteristicDefinition) -> UInt16? {
        var choices: ClientConfiguration = []
        if definition.properties.contains(.notify) { choices.insert(.notify) }
        if definition.properties.contains(.indicate) { choices.insert(.indicate) }
        guard !choices.isEmpty else { return nil }
        let rule = SubscriptionRule(
            choices: choices,
            notification: definition.notification,
            indication: definition.indication
        )
        // Reading it never requires security (Vol 3 Part G 3.3.3.3). The requirement for writing depends on the value
        // written.
        let permissions = AttributePermissions(read: SecurityLevel.none, write: rule.least)
        return append(GATTUUID.clientConfiguration, permissions, .configuration(of: value, rule))
    }

    @discardableResult
    private mutating func append(
        _ type: BluetoothUUID,
        _ permissions: AttributePermissions,
        _ source: Attribute.Source
    ) -> UInt16 {
        let handle = UInt16(clamping: attributes.count)
        attributes.append(
            Attribute(handle: handle, type: type, permissions: permissions, source: source, groupEnd: handle)
        )
        return handle
    }

    private static func shiftDeclaration(_ declaration: PacketBuffer, to value: UInt16) -> PacketBuffer {
        var shifted = declaration
        shifted[1] = UInt8(truncatingIfNeeded: value)
        shifted[2] = UInt8(value >> 8)
        return shifted
    }
}

extension CharacteristicDefinition {
    /// The extended properties, including those that follow from the descriptors (Core Vol 3 Part G 3.3.3.2).
    fileprivate var allExtendedProperties: ExtendedProperties {
        let isWritable = descriptors.contains { $0.uuid == GATTUUID.userDescription && $0.permissions.write != nil }
        return isWritable ? extendedProperties.union(.writableAuxiliaries) : extendedProperties
    }
}

extension Attribute.Source {
    init(_ source: AttributeSource) {
        switch source {
        case .fixed(let value): self = .fixed(value)
        case .asked: self = .asked
        }
    }
}
