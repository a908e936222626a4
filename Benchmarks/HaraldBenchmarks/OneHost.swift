import ATT
import BluetoothTypes
import EventLoops
import GATT
import HCI
import HCIHost
import L2CAP
import Logging

/// A complete host, from HCI to GATT, on a ``ScriptedController``: a GATT client and a server on one connection.
final class OneHost {
    static let mtu = 247

    let loop = VirtualEventLoop()
    let controller: ScriptedController
    private(set) var client: GATTClient!
    let server: GATTServer
    let notified: UInt16
    let read: UInt16
    private let host: HCIHost
    private var connection: L2CAPConnection?

    init() throws {
        let logger = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        controller = ScriptedController(loop: loop)
        host = HCIHost(transport: controller, loop: loop, stackEvents: .log(logger))
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
        notified = service.characteristics[0].value
        read = service.characteristics[1].value
        server = GATTServer(database: database)
        host.onConnection = { [unowned self] in connected($0) }
        host.start()
        loop.run(for: .seconds(1))
        controller.connect(.peripheral)
        loop.run(for: .seconds(1))
        // The peer's requests: Exchange MTU, and a write to the descriptor after the value, which subscribes.
        controller.deliver([0x02, UInt8(Self.mtu), 0])
        controller.deliver([0x12, UInt8(notified + 1), 0, 1, 0])
        loop.run(for: .seconds(1))
    }

    private func connected(_ connection: HCIConnection) {
        let l2cap = L2CAPConnection(link: connection, role: .peripheral, loop: loop)
        let bearer = ATTBearer(
            channel: l2cap.register(.attribute, maximumPayload: Self.mtu),
            loop: loop,
            preferredMTU: Self.mtu
        )
        self.connection = l2cap
        client = GATTClient(bearer: bearer)
        _ = server.attach(bearer)
    }
}
