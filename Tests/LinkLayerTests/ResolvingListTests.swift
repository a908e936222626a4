import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// The key of the specification's sample data (Core Vol 3 Part H D.7): 0x708194 gives the hash 0x0DFBAA.
private let sampleKey = Key128(Block128(high: 0xEC02_34A3_57C8_AD05, low: 0x3410_10A6_0A39_7D9B))
private let sampleAddress = BluetoothAddress(0x7081_940D_FBAA, kind: .randomDevice)

private let phone = BluetoothAddress(0xA1, kind: .publicDevice)
private let watch = BluetoothAddress(0xC000_0000_00A2, kind: .randomDevice)

func key(_ number: UInt64) -> Key128 { Key128(Block128(high: 0xFEED, low: number)) }

private func rules(at seconds: Int64 = 0, _ random: RandomSource = RandomSource(seed: 1)) -> RotatingAddress.Rules {
    .init(now: .zero + .seconds(seconds), timeout: .seconds(900), random: random)
}

/// A resolving list that can be queried within expectations.
private final class Subject {
    private var list: ResolvingList

    init(size: UInt8 = 3) { list = ResolvingList(size: size) }

    func add(_ peer: BluetoothAddress, _ peerKey: Key128, _ localKey: Key128) throws(ResolvingList.Refusal) {
        try list.add(peer, peerKey: peerKey, localKey: localKey)
    }
    func remove(_ peer: BluetoothAddress) -> Bool { list.remove(peer) }
    func clear() { list.clear() }
    func set(_ mode: LEPrivacyMode, for peer: BluetoothAddress) -> Bool { list.set(mode, for: peer) }
    func sender(_ address: BluetoothAddress) -> ResolvingList.Sender { list.sender(address) }
    func isOwn(_ target: BluetoothAddress) -> Bool { list.isOwn(target) }
    func localAddress(towards peer: BluetoothAddress, _ rules: RotatingAddress.Rules) -> BluetoothAddress? {
        list.localAddress(towards: peer, rules)
    }
    func usedAddress(towards peer: BluetoothAddress) -> BluetoothAddress? { list.usedAddress(towards: peer) }
    func seenAddress(of peer: BluetoothAddress) -> BluetoothAddress? { list.seenAddress(of: peer) }
    func key(of peer: BluetoothAddress) -> Key128? { list.key(of: peer) }
    func localKey(towards peer: BluetoothAddress) -> Key128? { list.localKey(towards: peer) }
    var attempts: Int { list.attempts }
}

@Suite struct ResolvingListTests {
    private let list = Subject()

    @Test func theSampleAddressIsResolved() throws {
        #expect(sampleAddress.isMade(with: sampleKey))
        try list.add(phone, sampleKey, .zero)
        #expect(list.sender(sampleAddress) == .peer(phone))
        #expect(list.seenAddress(of: phone) == sampleAddress)
        for bit in 0..<48 {
            let other = BluetoothAddress(sampleAddress.value ^ 1 << UInt64(bit), kind: .randomDevice)
            #expect(list.sender(other) == .stranger, "bit \(bit)")
        }
        // The same bits as a public address are not a private address.
        #expect(list.sender(BluetoothAddress(sampleAddress.value, kind: .publicDevice)) == .stranger)
    }

    @Test func addressesOfTheOwnMakingAreResolvable() {
        let random = RandomSource(seed: 2)
        for number in 0..<UInt64(200) {
            let address = RotatingAddress(key(number), rules(at: 0, random)).address
            #expect(address.randomKind == .resolvable)
            #expect(address.isMade(with: key(number)))
            let part = address.value >> 24 & 0x3F_FFFF
            #expect(part != 0)
            #expect(part != 0x3F_FFFF)
        }
    }

    @Test func anAddressIsReplacedWhenItsTimeIsOver() {
        let random = RandomSource(seed: 3)
        var address = RotatingAddress(key(1), rules(at: 0, random))
        let first = address.address
        #expect(address.current(rules(at: 899, random)) == first)
        let second = address.current(rules(at: 900, random))
        #expect(second != first)
        #expect(second.isMade(with: key(1)))
        #expect(address.current(rules(at: 1_799, random)) == second)
        #expect(address.current(rules(at: 10_000, random)) != second)
    }

    @Test func aFullListTakesNobody() throws {
        for number in 0..<UInt64(3) {
            try list.add(BluetoothAddress(number, kind: .publicDevice), key(number), .zero)
        }
        #expect(throws: ResolvingList.Refusal.full) { try list.add(phone, key(9), .zero) }
        #expect(list.remove(BluetoothAddress(1, kind: .publicDevice)))
        try list.add(phone, key(9), .zero)
    }

