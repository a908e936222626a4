import AccessStandIns
import BluetoothTypes
import GAP
import GATT
import Security

/// A peripheral without apps: it has only the services that a test adds, and advertises when the test asks.
final class TestAccessory {
    static let service: BluetoothUUID = 0xFFE0
    static let value: BluetoothUUID = 0xFFE1

    let access: GenericAccess
    let database = GATTDatabase()
    /// The links so far, oldest first.
    private(set) var links: [AccessLink] = []
    private let server: GATTServer
    private let peripheral: Peripheral

    /// - Parameters:
    ///   - tellsOfChanges: Whether the database has the Service Changed characteristic.
    ///   - hasHash: Whether the database has a Database Hash besides.
    ///   - bonds: Makes bonds with peers that pair. Without it pairing leaves none.
    init(
        on air: RadioWorld,
        name: String = "Accessory",
        tellsOfChanges: Bool,
        hasHash: Bool = true,
        bonds: BondStore? = nil
    ) throws {
        access = air.bareDevice(bonds: bonds)
        server = GATTServer(database: database)
        peripheral = Peripheral(access)
        _ = try database.add(.genericAccess(deviceName: name, appearance: 0))
        var changes = ServiceDefinition.genericAttribute()
        if !hasHash { changes.characteristics.removeAll { $0.uuid == GATTUUID.databaseHash } }
        if tellsOfChanges { _ = try database.add(changes) }
        access.onLink = { [unowned self] link in
            links.append(link)
            _ = link.openAttributes(mtu: 185, server: server)
        }
    }

    /// Publishes a service with one fixed value.
    @discardableResult
    func publish(
        _ uuid: BluetoothUUID = TestAccessory.service,
        _ type: BluetoothUUID = TestAccessory.value,
        value: PacketBuffer = [7]
    ) throws -> PublishedService {
        let characteristic = CharacteristicDefinition(
            type,
            properties: .read,
            permissions: .readable,
            source: .fixed(value)
        )
        return try database.add(ServiceDefinition(uuid, characteristics: [characteristic]))
    }

    /// Advertises as connectable and discoverable until a central connects.
    func advertise(
        services: [BluetoothUUID] = [TestAccessory.service],
        packets: AdvertisingConfiguration.Packets = .legacy,
        tempo: AdvertisingTempo = .specification
    ) {
        let data = AdvertisingData([.services(services, width: .bits16, isComplete: true)])
        var mode = Peripheral.Mode(.general, .undirected, data: data)
        (mode.packets, mode.tempo) = (packets, tempo)
        peripheral.enter(mode)
    }
}
