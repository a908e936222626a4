import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Logging

@testable import LinkLayer

/// A device with this package's own host on a virtual controller.
final class HostedDevice {
    let host: HCIHost
    let controller: VirtualController
    private(set) var connections: [HCIConnection] = []
    private let world: LinkLayerWorld
    private let ends: (host: InMemoryTransport, controller: InMemoryTransport)

    init(_ world: LinkLayerWorld, number: UInt64, configuration: HCIHost.Configuration = .init()) {
        self.world = world
        ends = InMemoryTransport.pair(loop: world.loop)
        host = HCIHost(
            transport: ends.host,
            loop: world.loop,
            stackEvents: .log(Logger(label: "test")),
            configuration: configuration
        )
        controller = VirtualController(
            transport: ends.controller,
            node: world.radio.add(),
            loop: world.loop,
            random: world.random.split(number),
            configuration: .init(publicAddress: BluetoothAddress(number, kind: .publicDevice))
        )
        host.onConnection = { [unowned self] in connections.append($0) }
        host.start()
    }

    /// Brings both devices up and connects to the peer, which advertises.
    func connect(to peer: HostedDevice) {
        world.run(.seconds(1))
        peer.host.send(LESetAdvertisingParameters.sending(.connectableScannable))
        peer.host.send(LESetAdvertisingEnable(isEnabled: true))
        host.send(LECreateConnection.scanning(for: peer.controller.configuration.publicAddress, interval: 12))
        world.run(.seconds(1))
    }
}
