import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

private let peer = BluetoothAddress(0x11_2233_4455, kind: .publicDevice)

private func advertising(_ change: (inout LESetAdvertisingParameters) -> Void) -> LESetAdvertisingParameters {
    var command = LESetAdvertisingParameters {
        $0.intervalMin = 0x20
        $0.intervalMax = 0x40
        $0.kind = .connectableScannable
        $0.ownAddressKind = .publicDevice
        $0.peerAddress = .none
        $0.channels = .all
        $0.filterPolicy = .unfiltered
    }
    change(&command)
    return command
}

private func scanning(_ change: (inout LESetScanParameters) -> Void) -> LESetScanParameters {
    var command = LESetScanParameters {
        $0.kind = .active
        $0.scanInterval = 0x10
        $0.scanWindow = 0x10
        $0.ownAddressKind = .publicDevice
        $0.filterPolicy = .unfiltered
    }
    change(&command)
    return command
}

private func connecting(_ change: (inout LECreateConnection) -> Void) -> LECreateConnection {
    var command = LECreateConnection {
        $0.scanInterval = 0x10
        $0.scanWindow = 0x10
        $0.filterPolicy = .peerAddress
        $0.peerAddress = peer
        $0.ownAddressKind = .publicDevice
        $0.intervalMin = 6
        $0.intervalMax = 24
        $0.maxLatency = 0
        $0.supervisionTimeout = 100
        $0.minCELength = 0
        $0.maxCELength = 0
    }
    change(&command)
    return command
}

