import BluetoothTypes
import EventLoops
import GAP
import GATT
import HCI
import L2CAP

@testable import BluetoothService

/// A device that is no system with apps: it has the services that a test gives it and no others, and advertises as it is told.
final class Accessory {
    static let service: BluetoothUUID = 0xFFE0
    static let value: BluetoothUUID = 0xFFE1

    let access: GenericAccess
    let database = GATTDatabase()
    /// What it counts for each request that it got, by opcode.
    private(set) var links: [AccessLink] = []
    private let server: GATTServer
    private let peripheral: Peripheral

    /// - Parameter tellsOfChanges: Whether it has Service Changed.
    init(on air: RadioWorld, name: String = "Accessory", tellsOfChanges: Bool) throws {
        access = air.bareDevice()
        server = GATTServer(database: database)
        peripheral = Peripheral(access)
        _ = try database.add(.genericAccess(deviceName: name, appearance: 0))
        if tellsOfChanges { _ = try database.add(.genericAttribute()) }
        access.onLink = { [unowned self] link in
            links.append(link)
            _ = link.openAttributes(mtu: 185, server: server)
        }
    }

    /// Publishes a service with one value that never changes.
    @discardableResult
    func publish(
        _ uuid: BluetoothUUID = Accessory.service,
        value: PacketBuffer = [7]
    ) throws -> PublishedService {
        let characteristic = CharacteristicDefinition(
            Self.value,
            properties: .read,
            permissions: .readable,
            source: .fixed(value)
        )
        return try database.add(ServiceDefinition(uuid, characteristics: [characteristic]))
    }

    /// Can be found and connected to until somebody connects.
    func advertise(
        services: [BluetoothUUID] = [Accessory.service],
        packets: GAP.Advertisement.Packets = .legacy,
        tempo: AdvertisingTempo = .specification
    ) {
        let data = AdvertisingData([.services(services, width: .bits16, isComplete: true)])
        var mode = Peripheral.Mode(.general, .undirected, data: data)
        (mode.packets, mode.tempo) = (packets, tempo)
        peripheral.enter(mode)
    }
}
