import AccessStandIns
import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import SMP
import Testing

@testable import GAP
@testable import Security

/// The modes and procedures of the Generic Access Profile with private addresses on both sides (Core Vol 3 Part C
/// 10.7).
@Suite struct PrivateProcedureTests {
    private static let data = AdvertisingData([.localName(.init("Harald"))])
    private static let more = AdvertisingData([.appearance(0x0341)])
    private static let nobody = BluetoothAddress(0xC0_0000_0000_09, kind: .randomDevice)
    private static let undirected = Peripheral.Mode(.general, .undirected, data: data)

    // MARK: Broadcast, observation, discovery

    private func expectBroadcast(_ mode: PrivacyMode, _ advertisement: AdvertisingConfiguration) throws -> [Sighting] {
        let pair = try PrivatePair(mode)
        let broadcaster = pair.device.access.advertiser.addSet()
        broadcaster.want(advertisement)
        let heard = try pair.other.hear()
        #expect(!heard.isEmpty)
        #expect(heard.allSatisfy { $0.address == pair.device.identity.address && $0.isResolved })
        let shown = pair.watch.of(pair.device.node, .advertising).compactMap(\.own)
        #expect(!shown.isEmpty)
        #expect(shown.allSatisfy { pair.device.isOwn($0) })
        #expect(!pair.watch.hasSent(pair.device.identity.address, pair.device.node))
        return heard
    }

    @Test("GAP/BROB/BCST/BV-03: a broadcast has a resolvable private address", arguments: PrivacyMode.allCases)
    func broadcastWithAResolvablePrivateAddress(mode: PrivacyMode) throws {
        let heard = try expectBroadcast(mode, AdvertisingConfiguration(.nonConnectable, data: Self.data))
        #expect(heard.allSatisfy { !$0.hasScanResponse && $0.data == Self.data })
    }