private let cases: [CommandCase] = [
    CommandCase("unknown command", .unknownCommand, raw: [0xFF, 0xFF, 0]),
    CommandCase("LE Generate DHKey without a key of the peer", .invalidParameters, raw: [0x26, 0x20, 0]),
    .disallowed("LE Generate DHKey without an own key", LEGenerateDHKey()),
    .invalid("LE Generate DHKey with a third kind of key", LEGenerateDHKeyV2(.init(), keyKind: .init(rawValue: 2))),
    CommandCase("parameters cut short", .invalidParameters, raw: [0x06, 0x20, 2, 0, 0]),
    CommandCase("parameters too long", .invalidParameters, raw: [0x03, 0x0C, 1, 0]),
    CommandCase(
        "data longer than 31",
        .invalidParameters,
        raw: PacketBuffer([0x08, 0x20, 32, 32] + .init(repeating: 0, count: 31))
    ),
    .accepted("advertising", advertising { _ in }),
    CommandCase("advertising too fast", .unsupportedFeatureOrParameter, advertising { $0.intervalMin = 0x1F }),
    CommandCase("advertising too slowly", .unsupportedFeatureOrParameter, advertising { $0.intervalMax = 0x4001 }),
    .invalid("advertising backwards", advertising { $0.intervalMin = 0x41 }),
    .invalid("advertising of no kind", advertising { $0.kind = .init(rawValue: 5) }),
    .invalid("advertising nowhere", advertising { $0.channels = [] }),
    .invalid("advertising on channel 40", advertising { $0.channels = .init(rawValue: 8) }),
    .invalid("advertising policy 4", advertising { $0.filterPolicy = .init(rawValue: 4) }),
    .accepted("advertising privately", advertising { $0.ownAddressKind = .resolvableOrPublic }),
    .invalid("advertising as 4", advertising { $0.ownAddressKind = .init(rawValue: 4) }),
    .accepted(
        "high duty cycle has its own interval",
        advertising {
            ($0.kind, $0.intervalMin, $0.intervalMax, $0.peerAddress) = (.directedHighDutyCycle, 0, 0, peer)
        }
    ),
    .accepted("scanning", scanning { _ in }),
    .invalid("scan window above interval", scanning { $0.scanWindow = 0x11 }),
    .invalid("scan window of 3", scanning { $0.scanWindow = 3 }),
    .invalid("scan interval above 10.24 s", scanning { $0.scanInterval = 0x4001 }),
    .invalid("scan of no kind", scanning { $0.kind = .init(rawValue: 2) }),
    .accepted("scan policy 2", scanning { $0.filterPolicy = .init(rawValue: 2) }),
    .invalid("scan policy 4", scanning { $0.filterPolicy = .init(rawValue: 4) }),
    .invalid("duplicates per period", LESetScanEnable(isEnabled: true, filterDuplicates: .enabledPerPeriod)),
    .accepted("connecting", connecting { _ in }),
    .invalid("interval of 5", connecting { $0.intervalMin = 5 }),
    .invalid("interval above 4 s", connecting { $0.intervalMax = 3_201 }),
    .invalid("intervals backwards", connecting { $0.intervalMin = 25 }),
    .invalid("latency of 500", connecting { ($0.maxLatency, $0.supervisionTimeout) = (500, 3_200) }),
    .invalid("timeout of 90 ms", connecting { $0.supervisionTimeout = 9 }),
    .invalid("timeout within two events", connecting { ($0.maxLatency, $0.supervisionTimeout) = (10, 66) }),
    .accepted("timeout beyond two events", connecting { ($0.maxLatency, $0.supervisionTimeout) = (10, 67) }),
    .invalid("event lengths backwards", connecting { $0.minCELength = 1 }),
    .invalid("connecting at random without address", connecting { $0.ownAddressKind = .randomDevice }),
    .invalid("connecting by policy 2", connecting { $0.filterPolicy = .init(rawValue: 2) }),
    .disallowed("nothing to cancel", LECreateConnectionCancel()),
    CommandCase(
        "disconnecting an unknown link",
        .unknownConnection,
        Disconnect(handle: .init(rawValue: 1), reason: .remoteUserTerminated)
    ),
    CommandCase(
        "remote features of an unknown link",
        .unknownConnection,
        LEReadRemoteFeatures(handle: .init(rawValue: 1))
    ),
    CommandCase("RSSI of an unknown link", .unknownConnection, ReadRSSI(handle: .init(rawValue: 1))),
    CommandCase(
        "data length of an unknown link",
        .unknownConnection,
        LESetDataLength(handle: .init(rawValue: 1), txOctets: 27, txTime: 328)
    ),
    .invalid("suggested 26", LEWriteSuggestedDefaultDataLength(txOctets: 26, txTime: 328)),
    .invalid("suggested 252", LEWriteSuggestedDefaultDataLength(txOctets: 252, txTime: 328)),
    .invalid("suggested 327 us", LEWriteSuggestedDefaultDataLength(txOctets: 27, txTime: 327)),
    .accepted("suggested 251", LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2_120)),
    .invalid("default PHY of none", LESetDefaultPHY(preference: [], txPHYs: [], rxPHYs: .le1M)),
    CommandCase(
        "default PHY 8",
        .unsupportedFeatureOrParameter,
        LESetDefaultPHY(preference: [], txPHYs: .init(rawValue: 8), rxPHYs: .le1M)
    ),
    .accepted("default PHY", LESetDefaultPHY(preference: [.anyTransmitter, .anyReceiver], txPHYs: [], rxPHYs: [])),
    .invalid("one channel", LESetHostChannelClassification(channelMap: [1, 0, 0, 0, 0])),
    .invalid("channel 37", LESetHostChannelClassification(channelMap: [3, 0, 0, 0, 0x20])),
    .accepted("two channels", LESetHostChannelClassification(channelMap: [3, 0, 0, 0, 0])),
    .invalid("accepting kind 2", LEAddDeviceToFilterAcceptList(address: .init(1, kind: .publicIdentity))),
]

@Suite struct ControllerCommandTests {
    @Test(arguments: cases)
    func validation(of test: CommandCase) { test.check() }

