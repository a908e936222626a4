import BluetoothTypes
import GATT

/// A peer's attributes with their values, as the host stack reads them.
struct AttributeTable {
    typealias Value = AttributeListing.Value

    struct Service {
        var service: DiscoveredService
        var isPrimary: Bool
        var includes: [DiscoveredService] = []
        var characteristics: [Characteristic] = []

        /// Whether this is the service that begins where `other` does.
        func begins(with other: DiscoveredService) -> Bool { service.handles.lowerBound == other.handles.lowerBound }
    }

    struct Characteristic {
        var characteristic: DiscoveredCharacteristic
        var value = Value.notReadable
        var descriptors: [Descriptor] = []
    }

    struct Descriptor {
        var descriptor: DiscoveredDescriptor
        var value = Value.notReadable
    }

    var services: [Service] = []
    /// The flaws of the table, as clauses.
    var flaws: [String] = []

    /// The characteristic to follow by default: the heart rate if there is one, else the first that notifies or
    /// indicates outside the Generic Attribute service.
    var followed: DiscoveredCharacteristic? {
        followable.first { $0.uuid == 0x2A37 } ?? followable.first
    }

    /// The characteristics that notify or indicate, except those of the Generic Attribute service.
    private var followable: [DiscoveredCharacteristic] {
        services.filter { $0.service.uuid != GATTUUID.genericAttribute }
            .flatMap(\.characteristics).map(\.characteristic)
            .filter(\.canNotify)
    }

    /// Returns the first characteristic with this UUID.
    func characteristic(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
        services.flatMap(\.characteristics).map(\.characteristic).first { $0.uuid == uuid }
    }

    /// Returns the characteristic to follow that the user has named: the first that notifies or indicates, or else the
    /// first.
    func toFollow(_ selector: CharacteristicSelector, of name: String) throws(ToolError) -> DiscoveredCharacteristic? {
        let chosen = try listing().choose(selector, of: name) { $0.canNotify }
        return services.flatMap(\.characteristics).map(\.characteristic).first { $0.value == chosen.handle }
    }

    /// The table for display.
    func listing(of device: DeviceDocument = DeviceDocument(), raw: Bool = false) -> AttributeListing {
        AttributeListing(device: device, services: services.map(\.listing), flaws: flaws, isRaw: raw)
    }
}

extension AttributeTable.Service {
    fileprivate var listing: AttributeListing.Service {
        AttributeListing.Service(
            uuid: service.uuid,
            handle: service.handles.lowerBound,
            isPrimary: isPrimary,
            includes: includes.map { .init(uuid: $0.uuid, handle: $0.handles.lowerBound) },
            characteristics: characteristics.map(\.listing)
        )
    }
}

extension AttributeTable.Characteristic {
    fileprivate var listing: AttributeListing.Characteristic {
        AttributeListing.Characteristic(
            uuid: characteristic.uuid,
            handle: characteristic.value,
            properties: characteristic.properties.rawValue,
            value: value,
            descriptors: descriptors.map {
                .init(uuid: $0.descriptor.uuid, handle: $0.descriptor.handle, value: $0.value)
            }
        )
    }
}

extension DiscoveredCharacteristic {
    /// Whether the peer sends the value as notification or indication.
    var canNotify: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
}
