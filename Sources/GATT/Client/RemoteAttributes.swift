import BluetoothTypes

/// A service of a peer.
public struct RemoteService: Hashable, Sendable {
    /// From the declaration to the last attribute.
    public var handles: ClosedRange<UInt16>
    /// The service's UUID.
    public var uuid: BluetoothUUID

    /// A service.
    public init(handles: ClosedRange<UInt16>, uuid: BluetoothUUID) {
        self.handles = handles
        self.uuid = uuid
    }
}

/// A characteristic of a peer.
public struct RemoteCharacteristic: Hashable, Sendable {
    /// The declaration.
    public var declaration: UInt16
    /// The value.
    public var value: UInt16
    /// The last attribute that belongs to the characteristic.
    public var end: UInt16
    /// What may be done with the value.
    public var properties: CharacteristicProperties
    /// The characteristic's UUID.
    public var uuid: BluetoothUUID

    /// A characteristic.
    public init(
        declaration: UInt16,
        value: UInt16,
        end: UInt16,
        properties: CharacteristicProperties,
        uuid: BluetoothUUID
    ) {
        self.declaration = declaration
        self.value = value
        self.end = end
        self.properties = properties
        self.uuid = uuid
    }

    /// Where its descriptors are; nil when there is no room for any.
    public var descriptors: ClosedRange<UInt16>? {
        value < end ? (value + 1)...end : nil
    }
}

/// A descriptor of a peer.
public struct RemoteDescriptor: Hashable, Sendable {
    /// The descriptor.
    public var handle: UInt16
    /// Its UUID.
    public var uuid: BluetoothUUID

    /// A descriptor.
    public init(handle: UInt16, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// A value of a peer that was found by its type.
public struct RemoteValue: Hashable, Sendable {
    /// The attribute.
    public var handle: UInt16
    /// Its value, or the first part.
    public var value: PacketBuffer

    /// A value.
    public init(handle: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }
}
