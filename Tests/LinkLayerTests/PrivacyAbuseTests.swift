import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Attackers that record a private device's PDUs and replay them.
@Suite struct PrivacyAbuseTests {
    /// An advertiser that answers a single peer, and the recorded exchange with that peer.
    private final class Recording {
        let world = LinkLayerWorld()
        let advertiser: TestHost
        let friend: TestHost
        let log: AirLog
        /// The addresses of the advertiser and of the peer at the time of the recording.
        let advertiserThen: BluetoothAddress
        let friendThen: BluetoothAddress
        private var responses = 0
        // Keeps the attackers alive, since their scheduled work ends later.
        private var attackers: [Attacker] = []

        init() throws {
            (advertiser, friend) = (world.host(), world.host(at: 1))
            log = AirLog(world)
            advertiser.befriend(friend)
            friend.befriend(advertiser)
            for host in [advertiser, friend] { host.send(LESetResolvablePrivateAddressTimeout(timeout: 5)) }
            advertiser.send(LEAddDeviceToFilterAcceptList(address: friend.address))
            advertiser.send(LESetScanResponseData(data: [2, 9, 65]))
            advertiser.advertise(.legacy, peer: friend.address, policy: .acceptListOnly)
            friend.scan(.legacy, .active, as: .resolvableOrPublic)
            world.run(.seconds(2))
            friend.stopScanning(.legacy)
            advertiserThen = try #require(log.advertisers.first)
            friendThen = try #require(log.scanners.first)
            // Both have new addresses now.
            world.run(.seconds(5))
        }

        /// Returns whether the advertiser answers a request from another device.
        func isAnswered(_ target: BluetoothAddress, as scanner: BluetoothAddress) -> Bool {
            responses = 0
            world.sniff { [unowned self] sniffed in
                if (sniffed.frame.pdu.first ?? 0) & 0x0F == 4 { responses += 1 }
            }
            let attacker = Attacker(world)
            attackers.append(attacker)
            attacker.ask(target, as: scanner)
            world.run(.milliseconds(500))
            attacker.node.sleep()
            attacker.node.onFrame = nil
            attacker.node.onSent = nil
            return responses > 0
        }
    }

    /// The policy: a private address generated with a peer's key belongs to that peer, however old it is, because the
    /// advertiser cannot know when it was generated. A replay is therefore answered while the peer is on the accept
    /// list, and only then; an attacker that recorded the peer thus learns that the advertiser knows it. Nothing else
    /// is answered.
    @Test("AB-L11: whether a replayed request is answered depends on the policy alone")
    func aRecordedRequestIsAnsweredByPolicyOnly() throws {
        let recording = try Recording()
        let now = recording.advertiser.controller.advertiser.set.air.own
        let bonded = recording.friend.address
        #expect(now != recording.advertiserThen)
        // The request as recorded: no device uses that address any more.
        #expect(!recording.isAnswered(recording.advertiserThen, as: recording.friendThen))
        #expect(recording.isAnswered(now, as: recording.friendThen))
        // The attacker's own address, the peer's identity, and that of the advertiser.
        #expect(!recording.isAnswered(now, as: BluetoothAddress(0xBAD, kind: .publicDevice)))
        #expect(!recording.isAnswered(now, as: bonded))
        #expect(!recording.isAnswered(recording.advertiser.address, as: recording.friendThen))
        #expect(!recording.isAnswered(recording.advertiser.address, as: bonded))
        // Private addresses that the attacker generates.
        for number in 0..<UInt64(16) {
            let made = RotatingAddress(
                Key128(Block128(high: 0xBAD, low: number)),
                .init(now: .zero, timeout: .seconds(1), random: RandomSource(seed: number))
            ).address
            #expect(!recording.isAnswered(now, as: made))
        }
    }

    @Test("AB-L11: a replayed request is not answered once the peer is removed")
    func withoutThePeerThereIsNoAnswer() throws {
        let recording = try Recording()
        recording.advertiser.stopAdvertising(.legacy)
        recording.advertiser.send(LERemoveDeviceFromResolvingList(peerIdentity: recording.friend.address))
        let stranger = BluetoothAddress(0x99, kind: .publicDevice)
        recording.advertiser.list(stranger, key: .zero, localKey: recording.advertiser.identityKey)
        recording.advertiser.advertise(.legacy, peer: stranger, policy: .acceptListOnly)
        recording.world.run(.milliseconds(100))
        let now = recording.advertiser.controller.advertiser.set.air.own
        #expect(!recording.log.advertisers.contains(recording.advertiser.address))
        #expect(!recording.isAnswered(now, as: recording.friendThen))
    }

