import BluetoothTypes

/// A service of a peer.
package struct RemoteService: Hashable, Sendable {
    /// From the declaration to the last attribute.
    package var handles: ClosedRange<UInt16>
    /// The service's UUID.
    package var uuid: BluetoothUUID

    /// A service.
    package init(handles: ClosedRange<UInt16>, uuid: BluetoothUUID) {
        self.handles = handles
        self.uuid = uuid
    }
}

/// A characteristic of a peer.
package struct RemoteCharacteristic: Hashable, Sendable {
    /// The declaration.
    package var declaration: UInt16
    /// The value.
    package var value: UInt16
    /// The last attribute that belongs to the characteristic.
    package var end: UInt16
    /// What may be done with the value.
    package var properties: CharacteristicProperties
    /// The characteristic's UUID.
    package var uuid: BluetoothUUID

    /// A characteristic.
    package init(
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
    package var descriptors: ClosedRange<UInt16>? {
        value < end ? (value + 1)...end : nil
    }
}

/// A descriptor of a peer.
package struct RemoteDescriptor: Hashable, Sendable {
    /// The descriptor.
    package var handle: UInt16
    /// Its UUID.
    package var uuid: BluetoothUUID

    /// A descriptor.
    package init(handle: UInt16, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// A value of a peer that was found by its type.
package struct RemoteValue: Hashable, Sendable {
    /// The attribute.
    package var handle: UInt16
    /// Its value, or the first part.
    package var value: PacketBuffer

    /// A value.
    package init(handle: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }
}
