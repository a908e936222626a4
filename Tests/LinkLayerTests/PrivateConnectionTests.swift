import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Privacy in the initiating state (Core Vol 6 Part B 6.4), and which devices may connect to an advertiser (6.2).
@Suite struct PrivateConnectionTests {
    private let world = LinkLayerWorld()
    private let central: TestHost
    private let peripheral: TestHost
    private let log: AirLog

    init() {
        (central, peripheral) = (world.host(), world.host(at: 1))
        log = AirLog(world)
    }

    /// Each command set with each privacy mode, which applies whether or not addresses are resolved (4.7).
    private static let modes = CommandSet.allCases.flatMap { commands in
        [LEPrivacyMode.network, .device].map { (commands, $0) }
    }

    private static let none = BluetoothAddress(0, kind: .randomDevice)

    /// Puts each end on the other's resolving list.
    private func befriend(hides: Bool = true) {
        central.befriend(peripheral, hides: hides)
        peripheral.befriend(central, hides: hides)
    }

    // MARK: Events

    @Test(arguments: CommandSet.allCases, [true, false])
    func bothAreToldWhoTheOtherIs(commands: CommandSet, isDirected: Bool) throws {
        befriend()
        peripheral.advertise(commands, peer: central.address, isDirected: isDirected)
        #expect(central.connect(commands, to: peripheral.address) == .success)
        world.run(.seconds(2))
        let ours = try #require(central.connections.first)
        let theirs = try #require(peripheral.connections.first)
        #expect(ours.status == .success)
        #expect(theirs.status == .success)
        #expect(ours.peerAddress == peripheral.address.identity)
        #expect(theirs.peerAddress == central.address.identity)
        #expect(ours.localResolvableAddress == theirs.peerResolvableAddress)
        #expect(ours.peerResolvableAddress == theirs.localResolvableAddress)
        #expect(ours.localResolvableAddress.isMade(with: central.identityKey))
        #expect(theirs.localResolvableAddress.isMade(with: peripheral.identityKey))
        #expect(log.all.isDisjoint(with: [central.address, peripheral.address]))
        #expect(log.initiators == [ours.localResolvableAddress])
        central.send([3, 0, 4, 0, 1, 2, 3], on: ours.handle)
        world.run(.seconds(1))
        #expect(peripheral.data.map(\.payload) == [[3, 0, 4, 0, 1, 2, 3]])
    }

    @Test(arguments: CommandSet.allCases)
    func publicDevicesHaveNoPrivateAddress(commands: CommandSet) throws {
        peripheral.advertise(commands, as: .publicDevice)
        central.connect(commands, to: peripheral.address, as: .publicDevice)
        world.run(.seconds(1))
        for event in try [#require(central.connections.first), #require(peripheral.connections.first)] {
            #expect(event.peerAddress.kind == .publicDevice)
            #expect(event.localResolvableAddress == Self.none)
            #expect(event.peerResolvableAddress == Self.none)
        }
    }

    @Test(arguments: CommandSet.allCases)
    func oneSideMayHideAlone(commands: CommandSet) throws {
        // The central has given no key, and is not private.
        central.befriend(peripheral, hides: false)
        peripheral.befriend(central, hasKey: false)
        peripheral.advertise(commands, peer: central.address)
        central.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        let ours = try #require(central.connections.first)
        let theirs = try #require(peripheral.connections.first)
        #expect(ours.peerAddress == peripheral.address.identity)
        #expect(ours.localResolvableAddress == Self.none)
        #expect(theirs.peerAddress == central.address)
        #expect(theirs.peerResolvableAddress == Self.none)
        #expect(ours.peerResolvableAddress == theirs.localResolvableAddress)
        #expect(log.initiators == [central.address])
    }

    /// The plain event has no field for identities.
    @Test func thePlainEventTellsTheAddressOnTheAir() throws {
        befriend()
        let mask = LEEventMask.initial
        for host in [central, peripheral] { host.send(LESetEventMask(mask: mask)) }
        peripheral.advertise(.legacy, peer: central.address)
        central.connect(.legacy, to: peripheral.address)
        world.run(.seconds(1))
        #expect(central.events(LEConnectionComplete.self).map(\.peerAddress) == log.advertisers)
        #expect(peripheral.events(LEConnectionComplete.self).map(\.peerAddress) == log.initiators)
    }

    // MARK: Peer selection

