import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import HCIHost
import Testing

@testable import GAP
@testable import Security

/// The commands sent to a controller with extended advertising, and how refusals are handled.
@Suite struct ExtendedCommandTests {
    private static let own = BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice)

    /// The machines that advertise, scan and connect, on a host with a scripted controller.
    private struct HostMachines {
        let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
        let advertiser: HostAdvertiser
        let scanner: HostScanner
        let connector: Connector

        init() throws {
            bench.controller.advertisingSets = 2
            advertiser = HostAdvertiser(host: bench.host, loop: bench.loop, stackEvents: bench.stackEvents)
            scanner = HostScanner(host: bench.host, loop: bench.loop, stackEvents: bench.stackEvents)
            connector = Connector(host: bench.host, loop: bench.loop, stackEvents: bench.stackEvents)
            let made = connector
            bench.host.onConnectionFailed = { made.ended($0) }
            bench.host.onConnection = { made.connected($0.peerAddress) }
            bench.up()
            let information = try #require(bench.information)
            advertiser.begin(OwnAddress(ExtendedCommandTests.own), on: information)
            scanner.begin(OwnAddress(ExtendedCommandTests.own), on: information)
            connector.begin(OwnAddress(ExtendedCommandTests.own), on: information)
        }
    }

    private func long(_ count: Int) -> AdvertisingData {
        AdvertisingData(
            (0..<count).map { _ in
                .manufacturerData(.apple, PacketBuffer([UInt8](repeating: 7, count: 200)))
            }
        )
    }

    @Test("a controller's duplicate filter is never enabled, since some also drop new reports (quirk 11)")
    func duplicatesAreNeverLeftOut() {
        for generation in [CommandGeneration.legacy, .extended] {
            let commands = ScanCommands(generation: generation, settings: .attentive, ownAddress: OwnAddress(.none))
            let filters = (commands.start + commands.stop).compactMap { command in
                (command as? LESetScanEnable)?.filterDuplicates
                    ?? (command as? LESetExtendedScanEnable)?.filterDuplicates
            }
            #expect(filters == [.disabled, .disabled])
        }
    }

    @Test func aLegacyAdvertisementGoesOutInLegacyPackets() throws {
        let machines = try HostMachines()
        let set = machines.advertiser.addSet()
        let data = AdvertisingData([.flags([.generalDiscoverable]), .localName(AdvertisingData.LocalName("Phone"))])
        let response = AdvertisingData([.services([0x180D], width: .bits16, isComplete: true)])
        set.want(AdvertisingConfiguration(.connectable, data: data, scanResponse: response))
        machines.bench.run()
        #expect(
            machines.bench.transport.commandNames == [
                "LE Set Extended Advertising Parameters [v1]", "LE Set Advertising Set Random Address",
                // Some controllers use the new address only from this command on (quirk 15).
                "LE Set Extended Advertising Parameters [v1]", "LE Set Extended Advertising Data",
                "LE Set Extended Scan Response Data",
                "LE Set Extended Advertising Enable",
            ]
        )
        let parameters = try #require(machines.bench.transport.commands.first as? LESetExtendedAdvertisingParameters)
        #expect(parameters.properties == [.legacy, .connectable, .scannable])
        #expect(parameters.intervalMin == 48)
        let sent = try #require(machines.bench.transport.commands[3] as? LESetExtendedAdvertisingData)
        #expect(sent.operation == .complete)
        #expect(sent.data == data.encoded)
        machines.bench.transport.forgetCommands()
        set.want(nil)
        machines.bench.run()
        #expect(
            machines.bench.transport.commandNames == [
                "LE Set Extended Advertising Enable", "LE Remove Advertising Set",
            ]
        )
    }

    @Test func longDataGoOutInParts() throws {
        let machines = try HostMachines()
        let set = machines.advertiser.addSet()
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: long(4))
        advertisement.packets = .extended(.init())
        set.want(advertisement)
        machines.bench.run()
        let parts = machines.bench.transport.commands.compactMap { $0 as? LESetExtendedAdvertisingData }
        #expect(parts.map(\.operation) == [.first, .intermediate, .intermediate, .last])
        #expect(parts.flatMap { Array($0.data) } == advertisement.data.encoded.bytes)
        #expect(AdvertisingCommands.fragments([]).map(\.0) == [.complete])
    }

    @Test func aSetThatTheControllerEndsBeginsAgainOrIsOver() throws {
        let machines = try HostMachines()
        let set = machines.advertiser.addSet()
        var ends: [AdvertisingEnd] = []
        set.onEnded = { ends.append($0) }
        var lasting = AdvertisingConfiguration(.connectable)
        lasting.outlastsConnections = true
        set.want(lasting)
        machines.bench.run()
        machines.bench.transport.forgetCommands()
        let handle = ConnectionHandle(rawValue: 1)
        machines.bench.inject(LEAdvertisingSetTerminated(set: 0, handle: handle, completedEvents: 0))
        machines.bench.run()
        #expect(machines.bench.transport.commandNames.last == "LE Set Extended Advertising Enable")
        #expect(ends.isEmpty)
        set.want(AdvertisingConfiguration(.connectable))
        machines.bench.run()
        machines.bench.inject(LEAdvertisingSetTerminated(set: 9, handle: handle, completedEvents: 0))
        #expect(ends.isEmpty)
        machines.bench.inject(LEAdvertisingSetTerminated(set: 0, handle: handle, completedEvents: 0))
        #expect(ends == [.connected])
        #expect(set.wanted == nil)
        set.want(AdvertisingConfiguration(.connectable))
        machines.bench.run()
        machines.bench.inject(
            LEAdvertisingSetTerminated(status: .advertisingTimeout, set: 0, handle: handle, completedEvents: 0)
        )
        #expect(ends == [.connected, .timeOver])
    }

    @Test(arguments: [
        LESetExtendedAdvertisingParameters.opcode, LESetAdvertisingSetRandomAddress.opcode,
        LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode,
        LESetExtendedAdvertisingEnable.opcode,
    ])
    func aRefusalOfAnyCommandOfAdvertisingIsToldWithWhatToDo(opcode: Opcode) throws {
        let machines = try HostMachines()
        machines.bench.controller.refuses[opcode] = .invalidParameters
        let set = machines.advertiser.addSet()
        var failure: GAPError?
        set.onFailed = { failure = $0 }
        set.want(AdvertisingConfiguration(.connectable))
        machines.bench.run()
        #expect(failure == .refused(opcode, .invalidParameters))
        #expect(failure?.description.contains("out of range") == true)
        // The next advertisement may succeed.
        machines.bench.controller.refuses = [:]
        failure = nil
        var isStarted = false
        set.onStarted = { isStarted = true }
        set.want(AdvertisingConfiguration(.connectable))
        machines.bench.run()
        #expect(isStarted)
        #expect(failure == nil)
    }

    @Test func aControllerWithoutRoomSaysHowManySetsItHas() throws {
        let machines = try HostMachines()
        machines.bench.controller.refuses[LESetExtendedAdvertisingParameters.opcode] = .memoryCapacityExceeded
        let set = machines.advertiser.addSet()
        var failure: GAPError?
        set.onFailed = { failure = $0 }
        set.want(AdvertisingConfiguration(.connectable))
        machines.bench.run()
        #expect(failure == .noAdvertisingSetLeft(maximum: 2))
        machines.bench.controller.refuses = [:]
        let sets = (0..<3).map { _ in machines.advertiser.addSet() }
        for one in sets {
            one.onFailed = { failure = $0 }
            failure = nil
            one.want(AdvertisingConfiguration(.nonConnectable))
            machines.bench.run()
        }
        #expect(failure == .noAdvertisingSetLeft(maximum: 2))
        #expect(Set(sets.map(\.number)).count == 3)
    }

    @Test func aControllerThatIsBusyIsAskedAgain() throws {
        let machines = try HostMachines()
        machines.bench.controller.refuses[LESetExtendedAdvertisingEnable.opcode] = .connectionLimitExceeded
        machines.bench.controller.refuses[LESetExtendedScanEnable.opcode] = .commandDisallowed
        let set = machines.advertiser.addSet()
        set.want(AdvertisingConfiguration(.connectable))
        machines.scanner.want(.attentive)
        machines.bench.run()
        machines.bench.controller.refuses = [:]
        machines.bench.transport.forgetCommands()
        machines.bench.run(.seconds(2))
        #expect(machines.bench.transport.commandNames.contains("LE Set Extended Advertising Enable"))
        #expect(machines.bench.transport.commandNames.contains("LE Set Extended Scan Enable"))
        #expect(set.wanted != nil)
        #expect(machines.scanner.wanted == .attentive)
    }

    @Test func aScanOnBothPHYsIsOneCommand() throws {
        let machines = try HostMachines()
        var settings = ScanSettings(isActive: false)
        settings.phys = [.le1M, .coded]
        machines.scanner.want(settings)
        machines.bench.run(.seconds(20))
        let parameters = try #require(machines.bench.transport.commands.first as? LESetExtendedScanParameters)
        #expect(parameters.le1M?.kind == .passive)
        #expect(parameters.coded?.scanInterval == 96)
        let enable = try #require(machines.bench.transport.commands.last as? LESetExtendedScanEnable)
        #expect(enable.duration == 0)
        #expect(enable.isEnabled)
    }

    @Test(arguments: [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode])
    func aRefusalOfAScanIsTold(opcode: Opcode) throws {
        let machines = try HostMachines()
        machines.bench.controller.refuses[opcode] = .unsupportedFeatureOrParameter
        var failure: GAPError?
        machines.scanner.onFailed = { failure = $0 }
        machines.scanner.want(.attentive)
        machines.bench.run()
        #expect(failure == .refused(opcode, .unsupportedFeatureOrParameter))
        #expect(machines.scanner.wanted == nil)
    }

    @Test func aConnectionIsAskedForOnThePHYsThatThereAre() throws {
        let machines = try HostMachines()
        let peer = BluetoothAddress(5, kind: .publicDevice)
        machines.connector.want(peer)
        machines.bench.run()
        let command = try #require(machines.bench.transport.commands.last as? LEExtendedCreateConnection)
        #expect(command.peerAddress == peer)
        #expect(command.filterPolicy == .peerAddress)
        #expect(command.le1M?.intervalMin == 24)
        #expect(command.le1M?.supervisionTimeout == 400)
        #expect(command.le2M == command.le1M)
        #expect(command.coded == nil)
    }

    @Test func aListThatTheControllerRefusesIsTold() throws {
        let machines = try HostMachines()
        machines.bench.controller.refuses[LEAddDeviceToFilterAcceptList.opcode] = .memoryCapacityExceeded
        var failures: [BluetoothAddress] = []
        machines.connector.onFailure = { peer, _ in failures.append(peer) }
        let peers = (1...2).map { BluetoothAddress($0, kind: .publicDevice) }
        for peer in peers { machines.connector.want(peer) }
        machines.bench.run()
        // The first attempt is cancelled so that the list can be used.
        machines.bench.inject(LEEnhancedConnectionComplete(failure: .unknownConnection))
        machines.bench.run()
        #expect(Set(failures) == Set(peers))
        #expect(machines.connector.wanted.isEmpty)
    }
}

extension LEEnhancedConnectionComplete {
    fileprivate init(failure status: HCIStatus) {
        self.init()
        self.status = status
    }
}
