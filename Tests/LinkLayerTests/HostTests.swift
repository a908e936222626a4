import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Testing

@testable import LinkLayer

/// The host and the controller of this package, against each other.
@Suite struct HostTests {
    /// The PDUs that a connection delivers, joined from their fragments.
    private final class Received {
        private(set) var pdus: [[UInt8]] = []

        init(_ connection: HCIConnection) {
            connection.onReceive = { [unowned self] fragment, isStart in
                if isStart { pdus.append([]) }
                pdus[pdus.count - 1] += fragment
            }
        }
    }

    @Test func theHostBringsTheControllerUp() throws {
        let world = LinkLayerWorld()
        let device = HostedDevice(world, number: 7)
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
        let world = LinkLayerWorld()
        let (central, peripheral) = (HostedDevice(world, number: 1), HostedDevice(world, number: 2))
        central.connect(to: peripheral)
        let (there, here) = (try #require(central.connections.first), try #require(peripheral.connections.first))
        #expect(there.role == .central)
        #expect(here.role == .peripheral)
        let (atCentral, atPeripheral) = (Received(there), Received(here))
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
        #expect(atPeripheral.pdus == sent)
        #expect(atCentral.pdus == sent)
        #expect(there.queuedPDUs == 0)
        #expect(here.queuedPDUs == 0)
        #expect(central.host.freeBuffers == 16)
    }
}