    @Test(arguments: CommandSet.allCases, [true, false])
    func theAcceptListHoldsIdentities(commands: CommandSet, isAccepted: Bool) throws {
        befriend()
        let stranger = world.host(at: 2)
        stranger.befriend(central)
        central.send(LEAddDeviceToFilterAcceptList(address: isAccepted ? peripheral.address : stranger.address))
        peripheral.advertise(commands, peer: central.address)
        stranger.advertise(commands, peer: central.address)
        central.connect(commands, to: nil)
        world.run(.seconds(2))
        // The stranger is on the accept list, but neither end has its key.
        #expect(central.connections.map(\.peerAddress) == (isAccepted ? [peripheral.address.identity] : []))
        #expect(stranger.connections.isEmpty)
    }

    @Test(
        "AB-L11: an advertiser that shows an identity it should hide is not connected to",
        arguments: modes,
        [true, false]
    )
    func anAdvertiserThatShouldHideIsNotConnectedTo(_ set: (CommandSet, LEPrivacyMode), isResolving: Bool) {
        let (commands, mode) = set
        central.list(peripheral)
        central.mode(mode, for: peripheral)
        central.resolve(isResolving)
        peripheral.advertise(commands, as: .publicDevice)
        central.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        #expect(central.connections.map(\.peerAddress) == (mode == .network ? [] : [peripheral.address]))
        #expect(log.initiators.isEmpty == (mode == .network))
    }

    @Test(
        "AB-L11: an initiator that shows an identity it should hide does not connect",
        arguments: modes,
        [true, false]
    )
    func anInitiatorThatShouldHideDoesNotConnect(_ set: (CommandSet, LEPrivacyMode), isResolving: Bool) {
        let (commands, mode) = set
        peripheral.list(central)
        peripheral.mode(mode, for: central)
        peripheral.resolve(isResolving)
        peripheral.advertise(commands, as: .publicDevice)
        central.connect(commands, to: peripheral.address, as: .publicDevice)
        world.run(.seconds(1))
        #expect(peripheral.connections.map(\.peerAddress) == (mode == .network ? [] : [central.address]))
        #expect(!log.initiators.isEmpty)
    }

    @Test(
        "AB-L11: a private advertiser accepts devices on its accept list",
        arguments: CommandSet.allCases,
        [true, false]
    )
    func anAdvertiserTakesThoseItKnows(commands: CommandSet, isKnown: Bool) {
        befriend()
        let stranger = world.host(at: 2)
        stranger.befriend(peripheral)
        peripheral.send(LEAddDeviceToFilterAcceptList(address: central.address))
        peripheral.advertise(commands, peer: central.address, policy: .connectFromAcceptList)
        (isKnown ? central : stranger).connect(commands, to: peripheral.address)
        world.run(.seconds(2))
        #expect(peripheral.connections.map(\.peerAddress) == (isKnown ? [central.address.identity] : []))
    }

    /// Without a filter policy, a device with an unresolvable address may connect, and remains unidentified.
    @Test(arguments: CommandSet.allCases)
    func unresolvedInitiatorsStayUnidentified(commands: CommandSet) throws {
        central.befriend(peripheral)
        peripheral.resolve()
        peripheral.list(BluetoothAddress(0x77, kind: .publicDevice), key: central.identityKey, localKey: .zero)
        let stranger = world.host(at: 2)
        stranger.befriend(peripheral)
        peripheral.advertise(commands, as: .publicDevice)
        stranger.mode(.device, for: peripheral)
        stranger.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        let event = try #require(peripheral.connections.first)
        #expect(event.peerAddress.kind == .randomDevice)
        #expect(event.peerResolvableAddress == Self.none)
        #expect(event.peerAddress.isMade(with: stranger.identityKey))
    }

    /// A peer given by its identity matches only its private address (Core Vol 4 Part E 7.8.12).
    @Test(arguments: CommandSet.allCases, [true, false])
    func aPeerMayBeNamedByItsIdentity(commands: CommandSet, isPrivate: Bool) {
        befriend()
        central.resolve(true)
        central.mode(.device, for: peripheral)
        peripheral.advertise(commands, as: isPrivate ? .resolvableOrPublic : .publicDevice, peer: central.address)
        #expect(central.connect(commands, to: peripheral.address.identity) == .success)
        world.run(.seconds(1))
        #expect(central.connections.map(\.status) == (isPrivate ? [.success] : []))
    }