    @Test(
        "GAP/BROB/BCST/BV-05: a broadcast has a resolvable private address and a scan response",
        arguments: PrivacyMode.allCases
    )
    func broadcastWithAResolvablePrivateAddressAndAScanResponse(mode: PrivacyMode) throws {
        let heard = try expectBroadcast(
            mode,
            AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.more)
        )
        #expect(heard.contains { $0.data == Self.data.merged(with: Self.more) })
    }

    @Test(
        "GAP/BROB/OBSV/BV-05: active observation works from a private address",
        arguments: PrivacyMode.allCases
    )
    func activeObservationWithAPrivateAddress(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode, areBonded: false)
        let stranger = pair.world.device()
        let broadcaster = stranger.access.advertiser.addSet()
        broadcaster.want(AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.more))
        let heard = try pair.other.hear(ScanSettings(isActive: true))
        #expect(heard.contains { $0.address == stranger.address && $0.hasScanResponse })
        let shown = pair.watch.of(pair.other.node, .scanning).compactMap(\.own)
        #expect(!shown.isEmpty)
        #expect(!pair.watch.hasSent(pair.other.identity.address, pair.other.node))
        #expect(shown.allSatisfy { pair.other.isOwn($0) })
    }

    @Test(
        "GAP/BROB/OBSV/BV-06: active observation works with private addresses on both sides",
        arguments: PrivacyMode.allCases
    )
    func activeObservationWithPrivateAddressesOnBothSides(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode)
        let broadcaster = pair.device.access.advertiser.addSet()
        broadcaster.want(AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.more))
        let heard = try pair.other.hear(ScanSettings(isActive: true))
        #expect(heard.contains { $0.address == pair.device.identity.address && $0.hasScanResponse })
        let asked = pair.watch.of(pair.other.node, .scanning)
        #expect(!asked.isEmpty)
        #expect(asked.allSatisfy { $0.own.map(pair.other.isOwn) ?? false })
        pair.expectNoIdentityOnAir()
    }

    @Test("GAP/DISC/RPA/BV-01: a bonded device is discovered by its identity", arguments: PrivacyMode.allCases)
    func aBondedDeviceIsDiscoveredByItsIdentity(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode)
        let role = Peripheral(pair.device.access)
        role.enter(Self.undirected)
        let found = try pair.other.hear(for: .seconds(5))
        #expect(Set(found.map(\.address)) == [pair.device.identity.address])
        #expect(found.allSatisfy { $0.isResolved })
        pair.expectNoIdentityOnAir()
    }

    // MARK: Connections

    /// Lets one device advertise, with nil directed at the other one, which connects to it.
    private func connect(
        _ pair: PrivatePair,
        _ advertised: Peripheral.Mode?,
        _ begin: (Central, BluetoothAddress, @escaping Central.Completion) -> Void
    ) throws -> AccessLink {
        let role = Peripheral(pair.device.access)
        if let advertised {
            role.enter(advertised)
        } else {
            pair.device.advertise(directedAt: pair.other.identity.address)
        }
        let central = Central(pair.other.access)
        var result: Result<AccessLink, GAPError>?
        begin(central, pair.device.identity.address) { result = $0 }
        pair.world.run(for: .seconds(12)) { result != nil }
        pair.world.run(.milliseconds(200))
        let link = try #require(try result?.get())
        // Each is identified to the other, whatever addresses were on the air.
        #expect(link.peer == pair.device.identity.address)
        #expect(link.connection.role == .central)
        let theirs = try #require(pair.device.links.last)
        #expect(theirs.peer == pair.other.identity.address)
        #expect(theirs.connection.role == .peripheral)
        #expect(pair.other.access.connector.wanted.isEmpty)
        let requests = pair.watch.of(pair.other.node, .initiating)
        #expect(!requests.isEmpty)
        #expect(requests.allSatisfy { $0.own.map(pair.other.isOwn) ?? false })
        #expect(requests.allSatisfy { $0.target.map(pair.device.isOwn) ?? false })
        // Pairing computes with the addresses that were on the air.
        for (device, link, own) in [
            (pair.other, link, requests.last?.own), (pair.device, theirs, requests.last?.target),
        ] {
            #expect(device.access.privacy.ownAddress(of: link.connection) == own)
        }
        return link
    }

    private func undirectedLink(
        _ mode: PrivacyMode,
        _ begin: (Central, BluetoothAddress, @escaping Central.Completion) -> Void
    ) throws {
        let pair = try PrivatePair(mode)
        _ = try connect(pair, Self.undirected, begin)
        pair.expectNoIdentityOnAir()
    }

    /// Lets the other device resolve the address by which the first one addresses it, which takes a controller with that
    /// ability.
    private func directedLink(
        _ mode: PrivacyMode,
        _ begin: (Central, BluetoothAddress, @escaping Central.Completion) -> Void
    ) throws {
        let pair = try PrivatePair(mode)
        _ = try connect(pair, nil, begin)
        let shown = pair.watch.of(pair.device.node, .advertising).filter { $0.target != nil }
        #expect(!shown.isEmpty)
        #expect(shown.allSatisfy { $0.target.map(pair.other.isOwn) ?? false })
        #expect(shown.allSatisfy { $0.own.map(pair.device.isOwn) ?? false })
        pair.expectNoIdentityOnAir()
    }

    private static let direct: @Sendable (Central, BluetoothAddress, @escaping Central.Completion) -> Void = {
        $0.connect(to: $1, within: .seconds(10), completion: $2)
    }
    private static let auto: @Sendable (Central, BluetoothAddress, @escaping Central.Completion) -> Void = {
        $0.autoConnect(to: [nobody, $1], within: .seconds(10), completion: $2)
    }
    private static let general: @Sendable (Central, BluetoothAddress, @escaping Central.Completion) -> Void = {
        central,
        peer,
        end in
        central.generalConnect(within: .seconds(10), pick: { $0.address == peer }, completion: end)
    }

    @Test(
        "GAP/CONN/UCON/BV-06: an undirected advertiser with a private address accepts a connection",
        arguments: PrivacyMode.allCases
    )
    func undirectedWithAPrivateAddress(mode: PrivacyMode) throws {
        try undirectedLink(mode, Self.direct)
    }

    @Test(
        "GAP/CONN/ACEP/BV-03: auto connection establishment reaches a private directed advertiser",
        arguments: PrivacyMode.inController
    )
    func autoConnectionToADirectedAdvertiser(mode: PrivacyMode) throws {
        try directedLink(mode, Self.auto)
    }

    @Test(
        "GAP/CONN/ACEP/BV-04: auto connection establishment reaches a private undirected advertiser",
        arguments: PrivacyMode.allCases
    )
    func autoConnectionToAnUndirectedAdvertiser(mode: PrivacyMode) throws {
        try undirectedLink(mode, Self.auto)
    }

    @Test(
        "GAP/CONN/GCEP/BV-05: general connection establishment reaches a private directed advertiser",
        arguments: PrivacyMode.inController
    )
    func generalConnectionToADirectedAdvertiser(mode: PrivacyMode) throws {
        try directedLink(mode, Self.general)
    }

    @Test(
        "GAP/CONN/GCEP/BV-06: general connection establishment reaches a private undirected advertiser",
        arguments: PrivacyMode.allCases
    )
    func generalConnectionToAnUndirectedAdvertiser(mode: PrivacyMode) throws {
        try undirectedLink(mode, Self.general)
    }

    @Test(
        "GAP/CONN/DCEP/BV-05: direct connection establishment reaches a private directed advertiser",
        arguments: PrivacyMode.inController
    )
    func directConnectionToADirectedAdvertiser(mode: PrivacyMode) throws {
        try directedLink(mode, Self.direct)
    }

    @Test(
        "GAP/CONN/DCEP/BV-06: direct connection establishment reaches a private undirected advertiser",
        arguments: PrivacyMode.allCases
    )
    func directConnectionToAnUndirectedAdvertiser(mode: PrivacyMode) throws {
        try undirectedLink(mode, Self.direct)
    }

    // MARK: Reconnection

    /// Connects twice with more than an address lifetime in between, and returns the addresses on the air.
    private func reconnect(_ mode: PrivacyMode) throws -> (
        pair: PrivatePair, first: AirWatch.Seen, second: AirWatch.Seen
    ) {
        let pair = try PrivatePair(mode)
        let link = try connect(pair, Self.undirected, Self.direct)
        let first = try #require(pair.watch.of(pair.other.node, .initiating).last)
        link.terminate()
        pair.world.run(GAPTimer.privateAddressInterval + .seconds(1))
        let role = Peripheral(pair.device.access)
        role.enter(Self.undirected)
        let central = Central(pair.other.access)
        var again: AccessLink?
        central.connect(to: pair.device.identity.address, within: .seconds(10)) { again = try? $0.get() }
        pair.world.run(for: .seconds(12)) { again != nil }
        pair.world.run(.milliseconds(200))
        #expect(again?.peer == pair.device.identity.address)
        #expect(pair.device.links.last?.peer == pair.other.identity.address)
        let second = try #require(pair.watch.of(pair.other.node, .initiating).last)
        pair.expectNoIdentityOnAir()
        return (pair, first, second)
    }

    @Test("GAP/CONN/PRDA/BV-01: a peripheral recognises a bonded central", arguments: PrivacyMode.allCases)
    func aPeripheralRecognisesABondedCentral(mode: PrivacyMode) throws {
        let (pair, first, second) = try reconnect(mode)
        #expect(first.own != second.own)
        #expect(pair.device.links.count == 2)
        #expect(Set(pair.device.links.map(\.peer)) == [pair.other.identity.address])
        let bond = pair.device.bonds?.bond(identity: pair.other.identity.address)
        #expect(bond != nil)
        #expect(pair.device.links.allSatisfy { $0.secureLink.bond?.identifier == bond?.identifier })
    }

    @Test("GAP/CONN/PRDA/BV-02: a central recognises a bonded peripheral", arguments: PrivacyMode.allCases)
    func aCentralRecognisesABondedPeripheral(mode: PrivacyMode) throws {
        let (pair, first, second) = try reconnect(mode)
        #expect(first.target != second.target)
        #expect(Set(pair.other.links.map(\.peer)) == [pair.device.identity.address])
    }

    @Test("GAP/PRIV/CONN/BV-10: a peripheral changes its address and is reached again", arguments: PrivacyMode.allCases)
    func aPeripheralChangesItsAddressAndIsReachedAgain(mode: PrivacyMode) throws {
        let (pair, first, second) = try reconnect(mode)
        let shown = [first, second].compactMap(\.target)
        #expect(Set(shown).count == 2)
        #expect(shown.allSatisfy { pair.device.isOwn($0) })
    }

    @Test("GAP/PRIV/CONN/BV-11: a central changes its address and connects again", arguments: PrivacyMode.allCases)
    func aCentralChangesItsAddressAndConnectsAgain(mode: PrivacyMode) throws {
        let (pair, first, second) = try reconnect(mode)
        let shown = [first, second].compactMap(\.own)
        #expect(Set(shown).count == 2)
        #expect(shown.allSatisfy { pair.other.isOwn($0) })
    }

    @Test("GAP/PRIV/CONN/BV-12: an unresolvable address belongs to a stranger", arguments: PrivacyMode.allCases)
    func anAddressThatNobodyKnowsIsAStrangers(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode)
        let stranger = pair.world.privateDevice(mode)
        let role = Peripheral(pair.device.access)
        role.enter(Self.undirected)
        let shown = try #require(try stranger.hear().first)
        #expect(!shown.isResolved)
        #expect(pair.device.isOwn(shown.address))
        let central = Central(stranger.access)
        var link: AccessLink?
        central.connect(to: shown.address, within: .seconds(10)) { link = try? $0.get() }
        pair.world.run(for: .seconds(12)) { link != nil && !pair.device.links.isEmpty }
        let theirs = try #require(pair.device.links.first)
        #expect(stranger.isOwn(theirs.peer))
        #expect(theirs.secureLink.bond == nil)
        #expect(link?.peer == shown.address)
        #expect(link?.secureLink.bond == nil)
    }

    /// A device with an earlier address of the central of a bonded pair.
    private func impostor(of pair: PrivatePair) throws -> GAPDevice {
        try connect(pair, Self.undirected, Self.direct).terminate()
        pair.world.run(.seconds(1))
        let stolen = try #require(pair.watch.of(pair.other.node, .initiating).last?.own)
        pair.world.run(GAPTimer.privateAddressInterval + .seconds(1))
        return pair.world.device(.fixed(stolen))
    }

    /// Lets a device advertise and the impostor connect to it.
    private func connect(_ impostor: GAPDevice, to device: GAPDevice, _ pair: PrivatePair) throws {
        let since = pair.world.loop.now
        let role = Peripheral(device.access)
        role.enter(Self.undirected)
        pair.world.run(.seconds(1))
        let shown = try #require(pair.watch.of(device.node, .advertising).last { $0.time >= since }?.own)
        let central = Central(impostor.access)
        central.connect(to: shown, within: .seconds(10)) { _ in }
        pair.world.run(for: .seconds(12)) { !impostor.links.isEmpty }
        pair.world.run(.seconds(1))
        #expect(impostor.links.count == 1)
    }

    /// A replayed address of a connected peer gains neither the peer's identity nor its link.
    @Test("AB-G03: a device that replays the address of a connected peer is refused", arguments: PrivacyMode.allCases)
    func replayedAddressesOfConnectedPeersAreRefused(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode)
        let impostor = try impostor(of: pair)
        _ = try connect(pair, Self.undirected, Self.direct)
        pair.world.run(.seconds(1))
        let real = try #require(pair.device.access.links.first)
        let ends = pair.device.endReasons.count
        #expect(real.secureLink.linkSecurity.isEncrypted)
        try connect(impostor, to: pair.device, pair)
        #expect(impostor.endReasons.count == 1)
        #expect(pair.device.access.links.count == 1)
        #expect(pair.device.access.links.first === real)
        #expect(real.secureLink.linkSecurity.isEncrypted)
        #expect(pair.device.endReasons.count == ends)
    }

    /// A controller that resolves addresses itself, and always shows the same one, prevents a second link with one
    /// identity (Core Vol 6 Part B 1.1.1). The host is not involved there.
    @Test(
        "AB-G03: a device that replays a peer's address does not keep the peer out",
        arguments: PrivacyMode.allCases.filter { $0 != .controllerLegacy }
    )
    func replayedAddressesDoNotBlockThePeer(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode)
        let impostor = try impostor(of: pair)
        try connect(impostor, to: pair.device, pair)
        #expect(pair.device.access.links.count == 1)
        #expect(impostor.endReasons.isEmpty)
        let link = try #require(pair.device.access.links.first)
        #expect(link.peer == pair.other.identity.address)
        #expect(!link.secureLink.linkSecurity.isEncrypted)
        let role = Peripheral(pair.device.access)
        role.enter(Self.undirected)
        let central = Central(pair.other.access)
        central.connect(to: pair.device.identity.address, within: .seconds(10)) { _ in }
        pair.world.run(for: .seconds(12)) { !impostor.endReasons.isEmpty }
        pair.world.run(.seconds(1))
        #expect(pair.device.access.links.count == 1)
        #expect(pair.device.access.links.first !== link)
        #expect(pair.device.access.links.first?.secureLink.linkSecurity.isEncrypted == true)
        #expect(pair.other.access.links.first?.secureLink.linkSecurity.isEncrypted == true)
    }

    /// A device that replays a bonded device's address may connect like any other. It appears under the bonded device's
    /// name, but has no key.
    @Test("AB-G03: a replayed address proves nothing", arguments: PrivacyMode.allCases)
    func aRepeatedAddressIsNoProof(mode: PrivacyMode) throws {
        let pair = try PrivatePair(mode)
        let role = Peripheral(pair.device.access)
        role.enter(Self.undirected)
        pair.world.run(.seconds(1))
        let stolen = try #require(pair.watch.of(pair.device.node, .advertising).first?.own)
        role.leave()
        let impostor = pair.world.device(.fixed(stolen))
        let trap = Peripheral(impostor.access)
        trap.enter(Self.undirected)
        let central = Central(pair.other.access)
        var link: AccessLink?
        central.connect(to: pair.device.identity.address, within: .seconds(10)) { link = try? $0.get() }
        pair.world.run(for: .seconds(12)) { link != nil }
        let made = try #require(link)
        #expect(made.peer == pair.device.identity.address)
        pair.world.run(.seconds(1))
        #expect(impostor.links.count == 1)
        #expect(!made.connection.isEncrypted)
        #expect(!made.secureLink.linkSecurity.isEncrypted)
    }
}
