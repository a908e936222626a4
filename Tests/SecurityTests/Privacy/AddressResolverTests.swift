import BluetoothTypes
import Cryptography
import EventLoops
import Testing

@testable import Security

/// Resolution of private addresses, and its cost.
@Suite struct AddressResolverTests {
    private let random = RandomSource(seed: 4)

    private func key(_ number: UInt64) -> Key128 { Key128(Block128(high: number, low: number ^ 0x5A5A)) }

    private func identity(_ number: UInt64) -> BluetoothAddress {
        BluetoothAddress(0b11 << 46 | number, kind: .randomDevice)
    }

    private func peers(_ count: UInt64) -> [PrivatePeer] {
        (1...count).map { PrivatePeer(identity: identity($0), key: key($0)) }
    }

    @Test func anAddressIsResolvedByItsKeyAlone() {
        for number: UInt64 in 1...500 {
            let address = BluetoothAddress.resolvablePrivate(key(number), random)
            #expect(address.randomKind == .resolvable)
            #expect(address.isResolved(by: key(number)))
            #expect(!address.isResolved(by: key(number + 1)))
            // The random part is neither all ones nor all zeroes (Core Vol 6 Part B 1.3.2.2).
            let part = address.value >> 24 & 0x3F_FFFF
            #expect(part != 0)
            #expect(part != 0x3F_FFFF)
        }
    }

