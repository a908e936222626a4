import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import HCIHost
import L2CAP
import Testing

@testable import GAP
@testable import Security

/// Every field of the commands with many fields, octet by octet. A field that a command leaves out is zero, and most
/// controllers accept that.
@Suite struct CommandFieldTests {
    private static let own = OwnAddress(BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice))
    private static let peer = BluetoothAddress(0xC0_1122_3344_55, kind: .randomDevice)
    private static let parameters = ConnectionParameters(
        intervalMinimum: 0x18,
        intervalMaximum: 0x28,
        latency: 3,
        timeout: 0x190
    )

    private var attempt: ConnectionAttempt {
        var settings = ConnectionSettings(parameters: Self.parameters)
        (settings.scanInterval, settings.scanWindow) = (0x60, 0x30)
        return ConnectionAttempt(policy: .acceptList, peer: Self.peer, ownAddress: Self.own, settings: settings)
    }

    private func scan(_ generation: CommandGeneration) -> (any HCICommand)? {
        var settings = ScanSettings(isActive: true, interval: 0x60, window: 0x30)
        settings.phys = [.le1M, .coded]
        return ScanCommands(generation: generation, settings: settings, ownAddress: Self.own).start.first
    }

    private func advertising(_ generation: CommandGeneration) -> (any HCICommand)? {
        var advertisement = AdvertisingConfiguration(.scannable)
        advertisement.tempo = AdvertisingTempo(fast: 0x30...0x60)
        if generation == .extended {
            var packets = AdvertisingConfiguration.ExtendedPackets()
            (packets.primaryPHY, packets.secondaryPHY) = (.coded, .le2M)
            advertisement.packets = .extended(packets)
        }
        let commands = AdvertisingCommands(
            generation: generation,
            version: .v5_0,
            set: 1,
            advertisement: advertisement,
            phase: .fast,
            address: Self.own
        )
        return commands.start.first
    }

    @Test func createConnectionHasEveryField() {
        #expect(
            attempt.legacyCommand.encoded() == [
                0x60, 0x00, 0x30, 0x00, 0x01, 0x01, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 0x01, 0x18, 0x00, 0x28, 0x00,
                0x03, 0x00, 0x90, 0x01, 0x00, 0x00, 0x00, 0x00,
            ]
        )
    }

    @Test func extendedCreateConnectionHasEveryField() {
        let phy: [UInt8] = [
            0x60, 0x00, 0x30, 0x00, 0x18, 0x00, 0x28, 0x00, 0x03, 0x00, 0x90, 0x01, 0x00, 0x00, 0x00, 0x00,
        ]
        let common: [UInt8] = [0x01, 0x01, 0x01, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0]
        for (phys, mask) in [(LEPHYs.le1M, 0x01), (.le2M, 0x02), (.coded, 0x04)] as [(LEPHYs, UInt8)] {
            #expect(attempt.extendedCommand(phys).encoded() == PacketBuffer(common + [mask] + phy))
        }
    }

    @Test func scanParametersHaveEveryField() {
        #expect(scan(.legacy)?.encoded() == [0x01, 0x60, 0x00, 0x30, 0x00, 0x01, 0x00])
        #expect(
            scan(.extended)?.encoded() == [
                0x01, 0x00, 0x05, 0x01, 0x60, 0x00, 0x30, 0x00, 0x01, 0x60, 0x00, 0x30, 0x00,
            ]
        )
    }

    @Test func advertisingParametersHaveEveryField() {
        #expect(
            advertising(.legacy)?.encoded() == [
                0x30, 0x00, 0x60, 0x00, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00,
            ]
        )
        #expect(
            advertising(.extended)?.encoded() == [
                0x01, 0x02, 0x00, 0x30, 0x00, 0x00, 0x60, 0x00, 0x00, 0x07, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                0x00, 0x00, 0x7F, 0x03, 0x00, 0x02, 0x01, 0x00,
            ]
        )
    }

    @Test func connectionUpdatesHaveEveryField() throws {
        let bench = HostBench([.connectionParametersRequest])
        let access = GenericAccess(
            host: bench.host,
            loop: bench.loop,
            random: RandomSource(seed: 1),
            stackEvents: bench.stackEvents
        )
        bench.up()
        guard case .ready = access.state else { Issue.record("the device is not ready"); return }
        let link = try #require(bench.connect(0x0040))
        let wire: PacketBuffer = [
            0x40, 0x00, 0x18, 0x00, 0x28, 0x00, 0x03, 0x00, 0x90, 0x01, 0x00, 0x00, 0x00, 0x00,
        ]
        LinkCommands(connection: link, host: bench.host, loop: bench.loop, stackEvents: bench.stackEvents)
            .update(Self.parameters)
        bench.run()
        let update = try #require(bench.transport.commands.last as? LEConnectionUpdate)
        #expect(update.encoded() == wire)
        bench.inject(
            LERemoteConnectionParameterRequest {
                $0.handle = link.handle
                $0.intervalMin = 0x18
                $0.intervalMax = 0x28
                $0.maxLatency = 3
                $0.supervisionTimeout = 0x190
            }
        )
        bench.run()
        let reply = try #require(bench.transport.commands.last as? LERemoteConnectionParameterRequestReply)
        #expect(reply.encoded() == wire)
    }
}
