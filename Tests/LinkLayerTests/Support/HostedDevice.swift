import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Logging
import Radio

@testable import LinkLayer

/// One end of an in-memory HCI transport: packets that enter here arrive at the other end shortly after.
private final class Half: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    weak var other: Half?
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func send(_ packet: HCIPacket) {
        loop.execute { [weak self] in self?.other?.onReceive?(packet) }
    }

    func close() {}
}

/// A device with this package's own host on a virtual controller.
final class HostedDevice {
    let host: HCIHost
    let controller: VirtualController
    private(set) var connections: [HCIConnection] = []
    private let world: LinkLayerWorld
    private let halves: (Half, Half)

    init(_ world: LinkLayerWorld, number: UInt64, configuration: HCIHost.Configuration = .init()) {
        self.world = world
        let (near, far) = (Half(loop: world.loop), Half(loop: world.loop))
        (near.other, far.other) = (far, near)
        halves = (near, far)
        host = HCIHost(
            transport: near,
            loop: world.loop,
            stackEvents: .log(Logger(label: "test")),
            configuration: configuration
        )
        controller = VirtualController(
            transport: far,
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
        peer.host.send(
            LESetAdvertisingParameters(
                intervalMin: 0x20,
                intervalMax: 0x20,
                kind: .connectableScannable,
                ownAddressKind: .publicDevice,
                peerAddress: .none,
                channels: .all,
                filterPolicy: .everybody
            )
        )
        peer.host.send(LESetAdvertisingEnable(isEnabled: true))
        host.send(
            LECreateConnection(
                scanInterval: 0x10,
                scanWindow: 0x10,
                filterPolicy: .peerAddress,
                peerAddress: peer.controller.configuration.publicAddress,
                ownAddressKind: .publicDevice,
                intervalMin: 12,
                intervalMax: 12,
                maxLatency: 0,
                supervisionTimeout: 100,
                minCELength: 0,
                maxCELength: 0
            )
        )
        world.run(.seconds(1))
    }
}