    @Test func theSampleOfTheSpecificationIsResolved() throws {
        // Core Vol 3 Part H Appendix D.7: ah of 0x708194 is 0x0DFBAA.
        let key = try #require(
            Key128([
                0xEC, 0x02, 0x34, 0xA3, 0x57, 0xC8, 0xAD, 0x05, 0x34, 0x10, 0x10, 0xA6, 0x0A, 0x39, 0x7D, 0x9B,
            ])
        )
        let address = try #require(BluetoothAddress("70:81:94:0D:FB:AA", kind: .randomDevice))
        #expect(address.isResolved(by: key))
    }

    @Test(
        "the cost of an address seen before does not grow with the number of bonds",
        arguments: [1, 10, 1_000] as [UInt64]
    )
    func workForAKnownAddressDoesNotGrowWithTheBonds(bonds: UInt64) {
        var resolver = AddressResolver()
        resolver.replace(peers(bonds))
        let known = BluetoothAddress.resolvablePrivate(key(bonds), random)
        let stranger = BluetoothAddress.resolvablePrivate(key(5_000), random)
        #expect(resolver.peer(at: known)?.identity == identity(bonds))
        #expect(resolver.peer(at: stranger) == nil)
        #expect(resolver.attempts == 2 * bonds)
        for _ in 0..<100 {
            #expect(resolver.peer(at: known)?.identity == identity(bonds))
            #expect(resolver.peer(at: stranger) == nil)
        }
        #expect(resolver.attempts == 2 * bonds)
    }

    @Test func otherAddressesCostNothing() {
        var resolver = AddressResolver()
        resolver.replace(peers(10))
        let others = [
            BluetoothAddress(0x1234, kind: .publicDevice), .staticRandom(random),
            BluetoothAddress(5, kind: .randomDevice), BluetoothAddress(0b10 << 46 | 5, kind: .randomDevice), .none,
        ]
        for address in others { #expect(resolver.peer(at: address) == nil) }
        #expect(resolver.attempts == 0)
        #expect(resolver.remembered == 0)
        // An identity address belongs to its peer, in the controller's notation or without it.
        var told = identity(3)
        told.kind = .randomIdentity
        #expect(resolver.peer(at: told)?.identity == identity(3))
        #expect(resolver.peer(at: identity(3))?.identity == identity(3))
    }

    @Test func replacedPeersAreForgotten() {
        var resolver = AddressResolver()
        resolver.replace(peers(1))
        let (first, second) = (
            BluetoothAddress.resolvablePrivate(key(1), random), BluetoothAddress.resolvablePrivate(key(2), random)
        )
        #expect(resolver.peer(at: first) != nil)
        #expect(resolver.peer(at: second) == nil)
        resolver.replace(peers(2))
        #expect(resolver.peer(at: second)?.identity == identity(2))
        resolver.replace([])
        #expect(resolver.peer(at: first) == nil)
        #expect(resolver.peer(at: second) == nil)
    }

    @Test("AB-G02: the cache of private addresses is bounded under a flood")
    func aFloodOfAddressesIsNotRemembered() {
        var resolver = AddressResolver()
        resolver.replace(peers(1))
        let known = BluetoothAddress.resolvablePrivate(key(1), random)
        for number in 0..<10_000 {
            _ = resolver.peer(at: BluetoothAddress.resolvablePrivate(key(9), random))
            // An address that is received repeatedly stays cached.
            if number % 1_000 == 0 { #expect(resolver.peer(at: known) != nil) }
        }
        #expect(resolver.remembered == 4_096)
        // A few of the addresses are drawn twice.
        #expect((9_900...10_001).contains(resolver.attempts))
    }

    /// Whether the keys have changed, what remains of the previous ones, and that a peer counts once.
    @Test func knownPeersAfterEachChange() {
        var resolver = AddressResolver()
        func knows(_ numbers: ClosedRange<UInt64>) -> [UInt64] {
            numbers.filter { number in
                let byKey = resolver.peer(at: .resolvablePrivate(key(number), random))?.identity == identity(number)
                let byIdentity = resolver.peer(at: identity(number)) != nil
                #expect(byIdentity == byKey && (resolver[identity(number)] != nil) == byKey)
                return byKey
            }
        }
        func changes(_ peers: [PrivatePeer]) -> Bool { resolver.replace(peers) }
        #expect(!changes([]))
        #expect(changes(peers(3)))
        #expect(knows(1...4) == [1, 2, 3])
        #expect(!changes(peers(3)))
        #expect(changes(Array(peers(3).dropFirst())))
        #expect(knows(1...4) == [2, 3])
        // A new order changes the key to try first, so it counts as a change; a later use does not.
        #expect(changes(peers(3).dropFirst().reversed()))
        #expect(knows(1...4) == [2, 3])
        var used = Array(peers(3).dropFirst().reversed())
        used[0].lastUse = 9
        #expect(!changes(used))
        #expect(resolver[identity(3)]?.lastUse == 9)
        #expect(changes([]))
        #expect(knows(1...4).isEmpty)
        // Of several entries with one identity, the first one counts.
        resolver.replace([peers(1)[0], PrivatePeer(identity: identity(1), key: key(2))])
        let before = resolver.attempts
        #expect(resolver.peer(at: .resolvablePrivate(key(2), random)) == nil)
        #expect(resolver.attempts == before + 1)
    }

    /// The two most significant bits make an address private, even if the rest fits the key.
    @Test func onlyAnAddressThatSaysSoIsResolvable() {
        for bits: UInt64 in 0...3 {
            let part = UInt32(bits << 22 | 0x1234)
            let value = UInt64(part) << 24 | UInt64(Toolbox.ah(key(1), part))
            #expect(BluetoothAddress(value, kind: .randomDevice).isResolved(by: key(1)) == (bits == 1))
            #expect(BluetoothAddress(value, kind: .randomDevice).canStay == (bits == 3))
            let isPublic = BluetoothAddress(value, kind: .publicDevice)
            #expect(!isPublic.isResolved(by: key(1)))
            #expect(isPublic.canStay)
            #expect(isPublic.plain == isPublic)
            #expect(BluetoothAddress(value, kind: .publicIdentity).plain == isPublic)
            #expect(
                BluetoothAddress(value, kind: .randomIdentity).plain == BluetoothAddress(value, kind: .randomDevice)
            )
        }
    }

    @Test("behaviour 6.23: a peer is found under the fixed address of its pairing, which costs no key")
    func aPairingAddressLeadsToThePeer() {
        var resolver = AddressResolver()
        let pairing = identity(70)
        resolver.replace([
            PrivatePeer(identity: identity(7), key: key(7), pairingAddress: pairing),
            PrivatePeer(identity: identity(8), key: nil),
        ])
        #expect(resolver.peer(at: pairing)?.identity == identity(7))
        #expect(resolver[pairing] == nil)
        #expect(resolver.attempts == 0)
        // An identity address counts before the pairing address of another peer.
        resolver.replace([PrivatePeer(identity: identity(7), key: key(7)), PrivatePeer(identity: pairing, key: nil)])
        #expect(resolver.peer(at: pairing)?.identity == pairing)
    }

    @Test("AB-S11: an all-zero resolving key resolves nothing")
    func aKeyOfZeroResolvesNothing() {
        var resolver = AddressResolver()
        resolver.replace([PrivatePeer(identity: identity(1), key: .zero)])
        #expect(resolver.peer(at: .resolvablePrivate(.zero, random)) == nil)
        #expect(resolver.attempts == 0)
    }
}