    /// Commands that are disallowed in certain states.
    @Test func statesForbidCommands() {
        let world = LinkLayerWorld()
        let host = world.host()
        let random = LESetRandomAddress(address: BluetoothAddress(0xC000_0000_0001, kind: .randomDevice))
        host.advertise()
        #expect(host.send(advertising { _ in }) == .commandDisallowed)
        #expect(host.send(random) == .commandDisallowed)
        #expect(host.send(LESetAdvertisingEnable(isEnabled: true)) == .success)
        #expect(host.send(LESetAdvertisingEnable(isEnabled: false)) == .success)
        #expect(host.send(random) == .success)
        host.scan()
        #expect(host.send(scanning { _ in }) == .commandDisallowed)
        #expect(host.send(random) == .commandDisallowed)
        host.send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
        #expect(host.connect(to: peer) == .success)
        #expect(host.connect(to: peer) == .commandDisallowed)
        #expect(host.send(random) == .commandDisallowed)
        #expect(host.send(LECreateConnectionCancel()) == .success)
        #expect(host.events(LEEnhancedConnectionComplete.self).map(\.status) == [.unknownConnection])
        #expect(host.send(LECreateConnectionCancel()) == .commandDisallowed)
    }

    @Test func theAcceptListIsFullAndInUse() throws {
        let world = LinkLayerWorld()
        let host = world.host { $0.acceptListSize = 2 }
        #expect(try host.read(LEReadFilterAcceptListSize()).value == 2)
        for value in 1...2 as ClosedRange<UInt64> {
            #expect(host.send(LEAddDeviceToFilterAcceptList(address: .init(value, kind: .publicDevice))) == .success)
        }
        let again = LEAddDeviceToFilterAcceptList(address: .init(1, kind: .publicDevice))
        let third = LEAddDeviceToFilterAcceptList(address: .init(1, kind: .randomDevice))
        #expect(host.send(again) == .success)
        #expect(host.send(third) == .memoryCapacityExceeded)
        #expect(host.send(connecting { $0.filterPolicy = .acceptList }) == .success)
        #expect(host.send(again) == .commandDisallowed)
        #expect(host.send(LEClearFilterAcceptList()) == .commandDisallowed)
        host.send(LECreateConnectionCancel())
        #expect(host.send(LEClearFilterAcceptList()) == .success)
        #expect(host.send(third) == .success)
    }