    @Test(arguments: CommandSet.allCases)
    func anOlderControllerKnowsNoIdentities(commands: CommandSet) {
        let older = world.host(at: 2) { $0.features.remove(.privacy) }
        #expect(older.connect(commands, to: peripheral.address.identity, as: .publicDevice) == .invalidParameters)
        #expect(older.connect(commands, to: peripheral.address) == .unsupportedFeatureOrParameter)
        #expect(older.advertise(commands) == .unsupportedFeatureOrParameter)
        #expect(older.scan(commands, as: .resolvableOrRandom) == .unsupportedFeatureOrParameter)
    }

    /// A host that resolves addresses itself passes the address it has received.
    @Test(arguments: CommandSet.allCases)
    func aPeerMayBeNamedByItsPrivateAddress(commands: CommandSet) throws {
        befriend()
        peripheral.advertise(commands, peer: central.address)
        world.run(.seconds(1))
        let address: BluetoothAddress = try #require(log.advertisers.first)
        central.connect(commands, to: address)
        world.run(.seconds(1))
        #expect(central.connections.map(\.peerAddress) == [peripheral.address.identity])
    }

    // MARK: Own addresses

    @Test(arguments: CommandSet.allCases)
    func anInitiatorNeedsAnAddress(commands: CommandSet) {
        let peer = peripheral.address
        #expect(central.connect(commands, to: peer, as: .resolvableOrRandom) == .invalidParameters)
        central.list(peripheral, hides: false)
        #expect(central.connect(commands, to: peer, as: .resolvableOrRandom) == .invalidParameters)
        central.send(LERemoveDeviceFromResolvingList(peerIdentity: peer))
        central.list(peripheral)
        #expect(central.connect(commands, to: peer, as: .resolvableOrRandom) == .success)
    }

    @Test(arguments: CommandSet.allCases)
    func theAcceptListMayHoldThoseWithoutAKey(commands: CommandSet) {
        // The central has set no random address, so it has no address to use towards the stranger.
        let stranger = world.host(at: 2)
        befriend()
        central.send(LEAddDeviceToFilterAcceptList(address: stranger.address))
        central.send(LEAddDeviceToFilterAcceptList(address: peripheral.address))
        stranger.advertise(commands, as: .publicDevice)
        #expect(central.connect(commands, to: nil, as: .resolvableOrRandom) == .success)
        world.run(.seconds(1))
        #expect(central.connections.isEmpty)
        #expect(log.initiators.isEmpty)
        peripheral.advertise(commands, peer: central.address)
        world.run(.seconds(1))
        #expect(central.connections.map(\.peerAddress) == [peripheral.address.identity])
    }

    @Test(arguments: CommandSet.allCases)
    func networkPrivacyIgnoresTheIdentityAddress(commands: CommandSet) {
        // The advertiser reveals its target: an answer would confirm the identity.
        central.befriend(peripheral)
        peripheral.list(central, hasKey: false)
        peripheral.advertise(commands, peer: central.address, isDirected: true)
        central.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        #expect(log.targets == [central.address])
        #expect(log.initiators.isEmpty)
        #expect(central.connections.isEmpty)
    }

    @Test(arguments: CommandSet.allCases)
    func devicePrivacyAnswersToTheIdentityAddress(commands: CommandSet) {
        central.befriend(peripheral, hides: false)
        peripheral.befriend(central, hasKey: false)
        peripheral.advertise(commands, peer: central.address, isDirected: true)
        central.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        #expect(central.connections.map(\.status) == [.success])
        #expect(peripheral.connections.map(\.peerAddress) == [central.address])
    }

    /// ADV_DIRECT_IND for another private address, and for one that cannot be resolved.
    @Test(arguments: CommandSet.allCases, [true, false])
    func otherTargetsAreNotAnswered(commands: CommandSet, isResolving: Bool) {
        let other = world.host(at: 2)
        central.list(peripheral)
        central.resolve(isResolving)
        peripheral.list(other)
        peripheral.list(central)
        peripheral.advertise(commands, peer: isResolving ? other.address : central.address, isDirected: true)
        central.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        #expect(log.initiators.isEmpty)
        #expect(central.connections.isEmpty)
    }

