import ATT
import BluetoothTypes
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import Logging

/// Two complete hosts, with a GATT client on one and a server on the other, connected without air.
final class StackPair {
    static let mtu = 247

    let loop = VirtualEventLoop()
    private(set) var client: GATTClient!
    let server: GATTServer
    private(set) var bearers: [ATTBearer] = []
    let notified: UInt16
    let read: UInt16
    private let controllers: DirectControllers
    private let hosts: [HCIHost]
    private var connections: [L2CAPConnection] = []

    /// - Parameter services: The number of further services, with a characteristic each.
    init(services: Int = 0) throws {
        controllers = DirectControllers(loop: loop)
        hosts = controllers.hosts.map { [loop] in
            let logger = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
            return HCIHost(transport: $0, loop: loop, stackEvents: .log(logger))
        }
        let database = GATTDatabase()
        let service = try database.add(
            ServiceDefinition(
                0x180D,
                characteristics: [
                    CharacteristicDefinition(0x2A37, properties: .notify, permissions: AttributePermissions()),
                    CharacteristicDefinition(
                        0x2A38,
                        properties: .read,
                        permissions: .readable,
                        source: .fixed(PacketBuffer(Array(repeating: 7, count: 20)))
                    ),
                ]
            )
        )
        for _ in 0..<services {
            let value = CharacteristicDefinition(0x2A38, properties: .read, permissions: .readable)
            _ = try database.add(ServiceDefinition(0x180A, characteristics: [value]))
        }
        notified = service.characteristics[0].value
        read = service.characteristics[1].value
        server = GATTServer(database: database)
        for (index, host) in hosts.enumerated() {
            host.onConnection = { [weak self] in self?.connected($0, index) }
            host.start()
        }
        loop.run(for: .seconds(1))
        controllers.connect()
        loop.run(for: .seconds(1))
        try subscribe()
    }

    private func connected(_ connection: HCIConnection, _ index: Int) {
        let l2cap = L2CAPConnection(link: connection, role: index == 0 ? .central : .peripheral, loop: loop)
        let bearer = ATTBearer(
            channel: l2cap.register(.attribute, maximumPayload: Self.mtu),
            loop: loop,
            preferredMTU: Self.mtu
        )
        connections.append(l2cap)
        bearers.append(bearer)
        if index == 0 { client = GATTClient(bearer: bearer) } else { _ = server.attach(bearer) }
    }

    private func subscribe() throws {
        var failure: GATTError?
        client.exchangeMTU { if case .failure(let error) = $0 { failure = error } }
        let characteristic = DiscoveredCharacteristic(
            declaration: notified - 1,
            value: notified,
            end: notified + 1,
            properties: .notify,
            uuid: 0x2A37
        )
        client.setNotifying(true, characteristic) { if case .failure(let error) = $0 { failure = error } }
        loop.run(for: .seconds(1))
        if let failure { throw failure }
    }
}
