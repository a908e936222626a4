import AccessStandIns
import BluetoothTypes
import ControllerStandIns
import EventLoops
import GATT
import HCI
import HCIHost
import LinkLayer
import Security
import Testing

@testable import GAP

/// How the stack handles controllers that refuse commands they claim to support, report an existing link, or never
/// request long packets.
@Suite struct ControllerRefusalTests {
    /// A device that stays connectable.
    private func peripheral(_ world: GAPWorld, quirks: Set<ControllerQuirk> = []) -> GAPDevice {
        let device = world.device { $0.quirks = quirks }
        var advertisement = AdvertisingConfiguration(
            .connectable,
            data: AdvertisingData([.flags([.generalDiscoverable])])
        )
        advertisement.outlastsConnections = true
        advertise(advertisement, on: device)
        return device
    }

    private func advertise(_ advertisement: AdvertisingConfiguration, on device: GAPDevice) {
        let set = device.access.advertiser.addSet()
        set.want(advertisement)
        device.world.keep(set)
    }

    private func connect(_ central: GAPDevice, to peer: BluetoothAddress, within time: Duration) -> AccessLink? {
        let role = Central(central.access)
        var result: Result<AccessLink, GAPError>?
        role.connect(to: peer, within: time) { result = $0 }
        central.world.run { result != nil }
        return try? result?.get()
    }

    @Test(
        "2M is left out of connection requests once a controller has refused it, at once and without a reset (quirk 18)"
    )
    func twoMegabitIsLeftOut() throws {
        let world = GAPWorld()
        let peripheral = peripheral(world)
        let central = world.device { $0.quirks = [.initiating2MRefused] }
        let start = world.loop.now
        let link = try #require(connect(central, to: peripheral.address, within: .seconds(10)))
        #expect(world.loop.now - start < .milliseconds(900), "\(world.loop.now - start)")
        #expect(central.controller.quirksShown == [.initiating2MRefused: 1])
        #expect(central.access.controllerInformation?.fallbacks == [.no2MInitiating])
        #expect(central.log.commands.count { $0 == "Reset" } == 1)
        #expect(!central.log.contains(LECreateConnection.self))
        link.terminate()
        world.run(.seconds(1))
        _ = try #require(connect(central, to: peripheral.address, within: .seconds(10)))
        #expect(central.controller.quirksShown == [.initiating2MRefused: 1])
    }