    @Test func commandsToALink() throws {
        let pair = try Pair()
        let (host, handle) = (pair.central, pair.centralHandle)
        #expect(host.connect(to: pair.peripheral.address) == .connectionAlreadyExists)
        #expect(host.send(Disconnect(handle: handle, reason: .connectionTimeout)) == .invalidParameters)
        #expect(host.send(LESetDataLength(handle: handle, txOctets: 252, txTime: 328)) == .invalidParameters)
        #expect(
            host.send(LERemoteConnectionParameterRequestNegativeReply(handle: handle, reason: .unspecifiedError))
                == .commandDisallowed
        )
        let phy = LESetPHY(handle: handle, preference: [], txPHYs: [], rxPHYs: [], codedOption: .noPreference)
        #expect(host.send(phy) == .invalidParameters)
        #expect(host.send(ReadTransmitPowerLevel(handle: handle, kind: .init(rawValue: 2))) == .invalidParameters)
        for _ in 0...LinkControl.maximumRequests {
            #expect(host.send(LESetDataLength(handle: handle, txOctets: 50, txTime: 600)) == .success)
        }
        #expect(host.send(LESetDataLength(handle: handle, txOctets: 50, txTime: 600)) == .controllerBusy)
    }

    @Test func theNumberOfLinksIsBounded() throws {
        let pair = try Pair(central: { $0.maximumLinks = 1 }, peripheral: { $0.maximumLinks = 1 })
        #expect(pair.central.connect(to: peer) == .connectionLimitExceeded)
        #expect(pair.peripheral.send(LESetAdvertisingEnable(isEnabled: true)) == .connectionLimitExceeded)
    }

    // The supported commands it reports are exactly those it executes.
    @Test func supportedCommandsAreTrue() throws {
        let host = LinkLayerWorld().host()
        let commands = try host.read(ReadLocalSupportedCommands()).commands
        for type in HCICommandRegistry.all where type.supportBit != nil {
            let status = host.send(HCIPacket(.command, empty(type.init())))
            #expect((status != .unknownCommand) == commands.contains(type), "\(type.name)")
        }
    }

    private func empty(_ command: any HCICommand) -> PacketBuffer { HCIPacket(command).bytes }

    @Test func informationIsTrue() throws {
        let host = LinkLayerWorld().host()
        #expect(try host.read(LEReadLocalSupportedFeatures()).features == VirtualController.supportedFeatures)
        #expect(try host.read(ReadBDADDR()).address.value == host.address.value)
        let buffers = try host.read(LEReadBufferSize())
        #expect((buffers.aclDataPacketLength, buffers.totalACLDataPackets) == (251, 16))
        let maximum = try host.read(LEReadMaximumDataLength())
        #expect((maximum.txOctets, maximum.txTime, maximum.rxOctets, maximum.rxTime) == (251, 17_040, 251, 17_040))
        #expect(try host.read(ReadLocalSupportedFeatures()).features.contains(.brEdrNotSupported))
        #expect(try host.read(LERand()).number != host.read(LERand()).number)
    }

    @Test func masksAreHonoured() throws {
        let (world, host, advertiser) = LinkLayerWorld.withTwoHosts()
        advertiser.advertise()
        host.send(LESetEventMask(mask: .connectionComplete))
        host.scan()
        world.run(.seconds(1))
        #expect(host.events(LEAdvertisingReport.self).isEmpty)
        host.connect(to: advertiser.address)
        world.run(.seconds(1))
        // The plain event in place of the enhanced one, and no channel selection event.
        #expect(host.events(LEConnectionComplete.self).count == 1)
        #expect(host.events(LEEnhancedConnectionComplete.self).isEmpty)
        #expect(host.events(LEChannelSelectionAlgorithm.self).isEmpty)
        let handle = try #require(host.events(LEConnectionComplete.self).first).handle
        host.send(SetEventMask(mask: .leMeta))
        host.send(Disconnect(handle: handle, reason: .remoteUserTerminated))
        world.run(.seconds(1))
        #expect(host.events(DisconnectionComplete.self).isEmpty)
    }

    // Without Set Event Mask there are no LE events at all (Core Vol 4 Part E 7.3.1).
    @Test func aResetForgetsEverything() throws {
        let pair = try Pair()
        pair.central.scan()
        #expect(pair.central.send(Reset()) == .success)
        pair.central.forget()
        pair.world.run(.seconds(3))
        #expect(pair.central.packets.isEmpty)
        #expect(pair.central.controller.links.isEmpty)
        #expect(pair.peripheral.events(DisconnectionComplete.self).map(\.reason) == [.connectionTimeout])
        #expect(pair.central.controller.node.airTime.listening < 1_200_000)
    }

    @Test func dataBeyondTheBuffersAreRefused() throws {
        let pair = try Pair(central: {
            $0.aclPacketCount = 3; $0.aclPacketLength = 27
        })
        for _ in 0..<4 { pair.central.send([1], on: pair.centralHandle) }
        pair.central.send([UInt8](repeating: 1, count: 28), on: pair.centralHandle)
        pair.central.send([1], on: .init(rawValue: 0x123))
        #expect(pair.central.events(DataBufferOverflow.self).count == 2)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.count == 3)
        pair.central.send([], on: pair.centralHandle)
        #expect(pair.central.events(NumberOfCompletedPackets.self).count == 4)
    }

    @Test(arguments: [[], [1], [1, 2], [3, 0x0C, 9], [3, 0x0C, 0, 0]] as [PacketBuffer])
    func invalidPacketsAreIgnored(bytes: PacketBuffer) {
        let host = LinkLayerWorld().host()
        host.send(HCIPacket(.command, bytes))
        host.send(HCIPacket(.acl, bytes))
        host.send(HCIPacket(.event, bytes))
        host.send(HCIPacket(.isochronous, bytes))
        #expect(host.packets.isEmpty)
        #expect(host.send(Reset()) == .success)
    }
}
