import BluetoothTypes
import HCI
import HCIHost
import Testing

@testable import LinkLayer

/// Controller-to-host flow control with both halves of HCI in this package.
@Suite struct HostBuffersTests {
    private func device(_ world: LinkLayerWorld, number: UInt64, buffers: HostBuffers?) -> HostedDevice {
        var configuration = HCIHost.Configuration()
        configuration.hostBuffers = buffers
        return HostedDevice(world, number: number, configuration: configuration)
    }

    private func pdu(_ number: UInt8) -> PacketBuffer { PacketBuffer(copying: [3, 0, 4, 0, number, 7, 7]) }

    @Test func dataWaitOnTheAirUntilTheHostHasTakenWhatItHas() throws {
        let world = LinkLayerWorld()
        let central = device(world, number: 1, buffers: nil)
        let peripheral = device(world, number: 2, buffers: HostBuffers(packetLength: 251, packetCount: 3))
        central.connect(to: peripheral)
        let (there, here) = (try #require(central.connections.first), try #require(peripheral.connections.first))
        for number in 0..<UInt8(10) { there.send(pdu(number)) }
        // The host consumes no data for longer than the supervision timeout: the link stays.
        world.run(.seconds(3))
        #expect(there.isOpen)
        #expect(here.isOpen)
        #expect(central.host.freeBuffers < 16)
        var seen: [UInt8] = []
        here.onReceive = { fragment, _ in seen.append(fragment[4]) }
        #expect(seen == [0, 1, 2])
        world.run(.seconds(1))
        #expect(seen == Array(0..<10))
        #expect(central.host.freeBuffers == 16)
        #expect(peripheral.host.counters == HCICounters())
    }

    @Test func withTheUsualRoomNothingWaits() throws {
        let world = LinkLayerWorld()
        let central = device(world, number: 1, buffers: HostBuffers())
        let peripheral = device(world, number: 2, buffers: HostBuffers())
        central.connect(to: peripheral)
        let (there, here) = (try #require(central.connections.first), try #require(peripheral.connections.first))
        var seen: [UInt8] = []
        here.onReceive = { fragment, _ in seen.append(fragment[4]) }
        for number in 0..<UInt8(200) { there.send(pdu(number)) }
        world.run(.seconds(3))
        #expect(seen == Array(0..<200))
        // The disconnection and the last completed-packets report may cross: neither side minds.
        there.send(pdu(1))
        central.host.send(Disconnect(handle: there.handle, reason: .remoteUserTerminated))
        world.run(.seconds(2))
        #expect(!there.isOpen)
        #expect(!here.isOpen)
        #expect(peripheral.host.counters == HCICounters())
        #expect(central.host.counters == HCICounters())
    }
}
