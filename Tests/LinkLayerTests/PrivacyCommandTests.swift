import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

private let peer = BluetoothAddress(0xA1, kind: .publicDevice)
private let other = BluetoothAddress(0xC000_0000_00A2, kind: .randomDevice)
private let one = PacketBuffer([UInt8](repeating: 1, count: 16))
private let two = PacketBuffer([UInt8](repeating: 2, count: 16))
private let noKey = PacketBuffer([UInt8](repeating: 0, count: 16))

private func add(
    _ address: BluetoothAddress = peer,
    key: PacketBuffer = one,
    local: PacketBuffer = noKey
) -> LEAddDeviceToResolvingList {
    LEAddDeviceToResolvingList(peerIdentity: address, peerIRK: key, localIRK: local)
}

private func timeout(_ seconds: UInt16) -> LESetResolvablePrivateAddressTimeout { .init(timeout: seconds) }

private func timeouts(_ least: UInt16, _ most: UInt16) -> LESetResolvablePrivateAddressTimeoutV2 {
    .init(timeoutMin: least, timeoutMax: most)
}

private let listed: @Sendable (TestHost) -> Void = { $0.send(add()) }

// Core Vol 4 Part E 7.8.38 to 7.8.45, 7.8.77.
private let cases: [CommandCase] = [
    .accepted("a peer", add()),
    .accepted("a static peer", add(other)),
    .invalid("a private peer", add(BluetoothAddress(0x4000_0000_0001, kind: .randomDevice))),
    .invalid("an identity", add(BluetoothAddress(1, kind: .publicIdentity))),
    .invalid("anonymous", add(.anonymous)),
    .accepted("the all-zero address", add(.none)),
    CommandCase("the same again", .invalidParameters, add(), after: listed),
    CommandCase("the same peer", .invalidParameters, add(key: two), after: listed),
    CommandCase("the same key", .invalidParameters, add(other), after: listed),
    CommandCase("another peer", .success, add(other, key: two), after: listed),
    .accepted("another peer without a key", add(other, key: noKey)) { $0.send(add(key: noKey)) },
    CommandCase("a peer too many", .memoryCapacityExceeded, add(other, key: two)) {
        for number in 0..<UInt64(32) { $0.send(add(BluetoothAddress(number, kind: .publicDevice), key: noKey)) }
    },
    CommandCase(
        "a key too short",
        .invalidParameters,
        LEAddDeviceToResolvingList.opcode,
        [UInt8](repeating: 0, count: 38)
    ),
    CommandCase("removing", .success, LERemoveDeviceFromResolvingList(peerIdentity: peer), after: listed),
    CommandCase("removing an unlisted peer", .unknownConnection, LERemoveDeviceFromResolvingList(peerIdentity: peer)),
    CommandCase(
        "removing the other kind",
        .unknownConnection,
        LERemoveDeviceFromResolvingList(peerIdentity: BluetoothAddress(peer.value, kind: .randomDevice)),
        after: listed
    ),
    CommandCase(
        "removing by identity",
        .invalidParameters,
        LERemoveDeviceFromResolvingList(peerIdentity: peer.identity),
        after: listed
    ),
    .accepted("clearing", LEClearResolvingList()),
    CommandCase("strictly", .success, LESetPrivacyMode(peerIdentity: peer, mode: .network), after: listed),
    CommandCase("less strictly", .success, LESetPrivacyMode(peerIdentity: peer, mode: .device), after: listed),
    CommandCase(
        "mode 2",
        .invalidParameters,
        LESetPrivacyMode(peerIdentity: peer, mode: .init(rawValue: 2)),
        after: listed
    ),
    CommandCase("a stranger's mode", .unknownConnection, LESetPrivacyMode(peerIdentity: peer, mode: .device)),
    CommandCase("never seen", .unknownConnection, LEReadPeerResolvableAddress(peerIdentity: peer), after: listed),
    CommandCase("never used", .unknownConnection, LEReadLocalResolvableAddress(peerIdentity: peer), after: listed),
    CommandCase("a stranger's", .unknownConnection, LEReadPeerResolvableAddress(peerIdentity: other), after: listed),
    CommandCase("for a stranger", .unknownConnection, LEReadLocalResolvableAddress(peerIdentity: other), after: listed),
    .accepted("resolving", LESetAddressResolutionEnable(isEnabled: true)),
    CommandCase("resolving 2", .invalidParameters, LESetAddressResolutionEnable.opcode, [2]),
    .invalid("0 s", timeout(0)),
    .accepted("1 s", timeout(1)),
    .accepted("1 h", timeout(0x0E10)),
    .invalid("more than 1 h", timeout(0x0E11)),
    .accepted("1 s to 1 h", timeouts(1, 0x0E10)),
    .accepted("a range of one", timeouts(480, 480)),
    .invalid("0 s to 1 h", timeouts(0, 0x0E10)),
    .invalid("1 s to more than 1 h", timeouts(1, 0x0E11)),
    .invalid("a range from its end", timeouts(481, 480)),
    CommandCase(
        "changes of no set",
        .unknownAdvertisingIdentifier,
        LESetDataRelatedAddressChanges(set: 0, reasons: [])
    ),
    .accepted("changes", LESetDataRelatedAddressChanges(set: 0, reasons: .advertisingData)) {
        $0.prepare()
    },
]

