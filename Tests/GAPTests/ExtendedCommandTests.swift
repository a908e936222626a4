import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import StackStandIns
import Testing

@testable import GAP
@testable import Privacy

/// The commands sent to a controller with extended advertising, and how refusals are handled.
@Suite struct ExtendedCommandTests {
    private static let own = BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice)

    private struct Bench {
        let peer = ScriptedPeer()
        let advertiser: HostAdvertiser
        let scanner: HostScanner
        let connector: Connector

        init() throws {
            advertiser = HostAdvertiser(
                host: peer.host,
                loop: peer.loop,
                random: RandomSource(seed: 1),
                happenings: peer.happenings
            )
            scanner = HostScanner(host: peer.host, loop: peer.loop, happenings: peer.happenings)
            connector = Connector(host: peer.host, loop: peer.loop, happenings: peer.happenings)
            let made = connector
            peer.host.onConnectionFailed = { made.ended($0) }
            peer.host.onConnection = { made.connected($0.peerAddress) }
            peer.up()
            let information = try #require(peer.information)
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
        let bench = try Bench()
        let set = bench.advertiser.addSet()
        let data = AdvertisingData([.flags([.generalDiscoverable]), .localName(AdvertisingData.LocalName("Phone"))])
        let response = AdvertisingData([.services([0x180D], width: .bits16, isComplete: true)])
        set.want(AdvertisingConfiguration(.connectable, data: data, scanResponse: response))
        bench.peer.run()
        #expect(
            bench.peer.names == [
                "LE Set Extended Advertising Parameters [v1]", "LE Set Advertising Set Random Address",
                // Some controllers use the new address only from this command on (quirk 15).
                "LE Set Extended Advertising Parameters [v1]", "LE Set Extended Advertising Data",
                "LE Set Extended Scan Response Data",
                "LE Set Extended Advertising Enable",
            ]
        )
        let parameters = try #require(bench.peer.commands.first as? LESetExtendedAdvertisingParameters)
        #expect(parameters.properties == [.legacy, .connectable, .scannable] && parameters.intervalMin == 48)
        let sent = try #require(bench.peer.commands[3] as? LESetExtendedAdvertisingData)
        #expect(sent.operation == .complete && sent.data == data.encoded)
        bench.peer.commands = []
        set.want(nil)
        bench.peer.run()
        #expect(bench.peer.names == ["LE Set Extended Advertising Enable", "LE Remove Advertising Set"])
    }

    @Test func longDataGoOutInParts() throws {
        let bench = try Bench()
        let set = bench.advertiser.addSet()
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: long(4))
        advertisement.packets = .extended(.init())
        set.want(advertisement)
        bench.peer.run()
        let parts = bench.peer.commands.compactMap { $0 as? LESetExtendedAdvertisingData }
        #expect(parts.map(\.operation) == [.first, .intermediate, .intermediate, .last])
        #expect(parts.flatMap { Array($0.data) } == advertisement.data.encoded.bytes)
        #expect(AdvertisingCommands.fragments([]).map(\.0) == [.complete])
    }

    @Test func aSetThatTheControllerEndsBeginsAgainOrIsOver() throws {
        let bench = try Bench()
        let set = bench.advertiser.addSet()
        var ends: [AdvertisingEnd] = []
        set.onEnded = { ends.append($0) }
        var lasting = AdvertisingConfiguration(.connectable)
        lasting.outlastsConnections = true
        set.want(lasting)
        bench.peer.run()
        bench.peer.commands = []
        let handle = ConnectionHandle(rawValue: 1)
        bench.peer.inject(LEAdvertisingSetTerminated(set: 0, handle: handle, completedEvents: 0))
        bench.peer.run()
        #expect(bench.peer.names.last == "LE Set Extended Advertising Enable" && ends.isEmpty)
        set.want(AdvertisingConfiguration(.connectable))
        bench.peer.run()
        bench.peer.inject(LEAdvertisingSetTerminated(set: 9, handle: handle, completedEvents: 0))
        #expect(ends.isEmpty)
        bench.peer.inject(LEAdvertisingSetTerminated(set: 0, handle: handle, completedEvents: 0))
        #expect(ends == [.connected] && set.wanted == nil)
        set.want(AdvertisingConfiguration(.connectable))
        bench.peer.run()
        bench.peer.inject(
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
        let bench = try Bench()
        bench.peer.refuses[opcode] = .invalidParameters
        let set = bench.advertiser.addSet()
        var failure: GAPError?
        set.onFailed = { failure = $0 }
        set.want(AdvertisingConfiguration(.connectable))
        bench.peer.run()
        #expect(failure == .refused(opcode, .invalidParameters))
        #expect(failure?.description.contains("out of range") == true)
        // The next advertisement may succeed.
        bench.peer.refuses = [:]
        failure = nil
        var isStarted = false
        set.onStarted = { isStarted = true }
        set.want(AdvertisingConfiguration(.connectable))
        bench.peer.run()
        #expect(isStarted && failure == nil)
    }

    @Test func aControllerWithoutRoomSaysHowManySetsItHas() throws {
        let bench = try Bench()
        bench.peer.refuses[LESetExtendedAdvertisingParameters.opcode] = .memoryCapacityExceeded
        let set = bench.advertiser.addSet()
        var failure: GAPError?
        set.onFailed = { failure = $0 }
        set.want(AdvertisingConfiguration(.connectable))
        bench.peer.run()
        #expect(failure == .noAdvertisingSetLeft(maximum: 2))
        bench.peer.refuses = [:]
        let sets = (0..<3).map { _ in bench.advertiser.addSet() }
        for one in sets {
            one.onFailed = { failure = $0 }
            failure = nil
            one.want(AdvertisingConfiguration(.nonConnectable))
            bench.peer.run()
        }
        #expect(failure == .noAdvertisingSetLeft(maximum: 2))
        #expect(Set(sets.map(\.number)).count == 3)
    }

    @Test func aControllerThatIsBusyIsAskedAgain() throws {
        let bench = try Bench()
        bench.peer.refuses[LESetExtendedAdvertisingEnable.opcode] = .connectionLimitExceeded
        bench.peer.refuses[LESetExtendedScanEnable.opcode] = .commandDisallowed
        let set = bench.advertiser.addSet()
        set.want(AdvertisingConfiguration(.connectable))
        bench.scanner.want(.attentive)
        bench.peer.run()
        bench.peer.refuses = [:]
        bench.peer.commands = []
        bench.peer.run(.seconds(2))
        #expect(bench.peer.names.contains("LE Set Extended Advertising Enable"))
        #expect(bench.peer.names.contains("LE Set Extended Scan Enable"))
        #expect(set.wanted != nil && bench.scanner.wanted == .attentive)
    }

    @Test func aScanOnBothPHYsWithALimitEndsWithTheControllersWord() throws {
        let bench = try Bench()
        var settings = ScanSettings(isActive: false)
        settings.phys = [.le1M, .coded]
        settings.limit = .milliseconds(10_240)
        var ends = 0
        bench.scanner.onEnded = { ends += 1 }
        bench.scanner.want(settings)
        bench.peer.run(.seconds(20))
        let parameters = try #require(bench.peer.commands.first as? LESetExtendedScanParameters)
        #expect(parameters.le1M?.kind == .passive && parameters.coded?.scanInterval == 96)
        let enable = try #require(bench.peer.commands.last as? LESetExtendedScanEnable)
        #expect(enable.duration == 1_024 && enable.isEnabled && ends == 0)
        bench.peer.inject(LEScanTimeout())
        #expect(ends == 1 && bench.scanner.wanted == nil)
        // A limit too long for the command is timed by the host.
        settings.limit = .seconds(700)
        bench.scanner.want(settings)
        bench.peer.run(.seconds(701))
        #expect(ends == 2)
        #expect((bench.peer.commands.last as? LESetExtendedScanEnable)?.isEnabled == false)
    }

    @Test(arguments: [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode])
    func aRefusalOfAScanIsTold(opcode: Opcode) throws {
        let bench = try Bench()
        bench.peer.refuses[opcode] = .unsupportedFeatureOrParameter
        var failure: GAPError?
        bench.scanner.onFailed = { failure = $0 }
        bench.scanner.want(.attentive)
        bench.peer.run()
        #expect(failure == .refused(opcode, .unsupportedFeatureOrParameter))
        #expect(bench.scanner.wanted == nil)
    }

    @Test func aConnectionIsAskedForOnThePHYsThatThereAre() throws {
        let bench = try Bench()
        let peer = BluetoothAddress(5, kind: .publicDevice)
        bench.connector.want(peer)
        bench.peer.run()
        let command = try #require(bench.peer.commands.last as? LEExtendedCreateConnection)
        #expect(command.peerAddress == peer && command.filterPolicy == .peerAddress)
        #expect(command.le1M?.intervalMin == 24 && command.le1M?.supervisionTimeout == 400)
        #expect(command.le2M == command.le1M && command.coded == nil)
    }

    @Test func aListThatTheControllerRefusesIsTold() throws {
        let bench = try Bench()
        bench.peer.refuses[LEAddDeviceToFilterAcceptList.opcode] = .memoryCapacityExceeded
        var failures: [BluetoothAddress] = []
        bench.connector.onFailure = { peer, _ in failures.append(peer) }
        let peers = (1...2).map { BluetoothAddress($0, kind: .publicDevice) }
        for peer in peers { bench.connector.want(peer) }
        bench.peer.run()
        // The first attempt is cancelled so that the list can be used.
        bench.peer.inject(LEEnhancedConnectionComplete(failure: .unknownConnection))
        bench.peer.run()
        #expect(Set(failures) == Set(peers) && bench.connector.wanted.isEmpty)
    }
}

extension LEEnhancedConnectionComplete {
    fileprivate init(failure status: HCIStatus) {
        self.init()
        self.status = status
    }
}