    /// Requests with ever new addresses, to ever new addresses: each is resolved once, the oldest are evicted, and the
    /// peers are still found among them.
    @Test("AB-L11: made-up private addresses are evicted")
    func madeUpAddressesAreForgotten() throws {
        var list = ResolvingList(size: 4)
        let peers = (0..<UInt64(4)).map {
            (BluetoothAddress($0, kind: .publicDevice), Key128(Block128(high: 7, low: $0)))
        }
        for (peer, key) in peers { try list.add(peer, peerKey: key, localKey: Key128(Block128(high: 8, low: 0))) }
        let random = RandomSource(seed: 3)
        func made(_ key: Key128) -> BluetoothAddress {
            RotatingAddress(key, .init(now: .zero, timeout: .seconds(1), random: random)).address
        }
        let (friend, own) = (made(peers[2].1), made(Key128(Block128(high: 8, low: 0))))
        let limit = AddressCache<Bool>.maximum
        for count in 1...(3 * limit) {
            let stranger = made(Key128(Block128(high: 9, low: UInt64(count))))
            let (sender, isOwn) = (list.sender(stranger), list.isOwn(stranger))
            #expect(sender == .stranger)
            #expect(!isOwn)
            #expect(list.remembered == (min(count, limit), min(count, limit)))
        }
        // Four peer keys, and one local key for each.
        #expect(list.attempts == 3 * limit * 5)
        for _ in 1...2 {
            let (sender, isOwn) = (list.sender(friend), list.isOwn(own))
            #expect(sender == .peer(peers[2].0) && isOwn)
        }
        #expect(list.attempts == 3 * limit * 5 + 4)
        #expect(list.remembered == (limit, limit))
        // A change of the list clears the cache.
        let isRemoved = list.remove(peers[2].0)
        #expect(isRemoved)
        #expect(list.remembered == (0, 0))
        let sender = list.sender(friend)
        #expect(sender == .stranger)
    }

    /// The same over the air: the state that the controller keeps about requesters is bounded, and its own peer is
    /// answered.
    @Test("AB-L11: a flood of made-up requests leaves no state behind")
    func aFloodOfMadeUpRequestsLeavesNothingBehind() throws {
        let recording = try Recording()
        let controller = recording.advertiser.controller
        let (attacker, random) = (Attacker(recording.world), RandomSource(seed: 4))
        let before = controller.privacy.list.remembered.senders
        let (count, limit) = (AddressCache<Bool>.maximum + 200, AddressCache<Bool>.maximum)
        for number in 0..<UInt64(count) {
            let key = Key128(Block128(high: 0xBAD, low: number))
            let made = RotatingAddress(key, .init(now: .zero, timeout: .seconds(1), random: random)).address
            let requests = attacker.requests
            attacker.ask(controller.advertiser.set.air.own, as: made)
            for _ in 0..<40 where attacker.requests == requests { recording.world.run(.milliseconds(5)) }
            recording.world.run(.milliseconds(1))
            if number == 100 { #expect(controller.privacy.list.remembered.senders > before + 80) }
        }
        attacker.node.sleep()
        (attacker.node.onFrame, attacker.node.onSent) = (nil, nil)
        #expect(attacker.requests >= count)
        #expect(controller.privacy.list.remembered.senders == limit)
        #expect(recording.isAnswered(controller.advertiser.set.air.own, as: recording.friendThen))
    }

    /// A set that accepted a connection ends; the others stay private.
    @Test("AB-G04: a link of one set does not reveal the others")
    func aLinkOfOneSetDoesNotUncoverTheOthers() throws {
        let world = LinkLayerWorld()
        let (central, peripheral, other) = (world.host(), world.host(at: 1), world.host(at: 2))
        let log = AirLog(world)
        peripheral.list(central)
        peripheral.befriend(other)
        central.befriend(peripheral)
        peripheral.advertise(.extended, peer: central.address, set: 0)
        peripheral.advertise(.extended, peer: other.address, set: 1)
        central.connect(.extended, to: peripheral.address)
        world.run(.seconds(2))
        let event = try #require(peripheral.connections.first)
        let ended = try #require(peripheral.events(LEAdvertisingSetTerminated.self).first)
        #expect(ended.handle == event.handle)
        #expect(log.advertisers.count == 2)
        #expect(log.advertisers.contains(event.localResolvableAddress))
        let remaining = try #require(log.advertisers.first { $0 != event.localResolvableAddress })
        log.forget()
        world.run(.seconds(2))
        #expect(log.advertisers == [remaining])
        #expect(log.initiators.isEmpty)
    }
}