    @Test(
        "2M is left out after both parameter error statuses, and a refusal of 1M alone leads to the legacy commands",
        arguments: [HCIStatus.unsupportedFeatureOrParameter, .invalidParameters]
    )
    func parametersAreLeftOutBeforeTheCommands(status: HCIStatus) throws {
        let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
        let access = GenericAccess(
            host: bench.host,
            loop: bench.loop,
            random: RandomSource(seed: 1),
            stackEvents: bench.stackEvents
        )
        access.start()
        bench.run(.milliseconds(100))
        var asked: [LEPHYs] = []
        bench.controller.onCommand = { command in
            guard let command = command as? LEExtendedCreateConnection else { return }
            asked.append(command.le2M == nil ? .le1M : [.le1M, .le2M])
        }
        bench.controller.refuses[LEExtendedCreateConnection.opcode] = status
        access.connector.want(BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice))
        bench.run(.milliseconds(100))
        #expect(asked == [[.le1M, .le2M], .le1M])
        #expect(access.controllerInformation?.fallbacks.contains(.no2MInitiating) == true)
        bench.run(.seconds(10))
        let isLegacy = status == .unsupportedFeatureOrParameter
        #expect(bench.transport.commands.contains { $0 is LECreateConnection } == isLegacy)
        #expect(access.controllerInformation?.fallbacks.contains(.legacyCommands) == isLegacy)
    }

    @Test(
        "the fallback to the legacy commands mixes nothing: a strict controller refuses none of them (quirks 6, 7, 19)"
    )
    func theWayToTheLegacyCommandsMixesNothing() throws {
        for quirk in [ControllerQuirk.claimedCommandsRefused, .extendedScanRefused] {
            let world = GAPWorld()
            let peripheral = peripheral(world)
            let central = world.device { $0.quirks = [.strictCommandSets, quirk] }
            if quirk == .extendedScanRefused { _ = try central.hear() }
            _ = try #require(connect(central, to: peripheral.address, within: .seconds(10)))
            #expect(central.access.controllerInformation?.fallbacks == [.legacyCommands])
            #expect(central.log.contains(LECreateConnection.self))
            #expect(central.controller.quirksShown[.strictCommandSets] == nil, "\(central.controller.quirksShown)")
        }
    }

    @Test("behaviour 3.1: all pending connections are made though the controller refuses its accept list (quirk 21)")
    func pendingConnectionsOutlastARefusedList() {
        for mode in ControllerMode.allCases {
            let world = GAPWorld(mode)
            let peripherals = [peripheral(world), peripheral(world), peripheral(world)]
            let central = world.device { $0.quirks = [.acceptListConnectRefused] }
            let nobody = BluetoothAddress(0xC0_0000_0000_FF, kind: .randomDevice)
            for peer in [nobody] + peripherals.map(\.address) { central.access.connector.want(peer) }
            #expect(world.run { central.links.count == 3 }, "\(mode), \(world.loop.now)")
            #expect(Set(central.links.map(\.peer)) == Set(peripherals.map(\.address)))
            #expect(central.controller.quirksShown[.acceptListConnectRefused] ?? 0 > 0)
            #expect(central.access.connector.wanted == [nobody])
        }
    }

    @Test("behaviour 3.1: a refused pending connection is retried with growing pauses, logged, and made in the end")
    func pausesBecomeLonger() throws {
        let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
        let connector = Connector(host: bench.host, loop: bench.loop, stackEvents: bench.stackEvents)
        var failures = 0
        connector.onFailure = { _, _ in failures += 1 }
        bench.up()
        connector.begin(OwnAddress(BluetoothAddress(1, kind: .randomDevice)), on: try #require(bench.information))
        bench.controller.refuses[LEExtendedCreateConnection.opcode] = .connectionAlreadyExists
        var times: [Duration] = []
        let start = bench.loop.now
        bench.controller.onCommand = { if $0 is LEExtendedCreateConnection { times.append(bench.loop.now - start) } }
        let wanted = BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)
        connector.want(wanted)
        bench.run(.seconds(100))
        #expect(times == [0, 1, 3, 7, 15, 31, 63, 95].map { .seconds($0) })
        #expect(failures == 0)
        #expect(connector.wanted == [wanted])
        #expect(connector.refusal?.status == .connectionAlreadyExists)
        let told = bench.reported.filter {
            "\($0)".hasPrefix("1 pending connection stays pending: the controller refuses")
        }
        #expect(told.count == times.count)
        #expect(told.allSatisfy { $0.weight == .warning })
        // The link that the controller reported ends.
        bench.controller.refuses = [:]
        connector.linkEnded()
        bench.run(.milliseconds(10))
        #expect(times.count == 9)
        #expect(connector.refusal == nil)
    }

    @Test(
        "the longest packets are negotiated on both sides, whichever controller does not start that itself (quirk 20)",
        arguments: [(false, false), (true, false), (false, true), (true, true)]
    )
    func theLongestPacketsAreAskedFor(central isOfCentral: Bool, peripheral isOfPeripheral: Bool) throws {
        for mode in ControllerMode.allCases {
            let pair = try LinkedPair(
                mode,
                central: { if isOfCentral { $0.quirks = [.dataLengthNeverStarted] } },
                peripheral: { if isOfPeripheral { $0.quirks = [.dataLengthNeverStarted] } }
            )
            pair.world.run(.seconds(1))
            for link in [pair.centralLink, pair.peripheralLink] {
                #expect(link.connection.maxTxOctets == 251)
                #expect(link.connection.maxRxOctets == 251)
            }
            #expect(pair.central.log.contains(LESetDataLength.self))
            #expect(pair.peripheral.log.contains(LESetDataLength.self))
        }
    }

    @Test("where the controller negotiates long packets itself, there is no second exchange on the air")
    func longPacketsAreAgreedUponOnce() throws {
        let world = GAPWorld()
        var requests = 0
        world.radio.onSend = { frame in
            // LL_LENGTH_REQ in a control PDU, LLID 3 (Core Vol 6 Part B 2.4.2.21).
            if frame.channel < 37, frame.pdu.count > 2, frame.pdu[0] & 3 == 3, frame.pdu[2] == 0x14 { requests += 1 }
        }
        let peripheral = peripheral(world)
        let central = world.device()
        let link = try #require(connect(central, to: peripheral.address, within: .seconds(10)))
        world.run(.seconds(1))
        #expect(link.connection.maxTxOctets == 251)
        #expect((1...2).contains(requests), "\(requests)")
    }

    @Test("a data length request for which the controller is too busy is repeated, and an unsupported one is not")
    func aRefusedRequestForLongPacketsIsRepeated() throws {
        for (status, count) in [(HCIStatus.commandDisallowed, 3), (.unsupportedRemoteFeature, 1)] {
            let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
            var connections: [HCIConnection] = []
            bench.host.onConnection = { connections.append($0) }
            bench.up()
            var information = try #require(bench.information)
            var lengths = LEReadMaximumDataLength.Response()
            (lengths.txOctets, lengths.txTime) = (251, 2_120)
            information.apply(lengths)
            bench.controller.refuses[LESetDataLength.opcode] = status
            bench.inject(
                LEEnhancedConnectionComplete {
                    $0.status = .success
                    $0.handle = ConnectionHandle(rawValue: 1)
                    $0.role = .central
                    $0.peerAddress = BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)
                    $0.interval = 24
                    $0.latency = 0
                    $0.supervisionTimeout = 400
                    $0.centralClockAccuracy = .ppm50
                }
            )
            let commands = LinkCommands(
                connection: try #require(connections.first),
                host: bench.host,
                loop: bench.loop,
                stackEvents: bench.stackEvents
            )
            commands.requestLongPackets(information)
            bench.run(.seconds(20))
            #expect(bench.transport.commands.count { $0 is LESetDataLength } == count)
        }
    }

    @Test(
        "a connectable extended advertisement too long for one packet is refused, naming the rule, before any command"
    )
    func aConnectableAdvertisementIsOnePacket() {
        let world = GAPWorld()
        let device = world.device()
        let options = AdvertisingConfiguration.ExtendedPackets()
        let longest = AdvertisingConfiguration.ExtendedPackets.maximumConnectableLength
        func outcome(_ length: Int) -> GAPError? {
            // Two structures, each with a header of two octets.
            let data = AdvertisingData([
                AdvertisingStructure(.manufacturerData, PacketBuffer([UInt8](repeating: 7, count: 100))),
                AdvertisingStructure(.manufacturerData, PacketBuffer([UInt8](repeating: 7, count: length - 104))),
            ])
            #expect(data.encodedLength == length)
            var advertisement = AdvertisingConfiguration(.connectable, data: data)
            advertisement.packets = .extended(options)
            let set = device.access.advertiser.addSet()
            var (error, hasStarted): (GAPError?, Bool) = (nil, false)
            set.onFailed = { error = $0 }
            set.onStarted = { hasStarted = true }
            set.want(advertisement)
            world.run(.seconds(1))
            #expect(hasStarted == (error == nil))
            set.want(nil)
            world.run(.milliseconds(100))
            return error
        }
        #expect(longest == 245)
        #expect(outcome(longest) == nil)
        let commands = device.log.commands
        let error = outcome(longest + 1)
        #expect(
            "\(error.map { "\($0)" } ?? "none")".hasPrefix(
                "246 octets do not fit: a connectable extended advertisement is one packet"
            )
        )
        #expect(device.log.commands == commands)
    }

    @Test("an advertisement whose rest the controller loses is reported as far as it goes (quirk 23)")
    func truncatedDataAreToldOfAsFarAsTheyGo() throws {
        let world = GAPWorld()
        let device = world.device()
        let data = AdvertisingData([
            .localName(AdvertisingData.LocalName("Long")),
            AdvertisingStructure(.manufacturerData, PacketBuffer([UInt8](repeating: 7, count: 200))),
            AdvertisingStructure(.manufacturerData, PacketBuffer([UInt8](repeating: 8, count: 200))),
        ])
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: data)
        advertisement.packets = .extended(.init())
        advertise(advertisement, on: device)
        let (good, bad) = (world.device(), world.device { $0.quirks = [.extendedDataTruncated] })
        let whole = try #require(try good.hear(from: device.address).first)
        #expect(!whole.isTruncated)
        #expect(whole.data == data)
        let heard = try bad.hear(from: device.address)
        let part = try #require(heard.first)
        #expect(heard.allSatisfy { $0.isTruncated && $0.data.encodedLength <= 31 })
        #expect(part.data.localName?.text == "Long" && bad.controller.quirksShown[.extendedDataTruncated] ?? 0 > 0)
    }

    @Test(
        "data of a central that sends immediately are served though they arrive before the connection event (quirk 1)"
    )
    func dataBeforeTheConnectionAreServed() throws {
        var shown = 0
        for seed in 1...8 as ClosedRange<UInt64> {
            let world = GAPWorld(seed: seed)
            let peripheral = peripheral(world, quirks: [.dataBeforeConnection])
            let server = GATTServer(database: GATTDatabase())
            peripheral.onLink = { $0.openAttributes(mtu: 100, server: server) }
            let central = world.device()
            var agreed: Int?
            central.onLink = { $0.openAttributes(mtu: 100).client.exchangeMTU { agreed = try? $0.get() } }
            _ = try #require(connect(central, to: peripheral.address, within: .seconds(10)))
            world.run(.seconds(1))
            #expect(agreed == 100, "seed \(seed)")
            shown += peripheral.controller.quirksShown[.dataBeforeConnection] ?? 0
        }
        #expect(shown > 0)
    }
}
