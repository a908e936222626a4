import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Logging
import Radio
import Testing

@testable import LinkLayer

/// One end of an in-memory HCI transport: packets that enter here arrive at the other end shortly after.
final class Half: HCITransport {
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
private final class Device {
    let host: HCIHost
    let controller: VirtualController
    var connections: [HCIConnection] = []
    var received: [[UInt8]] = []
    private let halves: (Half, Half)

    init(_ world: World, number: UInt64) {
        let (near, far) = (Half(loop: world.loop), Half(loop: world.loop))
        (near.other, far.other) = (far, near)
        halves = (near, far)
        host = HCIHost(transport: near, loop: world.loop, happenings: .log(Logger(label: "test")))
        controller = VirtualController(
            transport: far,
            node: world.radio.add(),
            loop: world.loop,
            random: world.random.split(number),
            configuration: .init(publicAddress: BluetoothAddress(number, kind: .publicDevice))
        )
        host.onConnection = { [unowned self] connection in
            connections.append(connection)
            connection.onReceive = { [unowned self] fragment, isStart in
                if isStart { received.append([]) }
                received[received.count - 1] += fragment
            }
        }
        host.start()
    }
}

/// The host and the controller of this package, against each other.
@Suite struct HostTests {
    @Test func theHostBringsTheControllerUp() throws {
        let world = World()
        let device = Device(world, number: 7)
        world.run(.seconds(1))
        guard case .ready(let information) = device.host.state else {
            Issue.record("\(device.host.state)")
            return
        }
        #expect(information.publicAddress == BluetoothAddress(7, kind: .publicDevice))
        #expect((information.aclBufferSize, information.aclBufferCount) == (251, 16))
        #expect(information.leFeatures == VirtualController.supportedFeatures)
        #expect(information.acceptListSize == 32)
    }

    @Test func dataGoThroughBothHostsWhole() throws {
        let world = World()
        let (central, peripheral) = (Device(world, number: 1), Device(world, number: 2))
        world.run(.seconds(1))
        let parameters = LESetAdvertisingParameters(
            intervalMin: 0x20,
            intervalMax: 0x20,
            kind: .connectableScannable,
            ownAddressKind: .publicDevice,
            peerAddress: .none,
            channels: .all,
            filterPolicy: .everybody
        )
        peripheral.host.send(parameters) { _ in }
        peripheral.host.send(LESetAdvertisingEnable(isEnabled: true)) { _ in }
        central.host.send(
            LECreateConnection(
                scanInterval: 0x10,
                scanWindow: 0x10,
                filterPolicy: .peerAddress,
                peerAddress: BluetoothAddress(2, kind: .publicDevice),
                ownAddressKind: .publicDevice,
                intervalMin: 12,
                intervalMax: 12,
                maxLatency: 0,
                supervisionTimeout: 100,
                minCELength: 0,
                maxCELength: 0
            )
        ) { _ in }
        world.run(.seconds(1))
        let (there, here) = (try #require(central.connections.first), try #require(peripheral.connections.first))
        #expect(there.role == .central && here.role == .peripheral)
        // L2CAP PDUs longer than the controller's buffers, both ways.
        let random = RandomSource(seed: 3)
        let sent = (0..<50).map { _ -> [UInt8] in
            let length = 4 + Int(random.below(600))
            return [UInt8(truncatingIfNeeded: length - 4), UInt8((length - 4) >> 8), 4, 0] + random.bytes(length - 4)
        }
        for pdu in sent {
            there.send(PacketBuffer(copying: pdu))
            here.send(PacketBuffer(copying: pdu))
        }
        world.run(.seconds(10))
        #expect(peripheral.received == sent)
        #expect(central.received == sent)
        #expect(there.queuedPDUs == 0 && here.queuedPDUs == 0)
        #expect(central.host.freeBuffers == 16)
    }
}
