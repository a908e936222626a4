import BluetoothTypes

/// A service of a peer's database.
package struct DiscoveredService: Hashable, Sendable {
    /// The handles from the declaration through the last attribute.
    package var handles: ClosedRange<UInt16>
    package var uuid: BluetoothUUID

    package init(handles: ClosedRange<UInt16>, uuid: BluetoothUUID) { (self.handles, self.uuid) = (handles, uuid) }

    /// The handles of those of `others` that begin inside of this service.
    func holes(among others: [DiscoveredService]) -> [ClosedRange<UInt16>] {
        others.map(\.handles).filter { $0.lowerBound > handles.lowerBound && handles.contains($0.lowerBound) }
    }
}

/// A characteristic of a peer's database.
package struct DiscoveredCharacteristic: Hashable, Sendable {
    package var declaration: UInt16
    package var value: UInt16
    /// The last handle of the characteristic.
    package var end: UInt16
    package var properties: CharacteristicProperties
    package var uuid: BluetoothUUID

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

    /// The handles of the descriptors; nil if the characteristic has no handles for any.
    package var descriptors: ClosedRange<UInt16>? {
        value < end ? (value + 1)...end : nil
    }
}

/// A descriptor of a peer's database.
package struct DiscoveredDescriptor: Hashable, Sendable {
    package var handle: UInt16
    package var uuid: BluetoothUUID

    package init(handle: UInt16, uuid: BluetoothUUID) { (self.handle, self.uuid) = (handle, uuid) }
}

/// A value found by its type.
package struct RemoteValue: Hashable, Sendable {
    package var handle: UInt16
    /// The value, or its first part.
    package var value: PacketBuffer

    package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }
}
