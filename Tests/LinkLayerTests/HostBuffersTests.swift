import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Logging
import Radio
import Testing

@testable import LinkLayer

/// A device with this package's own host, which has few buffers, on a virtual controller.
private final class SmallDevice {
    let host: HCIHost
    let controller: VirtualController
    var link: HCIConnection?
    private let halves: (Half, Half)

    init(_ world: World, number: UInt64, buffers: HostBuffers?) {
        let (near, far) = (Half(loop: world.loop), Half(loop: world.loop))
        (near.other, far.other) = (far, near)
        halves = (near, far)
        var configuration = HCIHost.Configuration()
        configuration.hostBuffers = buffers
        host = HCIHost(
            transport: near,
            loop: world.loop,
            happenings: .log(Logger(label: "test")),
            configuration: configuration
        )
        controller = VirtualController(
            transport: far,
            node: world.radio.add(),
            loop: world.loop,
            random: world.random.split(number),
            configuration: .init(publicAddress: BluetoothAddress(number, kind: .publicDevice))
        )
        host.onConnection = { [unowned self] in link = $0 }
        host.start()
    }
}

/// Controller-to-host flow control with both halves of HCI in this package.
@Suite struct HostBuffersTests {
    private func connect(_ world: World, _ central: SmallDevice, _ peripheral: SmallDevice) {
        world.run(.seconds(1))
        peripheral.host.send(
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
        peripheral.host.send(LESetAdvertisingEnable(isEnabled: true))
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
        )
        world.run(.seconds(1))
    }

    private func pdu(_ number: UInt8) -> PacketBuffer { PacketBuffer(copying: [3, 0, 4, 0, number, 7, 7]) }

    @Test func dataWaitOnTheAirUntilTheHostHasTakenWhatItHas() throws {
        let world = World()
        let central = SmallDevice(world, number: 1, buffers: nil)
        let peripheral = SmallDevice(world, number: 2, buffers: HostBuffers(packetLength: 251, packetCount: 3))
        connect(world, central, peripheral)
        let (there, here) = (try #require(central.link), try #require(peripheral.link))
        for number in 0..<UInt8(10) { there.send(pdu(number)) }
        // The host consumes no data for longer than the supervision timeout: the link stays.
        world.run(.seconds(3))
        #expect(there.isOpen && here.isOpen && central.host.freeBuffers < 16)
        var seen: [UInt8] = []
        here.onReceive = { fragment, _ in seen.append(fragment[4]) }
        #expect(seen == [0, 1, 2])
        world.run(.seconds(1))
        #expect(seen == Array(0..<10))
        #expect(central.host.freeBuffers == 16)
        #expect(peripheral.host.counters == HCICounters())
    }

    @Test func withTheUsualRoomNothingWaits() throws {
        let world = World()
        let central = SmallDevice(world, number: 1, buffers: HostBuffers())
        let peripheral = SmallDevice(world, number: 2, buffers: HostBuffers())
        connect(world, central, peripheral)
        let (there, here) = (try #require(central.link), try #require(peripheral.link))
        var seen: [UInt8] = []
        here.onReceive = { fragment, _ in seen.append(fragment[4]) }
        for number in 0..<UInt8(200) { there.send(pdu(number)) }
        world.run(.seconds(3))
        #expect(seen == Array(0..<200))
        // The disconnection and the last completed-packets report may cross: neither side minds.
        there.send(pdu(1))
        central.host.send(Disconnect(handle: there.handle, reason: .remoteUserTerminated))
        world.run(.seconds(2))
        #expect(!there.isOpen && !here.isOpen)
        #expect(peripheral.host.counters == HCICounters() && central.host.counters == HCICounters())
    }
}
