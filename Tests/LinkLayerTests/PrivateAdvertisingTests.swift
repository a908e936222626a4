import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Privacy in the advertising state (Core Vol 6 Part B 6.2).
@Suite struct PrivateAdvertisingTests {
    @Test(arguments: CommandSet.allCases, [OwnAddressKind.resolvableOrPublic, .resolvableOrRandom])
    func anAdvertiserHidesItsIdentity(commands: CommandSet, own: OwnAddressKind) throws {
        let (world, advertiser, peer) = LinkLayerWorld.withTwoHosts()
        let log = AirLog(world)
        advertiser.list(peer)
        // Address resolution need not be enabled (Core Vol 4 Part E 7.8.44), and no random address is needed.
        #expect(advertiser.advertise(commands, as: own, peer: peer.address) == .success)
        world.run(.seconds(10))
        let address = try #require(log.advertisers.first)
        #expect(log.all == [address])
        #expect(address.isMade(with: advertiser.identityKey))
        let read = try advertiser.read(LEReadLocalResolvableAddress(peerIdentity: peer.address))
        #expect(read.status == .success)
        #expect(read.address == address)
    }

    @Test(arguments: CommandSet.allCases)
    func withoutAKeyThereIsTheOtherAddress(commands: CommandSet) {
        let world = LinkLayerWorld()
        let (advertiser, peer, stranger) = (world.host(), world.host(at: 1), world.host(at: 2))
        let log = AirLog(world)
        advertiser.list(peer, hides: false)
        for other in [peer, stranger] {
            advertiser.advertise(commands, as: .resolvableOrPublic, peer: other.address)
            world.run(.seconds(1))
            #expect(log.all == [advertiser.address])
            advertiser.stopAdvertising(commands)
            // No random address has been set.
            #expect(
                advertiser.advertise(commands, as: .resolvableOrRandom, peer: other.address) == .invalidParameters
            )
        }
        log.forget()
        let random = BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)
        advertiser.send(LESetRandomAddress(address: random))
        if commands == .extended { advertiser.send(LESetAdvertisingSetRandomAddress(set: 0, address: random)) }
        #expect(advertiser.advertise(commands, as: .resolvableOrRandom, peer: peer.address) == .success)
        world.run(.seconds(1))
        #expect(log.all == [random])
    }

    @Test("AB-G04: an advertiser's address is not used past its lifetime", arguments: CommandSet.allCases)
    func anAddressIsNotUsedPastItsTime(commands: CommandSet) throws {
        let (world, advertiser, peer) = LinkLayerWorld.withTwoHosts()
        let log = AirLog(world)
        advertiser.list(peer)
        #expect(advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 10)) == .success)
        advertiser.advertise(commands, peer: peer.address)
        world.run(.seconds(61))
        #expect(log.advertisers.count == 7)
        #expect(log.advertisers.allSatisfy { $0.isMade(with: advertiser.identityKey) })
        #expect(log.targets.isEmpty)
        #expect(log.scanners.isEmpty)
        for time in log.times.values { #expect(time.last - time.first <= .seconds(10)) }
        let read = try advertiser.read(LEReadLocalResolvableAddress(peerIdentity: peer.address))
        #expect(read.address == log.advertisers.last)
        if commands == .extended {
            // With the old DID, an observer could link the new address to the same set.
            #expect(log.identifiers.count == 7)
        }
    }

    @Test func theTimeIs15MinutesAtFirst() {
        let (world, advertiser, peer) = LinkLayerWorld.withTwoHosts()
        let log = AirLog(world)
        advertiser.list(peer)
        advertiser.advertise(.legacy, peer: peer.address)
        world.run(.seconds(899))
        #expect(log.advertisers.count == 1)
        world.run(.seconds(2))
        #expect(log.advertisers.count == 2)
        // A new timeout also applies to the address in use.
        advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 1))
        world.run(.milliseconds(3_100))
        #expect(log.advertisers.count == 6)
        advertiser.send(Reset())
        advertiser.list(peer)
        advertiser.advertise(.legacy, peer: peer.address)
        log.forget()
        world.run(.seconds(100))
        #expect(log.advertisers.count == 1)
    }

    @Test func eachSetHasAnAddressOfItsOwn() throws {
        let world = LinkLayerWorld()
        let (advertiser, one, two) = (world.host(), world.host(at: 1), world.host(at: 2))
        let log = AirLog(world)
        advertiser.list(one)
        advertiser.list(two)
        advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 10))
        for set in 0..<UInt8(4) {
            advertiser.advertise(.extended, peer: set < 2 ? one.address : two.address, set: set)
        }
        advertiser.advertiseExtended([.legacy], set: 4) {
            ($0.ownAddressKind, $0.peerAddress) = (.resolvableOrPublic, one.address)
        }
        world.run(.seconds(5))
        #expect(log.advertisers.count == 5)
        world.run(.seconds(10))
        #expect(log.advertisers.count == 10)
        #expect(log.all.allSatisfy { $0.isMade(with: advertiser.identityKey) })
    }

    @Test(arguments: CommandSet.allCases, [OwnAddressKind.publicDevice, .resolvableOrPublic])
    func aDirectedAdvertisementHidesItsTarget(commands: CommandSet, own: OwnAddressKind) throws {
        let world = LinkLayerWorld()
        let (advertiser, peer, keyless) = (world.host(), world.host(at: 1), world.host(at: 2))
        let log = AirLog(world)
        advertiser.list(peer)
        advertiser.list(keyless, hasKey: false)
        advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 10))
        advertiser.advertise(commands, as: own, peer: peer.address, isDirected: true)
        world.run(.seconds(15))
        #expect(log.targets.count == 2)
        #expect(log.targets.allSatisfy { $0.isMade(with: peer.identityKey) })
        #expect(log.advertisers.count == (own == .publicDevice ? 1 : 2))
        advertiser.stopAdvertising(commands)
        log.forget()
        advertiser.advertise(commands, as: own, peer: keyless.address, isDirected: true)
        world.run(.seconds(15))
        #expect(log.targets == [keyless.address])
        #expect(log.advertisers.contains(advertiser.address) == (own == .publicDevice))
    }

    @Test func highDutyCycleIsPrivateToo() {
        let (world, advertiser, peer) = LinkLayerWorld.withTwoHosts()
        let log = AirLog(world)
        advertiser.list(peer)
        advertiser.send(
            LESetAdvertisingParameters.sending(
                .directedHighDutyCycle,
                interval: 0,
                own: .resolvableOrPublic,
                peer: peer.address
            )
        )
        advertiser.send(LESetAdvertisingEnable(isEnabled: true))
        world.run(.seconds(2))
        #expect(log.advertisers.count == 1)
        #expect(log.targets.count == 1)
        #expect(log.all.isDisjoint(with: [advertiser.address, peer.address]))
        let complete = advertiser.connections
        #expect(complete.map(\.status) == [.advertisingTimeout])
        #expect(complete.map(\.peerAddress) == [peer.address])
    }

    /// Removing a peer from the list while a set advertises does not reveal the identity.
    @Test("AB-G04: the resolving list may change while no address is resolved with it")
    func theListMayChangeWhileItIsNotResolvedWith() {
        let (world, advertiser, peer) = LinkLayerWorld.withTwoHosts()
        let log = AirLog(world)
        advertiser.list(peer)
        advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 10))
        advertiser.advertise(.legacy, peer: peer.address)
        world.run(.seconds(5))
        #expect(advertiser.send(LEClearResolvingList()) == .success)
        world.run(.seconds(20))
        #expect(log.advertisers.count == 3)
        #expect(!log.all.contains(advertiser.address))
    }
}