    @Test func duplicateEntriesAreRefused() throws {
        try list.add(phone, key(1), key(7))
        #expect(throws: ResolvingList.Refusal.known) { try list.add(phone, key(2), key(7)) }
        #expect(throws: ResolvingList.Refusal.known) { try list.add(watch, key(1), key(7)) }
        // Several peers may have none.
        try list.add(watch, .zero, key(7))
        try list.add(BluetoothAddress(phone.value, kind: .randomDevice), .zero, key(7))
    }

    @Test func aKeyOfZerosIsNone() throws {
        try list.add(phone, .zero, .zero)
        let address = RotatingAddress(.zero, rules()).address
        #expect(list.sender(address) == .stranger)
        #expect(!list.isOwn(address))
        #expect(list.localAddress(towards: phone, rules()) == nil)
        #expect(list.key(of: phone) == nil)
        #expect(list.localKey(towards: phone) == nil)
        // A peer without a key has no private address.
        #expect(list.sender(phone) == .stranger)
    }

    @Test("AB-L11: an identity that should be hidden counts as exposed")
    func anIdentityThatShouldBeHiddenIsExposed() throws {
        try list.add(phone, key(1), .zero)
        #expect(list.sender(phone) == .exposed)
        #expect(list.sender(phone.identity) == .exposed)
        #expect(list.sender(BluetoothAddress(phone.value, kind: .randomDevice)) == .stranger)
        #expect(list.set(.device, for: phone))
        #expect(list.sender(phone) == .stranger)
        #expect(!list.set(.device, for: watch))
    }

    @Test func removedEntriesAreNotResolved() throws {
        let address = RotatingAddress(key(1), rules()).address
        let own = RotatingAddress(key(2), rules()).address
        try list.add(phone, key(1), key(2))
        #expect(list.sender(address) == .peer(phone))
        #expect(list.isOwn(own))
        #expect(list.remove(phone))
        #expect(list.sender(address) == .stranger)
        #expect(!list.isOwn(own))
        #expect(!list.remove(phone))
        #expect(list.seenAddress(of: phone) == nil)
        try list.add(watch, key(1), key(2))
        #expect(list.sender(address) == .peer(watch))
        list.clear()
        #expect(list.sender(address) == .stranger)
    }

    @Test func newEntriesAreResolvedAtOnce() throws {
        let address = RotatingAddress(key(1), rules()).address
        try list.add(watch, key(5), .zero)
        #expect(list.sender(address) == .stranger)
        try list.add(phone, key(1), .zero)
        #expect(list.sender(address) == .peer(phone))
    }

    @Test func ownAddressesDifferFromPeerToPeer() throws {
        try list.add(phone, .zero, key(1))
        try list.add(watch, .zero, key(1))
        let random = RandomSource(seed: 4)
        let first = list.localAddress(towards: phone, rules(at: 0, random))
        let second = list.localAddress(towards: watch.identity, rules(at: 0, random))
        #expect(first != nil)
        #expect(second != nil)
        #expect(first != second)
        #expect(list.localAddress(towards: phone, rules(at: 899, random)) == first)
        #expect(list.usedAddress(towards: phone) == first)
        let third = list.localAddress(towards: phone, rules(at: 900, random))
        #expect(third != first)
        #expect(list.usedAddress(towards: phone) == third)
        #expect(list.usedAddress(towards: watch) == second)
    }

    /// The work grows with the number of new addresses only, not with the number of PDUs.
    @Test func anAddressCostsOnce() {
        let list = Subject(size: 32)
        for number in 0..<UInt64(32) {
            try? list.add(BluetoothAddress(number, kind: .publicDevice), key(number), key(99))
        }
        let random = RandomSource(seed: 5)
        let addresses = (0..<UInt64(1_000)).map { RotatingAddress(key(1_000 + $0), rules(at: 0, random)).address }
        for _ in 0..<10 {
            for address in addresses {
                _ = list.sender(address)
                _ = list.isOwn(address)
            }
        }
        // 32 peer keys and one local key, once for each address.
        #expect(list.attempts == 33_000)
    }

    @Test func theCacheIsBounded() {
        var cache = AddressCache<Int>()
        for number in 0..<10_000 { cache.remember(number, for: UInt64(number)) }
        cache.remember(1, for: 9_999)
        #expect(cache.finding(for: 9_999) == 1)
        #expect(cache.finding(for: 10_000 - UInt64(AddressCache<Int>.maximum)) != nil)
        #expect(cache.finding(for: 9_999 - UInt64(AddressCache<Int>.maximum)) == nil)
        cache.clear()
        #expect(cache.finding(for: 9_999) == nil)
    }
}