/// Activities that lock the resolving list and address resolution.
private enum Use: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case nothing, legacyAdvertising, extendedAdvertising, legacyScanning, extendedScanning, initiating
    var testDescription: String { rawValue }

    func begin(_ host: TestHost) {
        switch self {
        case .nothing: break
        case .legacyAdvertising: host.advertise(.legacy, as: .publicDevice)
        case .extendedAdvertising: host.advertise(.extended, as: .publicDevice)
        case .legacyScanning: host.scan(.legacy)
        case .extendedScanning: host.scan(.extended)
        case .initiating: host.connect(.extended, to: peer, as: .publicDevice)
        }
    }

    func end(_ host: TestHost) {
        switch self {
        case .nothing: break
        case .legacyAdvertising: host.stopAdvertising(.legacy)
        case .extendedAdvertising: host.stopAdvertising(.extended)
        case .legacyScanning: host.stopScanning(.legacy)
        case .extendedScanning: host.stopScanning(.extended)
        case .initiating: host.send(LECreateConnectionCancel())
        }
    }
}

@Suite struct PrivacyCommandTests {
    @Test(arguments: cases)
    func validation(test: CommandCase) { test.check() }

    @Test(arguments: Use.allCases, [true, false])
    fileprivate func resolvingListInUseDoesNotChange(use: Use, isResolving: Bool) {
        let host = LinkLayerWorld().host()
        host.send(add())
        host.resolve(isResolving)
        use.begin(host)
        let isFixed = use != .nothing && isResolving
        let expected = isFixed ? HCIStatus.commandDisallowed : .success
        #expect(host.send(add(other, key: two)) == expected)
        #expect(host.send(LESetPrivacyMode(peerIdentity: peer, mode: .device)) == expected)
        #expect(host.send(LERemoveDeviceFromResolvingList(peerIdentity: peer)) == expected)
        #expect(host.send(LEClearResolvingList()) == expected)
        #expect(host.resolve(isResolving) == (use == .nothing ? .success : .commandDisallowed))
        // The timeout may be set at any time.
        #expect(host.send(timeout(60)) == .success)
        use.end(host)
        #expect(host.resolve() == .success)
        #expect(host.send(LEClearResolvingList()) == .success)
    }

    @Test func theSizeIsTold() throws {
        #expect(try LinkLayerWorld().host().read(LEReadResolvingListSize()).value == 32)
        let small = LinkLayerWorld().host { $0.resolvingListSize = 1 }
        #expect(try small.read(LEReadResolvingListSize()).value == 1)
        #expect(small.send(add()) == .success)
        #expect(small.send(add(other, key: two)) == .memoryCapacityExceeded)
    }

    @Test func aResetEmptiesTheList() throws {
        let host = LinkLayerWorld().host()
        host.send(add())
        host.resolve()
        host.send(timeout(1))
        host.send(Reset())
        #expect(host.send(LERemoveDeviceFromResolvingList(peerIdentity: peer)) == .unknownConnection)
        #expect(!host.controller.privacy.isResolving)
        #expect(host.controller.privacy.lifetimes == .seconds(900)...(.seconds(900)))
    }

    @Test func theCommandsComeWithTheFeature() throws {
        let (new, old) = (LinkLayerWorld().host(), LinkLayerWorld().host { $0.features.remove(.privacy) })
        let known = try new.read(ReadLocalSupportedCommands()).commands
        let lesser = try old.read(ReadLocalSupportedCommands()).commands
        let bits: [SupportedCommands.Bit?] = [
            LEAddDeviceToResolvingList.supportBit, LERemoveDeviceFromResolvingList.supportBit,
            LEClearResolvingList.supportBit, LEReadResolvingListSize.supportBit,
            LEReadPeerResolvableAddress.supportBit, LEReadLocalResolvableAddress.supportBit,
            LESetAddressResolutionEnable.supportBit, LESetResolvablePrivateAddressTimeout.supportBit,
            LESetResolvablePrivateAddressTimeoutV2.supportBit,
            LESetPrivacyMode.supportBit,
        ]
        for bit in bits {
            let bit = try #require(bit)
            #expect(known.contains(bit))
            #expect(!lesser.contains(bit))
        }
        #expect(old.send(add()) == .unknownCommand)
        #expect(old.resolve() == .unknownCommand)
        let features = try new.read(LEReadLocalSupportedFeatures()).features
        #expect(features.isSuperset(of: [.privacy, .extendedScannerFilterPolicies]))
    }

    @Test(arguments: [[], .advertisingData, .scanResponseData] as [LEAddressChangeReasons])
    func otherDataMayHaveAnotherAddress(reasons: LEAddressChangeReasons) {
        let (world, advertiser, friend) = LinkLayerWorld.withTwoHosts()
        let log = AirLog(world)
        advertiser.list(friend)
        advertiser.prepare([.legacy, .connectable, .scannable], data: [1], scanResponse: [1]) {
            ($0.ownAddressKind, $0.peerAddress) = (.resolvableOrPublic, friend.address)
        }
        #expect(advertiser.send(LESetDataRelatedAddressChanges(set: 0, reasons: reasons)) == .success)
        advertiser.enable([(0, 0, 0)])
        world.run(.seconds(1))
        #expect(log.advertisers.count == 1)
        advertiser.give([2], to: 0)
        world.run(.seconds(1))
        #expect(log.advertisers.count == (reasons == .advertisingData ? 2 : 1))
        // Setting the same data is not a change.
        advertiser.give([2], to: 0)
        world.run(.seconds(1))
        #expect(log.advertisers.count == (reasons == .advertisingData ? 2 : 1))
        advertiser.give([2], to: 0, isScanResponse: true)
        world.run(.seconds(1))
        #expect(log.advertisers.count == (reasons == [] ? 1 : 2))
        #expect(!log.all.contains(advertiser.address))
    }
}
