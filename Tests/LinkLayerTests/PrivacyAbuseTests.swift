import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Radio
import Testing

@testable import LinkLayer

/// Who records what a private device says, and says it again.
@Suite struct PrivacyAbuseTests {
    /// An advertiser that answers one peer alone, and what was on the air while that peer asked it.
    private final class Recording {
        let world = World()
        let advertiser: TestHost
        let friend: TestHost
        let log: AirLog
        /// The address of the advertiser and that of the peer, at the time.
        let advertiserThen: BluetoothAddress
        let friendThen: BluetoothAddress
        private var responses = 0
        // What they have begun ends later.
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
            // Both have other addresses now.
            world.run(.seconds(5))
        }

        /// Whether the advertiser answers a request that somebody else sends.
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

    /// What policy says: an address that a key has made is the peer's, however old it is, for an advertiser cannot know
    /// when it was made. So a replay is answered while the peer is on the accept list, and not otherwise; by this, who
    /// has recorded the peer learns that the advertiser knows it. Nothing else is answered.
    @Test("AB-L11: a recorded request is answered by policy only")
    func aRecordedRequestIsAnsweredByPolicyOnly() throws {
        let recording = try Recording()
        let now = recording.advertiser.controller.advertiser.set.ownAddress
        let bonded = recording.friend.address
        #expect(now != recording.advertiserThen)
        // The request as it was recorded: nobody has that address any more.
        #expect(!recording.isAnswered(recording.advertiserThen, as: recording.friendThen))
        #expect(recording.isAnswered(now, as: recording.friendThen))
        // The attacker's own address, the peer's identity, and that of the advertiser.
        #expect(!recording.isAnswered(now, as: BluetoothAddress(0xBAD, kind: .publicDevice)))
        #expect(!recording.isAnswered(now, as: bonded))
        #expect(!recording.isAnswered(recording.advertiser.address, as: recording.friendThen))
        #expect(!recording.isAnswered(recording.advertiser.address, as: bonded))
        // Private addresses that the attacker makes up.
        for number in 0..<UInt64(16) {
            let made = RotatingAddress(
                Key128(Block128(high: 0xBAD, low: number)),
                .init(now: .zero, timeout: .seconds(1), random: RandomSource(seed: number))
            ).address
            #expect(!recording.isAnswered(now, as: made))
        }
    }

    @Test("AB-L11: without the peer a recorded request gets no answer")
    func withoutThePeerThereIsNoAnswer() throws {
        let recording = try Recording()
        recording.advertiser.stopAdvertising(.legacy)
        recording.advertiser.send(LERemoveDeviceFromResolvingList(peerIdentity: recording.friend.address))
        let stranger = BluetoothAddress(0x99, kind: .publicDevice)
        recording.advertiser.list(stranger, key: .zero, localKey: recording.advertiser.identityKey)
        recording.advertiser.advertise(.legacy, peer: stranger, policy: .acceptListOnly)
        recording.world.run(.milliseconds(100))
        let now = recording.advertiser.controller.advertiser.set.ownAddress
        #expect(!recording.log.advertisers.contains(recording.advertiser.address))
        #expect(!recording.isAnswered(now, as: recording.friendThen))
    }

    /// Requests with ever other addresses, to ever other addresses: each is looked for once, the oldest are forgotten, and the
    /// peers are found among them all the same.
    @Test("AB-L11: made-up private addresses are forgotten")
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
            #expect(sender == .stranger && !isOwn)
            #expect(list.remembered == (min(count, limit), min(count, limit)))
        }
        // Four keys of peers and one own key for each.
        #expect(list.attempts == 3 * limit * 5)
        for _ in 1...2 {
            let (sender, isOwn) = (list.sender(friend), list.isOwn(own))
            #expect(sender == .peer(peers[2].0) && isOwn)
        }
        #expect(list.attempts == 3 * limit * 5 + 4 && list.remembered == (limit, limit))
        // Whose they are changes with the list.
        let isRemoved = list.remove(peers[2].0)
        #expect(isRemoved && list.remembered == (0, 0))
        let sender = list.sender(friend)
        #expect(sender == .stranger)
    }

    /// The same over the air: what the controller keeps of who asked it is bounded, and its own peer is answered.
    @Test("AB-L11: a flood of made-up requests leaves nothing behind")
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
            attacker.ask(controller.advertiser.set.ownAddress, as: made)
            for _ in 0..<40 where attacker.requests == requests { recording.world.run(.milliseconds(5)) }
            recording.world.run(.milliseconds(1))
            if number == 100 { #expect(controller.privacy.list.remembered.senders > before + 80) }
        }
        attacker.node.sleep()
        (attacker.node.onFrame, attacker.node.onSent) = (nil, nil)
        #expect(attacker.requests >= count && controller.privacy.list.remembered.senders == limit)
        #expect(recording.isAnswered(controller.advertiser.set.ownAddress, as: recording.friendThen))
    }

    /// A set that was connected to goes; the others stay hidden.
    @Test("AB-G04: a link of one set does not uncover the others")
    func aLinkOfOneSetDoesNotUncoverTheOthers() throws {
        let world = World()
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
        #expect(ended.handle == event.handle && log.advertisers.count == 2)
        #expect(log.advertisers.contains(event.localResolvableAddress))
        let remaining = try #require(log.advertisers.first { $0 != event.localResolvableAddress })
        log.forget()
        world.run(.seconds(2))
        #expect(log.advertisers == [remaining] && log.initiators.isEmpty)
    }
}