    @Test(arguments: CommandSet.allCases)
    func aDirectedAdvertiserTakesItsTargetAlone(commands: CommandSet) {
        befriend()
        let stranger = world.host(at: 2)
        peripheral.list(stranger)
        // The stranger has obtained the central's keys, but uses its own address.
        stranger.list(peripheral.address, key: peripheral.identityKey, localKey: central.identityKey)
        stranger.resolve()
        peripheral.advertise(commands, peer: stranger.address, isDirected: true)
        central.connect(commands, to: peripheral.address)
        stranger.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        #expect(peripheral.connections.isEmpty)
        #expect(central.connections.isEmpty)
    }

    // MARK: A second link to the same device

    @Test(arguments: CommandSet.allCases, [OwnAddressKind.resolvableOrPublic, .resolvableOrRandom])
    func aSecondLinkToTheSamePeerIsNone(commands: CommandSet, own: OwnAddressKind) {
        befriend()
        central.setRandomAddress(0x4000_0000_0001)
        for host in [central, peripheral] { host.send(LESetResolvablePrivateAddressTimeout(timeout: 1)) }
        peripheral.advertise(commands, peer: central.address)
        central.connect(commands, to: peripheral.address, as: own)
        world.run(.seconds(3))
        #expect(central.connections.count == 1)
        // A host may use other addresses beside those that the controller generates.
        central.setRandomAddress(0x4000_0000_0002)
        #expect(central.connect(commands, to: peripheral.address, as: own) == .connectionAlreadyExists)
        peripheral.advertise(commands, peer: central.address)
        // With the accept list the command succeeds, but no connection results, whatever the addresses.
        central.send(LEAddDeviceToFilterAcceptList(address: peripheral.address))
        #expect(central.connect(commands, to: nil, as: own) == .success)
        world.run(.seconds(5))
        #expect(central.connections.count == 1)
        #expect(peripheral.connections.count == 1)
        #expect(
            peripheral.advertise(commands, peer: central.address, isDirected: true)
                == .commandDisallowed
        )
        peripheral.stopAdvertising(commands)
        #expect(
            peripheral.advertise(commands, peer: central.address, isDirected: true) == .connectionAlreadyExists
        )
    }

    @Test("AB-G04: private addresses change during a link", arguments: CommandSet.allCases)
    func addressesChangeBesideALink(commands: CommandSet) {
        befriend()
        let other = world.host(at: 2)
        peripheral.send(LESetResolvablePrivateAddressTimeout(timeout: 3_600))
        peripheral.stopAdvertising(commands)
        peripheral.resolve(false)
        peripheral.list(other)
        peripheral.resolve()
        for host in [central, peripheral] { host.send(LESetResolvablePrivateAddressTimeout(timeout: 2)) }
        peripheral.advertise(commands, peer: central.address)
        central.connect(commands, to: peripheral.address)
        world.run(.seconds(1))
        #expect(central.connections.count == 1)
        log.forget()
        peripheral.advertise(commands, peer: other.address)
        peripheral.scan(commands, .active, as: .resolvableOrPublic)
        central.scan(commands, .active, as: .resolvableOrPublic)
        world.run(.seconds(11))
        #expect(log.advertisers.count == 6)
        #expect(log.all.isDisjoint(with: [central.address, peripheral.address]))
        for time in log.times.values { #expect(time.last - time.first <= .seconds(2)) }
        #expect(central.events(DisconnectionComplete.self).isEmpty)
    }

    // MARK: Determinism

    @Test(arguments: CommandSet.allCases)
    func theSameSeedGivesTheSameBytes(commands: CommandSet) {
        func run(seed: UInt64) -> [[UInt8]] {
            let world = LinkLayerWorld(seed: seed)
            let (central, peripheral, scanner) = (world.host(), world.host(at: 1), world.host(at: 2))
            let log = AirLog(world)
            for (one, other) in [(central, peripheral), (peripheral, central), (scanner, peripheral)] {
                one.befriend(other)
                one.send(LESetResolvablePrivateAddressTimeout(timeout: 1))
            }
            scanner.scan(commands, .active, as: .resolvableOrPublic)
            peripheral.advertise(commands, peer: central.address)
            world.run(.seconds(3))
            central.connect(commands, to: peripheral.address)
            world.run(.seconds(3))
            return log.frames
        }
        let first = run(seed: 7)
        #expect(first.count > 300)
        #expect(first == run(seed: 7))
        #expect(first != run(seed: 8))
    }
}
