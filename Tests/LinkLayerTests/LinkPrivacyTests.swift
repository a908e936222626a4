import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// How addresses are resolved for advertisers, scanners and initiators (Core Vol 6 Part B 6).
@Suite struct LinkPrivacyTests {
    private static let phone = BluetoothAddress(0xA1, kind: .publicDevice)
    private static let watch = BluetoothAddress(0xC000_0000_00A2, kind: .randomDevice)
    private static let stranger = BluetoothAddress(0xC000_0000_00A3, kind: .randomDevice)
    private static let own = BluetoothAddress(0xB1, kind: .publicDevice)
    private static let ownRandom = BluetoothAddress(0xC000_0000_00B2, kind: .randomDevice)
    private static let kinds: [OwnAddressKind] = [
        .publicDevice, .randomDevice, .resolvableOrPublic, .resolvableOrRandom,
    ]

    private let loop = VirtualEventLoop()

    /// A controller that is private towards the phone and has its key. It has the watch's key too, but no local key
    /// towards it.
    private func privacy(isResolving: Bool) throws -> LinkPrivacy {
        let privacy = LinkPrivacy(size: 4, loop: loop, random: RandomSource(seed: 1))
        try privacy.list.add(Self.phone, peerKey: key(1), localKey: key(2))
        try privacy.list.add(Self.watch, peerKey: key(3), localKey: .zero)
        privacy.enableResolution(isResolving)
        return privacy
    }

    private func made(_ number: UInt64) -> BluetoothAddress {
        RotatingAddress(key(number), .init(now: .zero, timeout: .seconds(900), random: RandomSource(seed: 9))).address
    }

    private static func fallback(_ kind: OwnAddressKind) -> BluetoothAddress { kind.isRandom ? ownRandom : own }

    @Test func two_kinds_are_hiddenand_two_are_random() {
        #expect(Self.kinds.map(\.isPrivate) == [false, false, true, true])
        #expect(Self.kinds.map(\.isRandom) == [false, true, false, true])
        for number in UInt8.min...UInt8.max {
            let kind = BluetoothAddress.Kind(rawValue: number)
            #expect(kind.isIdentity == (number == 2 || number == 3))
            #expect(ResolvedDevice(address: Self.phone, identity: .init(1, kind: kind)).isResolved == kind.isIdentity)
        }
        #expect(BluetoothAddress.Kind.unresolved.rawValue == 0xFE)
        #expect(Self.own.identity.kind == .publicIdentity)
        #expect(Self.ownRandom.identity.kind == .randomIdentity)
        #expect(Self.own.identity.device == Self.own)
        #expect(Self.ownRandom.identity.device == Self.ownRandom)
    }

    /// The target of a directed advertisement, and which device answers it (6.4).
    @Test(
        "AB-L11: a device answers only under the identity by which the peer knows it",
        arguments: [false, true],
        kinds
    )
    func a_device_answers_under_the_name_that_it_is_known_by(isResolving: Bool, kind: OwnAddressKind) throws {
        let privacy = try privacy(isResolving: isResolving)
        let address = Self.fallback(kind)
        let own = OwnAddressParameters(kind: kind, fallback: address)
        let nonResolvable = BluetoothAddress(0x0000_0000_0099, kind: .randomDevice)
        let resolved: DirectedTarget = isResolving ? .ownPrivate(address.identity) : .unresolved
        let targets: [(BluetoothAddress, DirectedTarget)] = [
            (address, .own(address)), (made(2), resolved), (made(77), .unresolved), (Self.stranger, .foreign),
            (nonResolvable, .foreign), (BluetoothAddress(made(2).value, kind: .publicDevice), .foreign),
        ]
        for (target, expected) in targets {
            #expect(privacy.judge(target, own) == expected, "\(target)")
            for peer in [Self.phone, Self.watch, Self.stranger] {
                let heard = ResolvedDevice(address: peer, identity: peer)
                let isHidden = kind.isPrivate && peer == Self.phone
                let mayAnswer =
                    switch expected {
                    case .own: !isHidden
                    case .ownPrivate: true
                    case .unresolved, .foreign: false
                    }
                #expect(privacy.mayAnswer(target, own, from: heard) == mayAnswer, "\(target) from \(peer)")
            }
        }
        // Without an address of its own, a device is reported the address that was used.
        let nobody = OwnAddressParameters(kind: kind, fallback: nil)
        #expect(privacy.judge(made(2), nobody) == (isResolving ? .ownPrivate(made(2)) : .unresolved))
    }

    /// Private towards peers with a local key, otherwise as the host has chosen.
    @Test(arguments: kinds)
    func a_request_has_the_address_that_its_peer_may_see(kind: OwnAddressKind) throws {
        for isResolving in [false, true] {
            let privacy = try privacy(isResolving: isResolving)
            let own = OwnAddressParameters(kind: kind, fallback: Self.fallback(kind))
            for peer in [Self.phone, Self.phone.identity, Self.watch, Self.stranger] {
                let isHidden = kind.isPrivate && peer.device == Self.phone
                let heard = ResolvedDevice(address: peer, identity: peer)
                let address = try #require(privacy.address(own, towards: heard))
                #expect(isHidden ? address.isMade(with: key(2)) : address == own.fallback)
                #expect(privacy.lastingAddress(own, towards: peer) == (isHidden ? nil : own.fallback))
                let nobody = OwnAddressParameters(kind: kind, fallback: nil)
                #expect((privacy.address(nobody, towards: heard) == nil) == !isHidden)
            }
        }
        #expect(OwnAddressParameters().kind == .publicDevice)
        #expect(OwnAddressParameters().fallback == BluetoothAddress.none)
    }

    @Test("an address is resolved only where address resolution is enabled")
    func usersOfAnAddressCountWhereAddressesAreResolved() throws {
        for isResolving in [false, true] {
            let privacy = try privacy(isResolving: isResolving)
            let address = made(1)
            let phone = ResolvedDevice(address: address, identity: isResolving ? Self.phone.identity : address)
            #expect(privacy.device(address)?.address == address)
            #expect(privacy.device(address)?.identity.value == phone.identity.value)
            // A peer whose key is known but that shows its identity is ignored, in either case (AB-L11).
            #expect(privacy.device(Self.phone) == nil)
            #expect(privacy.device(Self.stranger) == ResolvedDevice(address: Self.stranger, identity: Self.stranger))
        }
    }

    /// Core Vol 4 Part E 7.8.44, 7.8.45, and the defaults that a reset restores.
    @Test func a_reset_leaves_what_there_was_in_the_beginning() throws {
        let privacy = try privacy(isResolving: true)
        privacy.limitLifetimes(to: .seconds(7)...(.seconds(9)))
        #expect(privacy.rules.lifetimes == .seconds(7)...(.seconds(9)))
        #expect(privacy.rules.now == loop.now)
        privacy.reset()
        #expect(privacy.lifetimes == .seconds(900)...(.seconds(900)))
        #expect(!privacy.isResolving)
        #expect(privacy.list.key(of: Self.phone) == nil)
        #expect(privacy.list.localKey(towards: Self.phone) == nil)
        let fresh = LinkPrivacy(size: 4, loop: loop, random: RandomSource(seed: 1))
        #expect(fresh.lifetimes == .seconds(900)...(.seconds(900)))
        #expect(!fresh.isResolving)
    }

    /// The peer's private address is reported only if it was resolved.
    @Test func a_link_says_the_hiddenaddress_of_whom_it_knows() {
        let address = made(1)
        for (identity, isResolved) in [(Self.phone.identity, true), (Self.watch.identity, true), (address, false)] {
            let peer = ResolvedDevice(address: address, identity: identity)
            let identities = LinkIdentities(own: Self.own, ownPrivate: nil, peer: peer)
            #expect(identities.peerPrivate == (isResolved ? address : nil))
        }
    }
}

/// Private addresses that the controller generates (Core Vol 6 Part B 1.3.2.2).
@Suite struct RotatingAddressTests {
    private static func part(_ random: RandomSource) -> UInt64 {
        RotatingAddress(key(1), .init(now: .zero, timeout: .seconds(900), random: random)).address.value >> 24
    }

    /// prand has 22 random bits under 0b01: each takes both values, and none determines another.
    @Test func each_bit_of_an_address_is_a_random_one() {
        let random = RandomSource(seed: 6)
        let parts = (0..<400).map { _ in Self.part(random) }
        #expect(parts.allSatisfy { $0 >> 22 == 0b01 })
        #expect(Set(parts).count == parts.count)
        for bit in 0..<22 as Range<UInt64> {
            let ones = parts.count { $0 >> bit & 1 == 1 }
            #expect((140...260).contains(ones), "bit \(bit)")
        }
    }

    /// Two seeds whose first number begins with 22 equal bits; the specification forbids both.
    @Test(arguments: [(4_481_485, 0), (215_760, 0x3F_FFFF)] as [(UInt64, UInt64)])
    func an_address_of_nothing_but_zeroes_or_ones_is_not_used(seed: UInt64, bits: UInt64) {
        #expect(RandomSource(seed: seed).next() >> 42 == bits)
        let random = RandomSource(seed: seed)
        _ = random.next()
        #expect(Self.part(RandomSource(seed: seed)) == random.next() >> 42 | 0x40_0000)
    }

    /// Core Vol 6 Part B 1.3.2.3: only a resolvable private address can be resolved with a key.
    @Test func an_address_of_another_kind_has_no_maker() {
        let random = RandomSource(seed: 7)
        for number in 1...50 as ClosedRange<UInt64> {
            let address = RotatingAddress(key(number), .init(now: .zero, timeout: .seconds(1), random: random)).address
            #expect(address.isMade(with: key(number)))
            #expect(!address.isMade(with: key(number + 1)))
            #expect(!BluetoothAddress(address.value, kind: .publicDevice).isMade(with: key(number)))
            for top in [0, 0b10, 0b11] as [UInt64] {
                // The same hash over a prand of another address type.
                let part = address.value >> 24 & 0x3F_FFFF | top << 22
                let hash = Toolbox.ah(key(number), UInt32(truncatingIfNeeded: part))
                let other = BluetoothAddress(part << 24 | UInt64(hash), kind: .randomDevice)
                #expect(!other.isMade(with: key(number)))
            }
        }
    }
}

/// The address cache and its capacity.
@Suite struct AddressMemoryTests {
    @Test func the_oldest_of_2048_addresses_gives_way_to_the_next() {
        var cache = AddressCache<Int>()
        #expect(cache.count == 0)
        for number in 0..<2_048 {
            cache.remember(number, for: UInt64(number))
            #expect(cache.count == number + 1)
        }
        // A repeated address uses no further entry.
        cache.remember(-5, for: 5)
        #expect(cache.count == 2_048)
        #expect(cache.finding(for: 5) == -5)
        #expect(cache.finding(for: 0) == 0)
        for number in 2_048..<2_100 {
            cache.remember(number, for: UInt64(number))
            #expect(cache.count == 2_048)
            #expect(cache.finding(for: UInt64(number)) == number)
            #expect(cache.finding(for: UInt64(number - 2_048)) == nil)
            #expect(cache.finding(for: UInt64(number - 2_047)) != nil)
        }
        cache.clear()
        #expect(cache.count == 0)
        #expect(cache.finding(for: 2_099) == nil)
        // After clearing, the cache holds the full number again.
        for number in 0..<2_048 { cache.remember(number, for: UInt64(number)) }
        #expect(cache.count == 2_048)
        #expect(cache.finding(for: 0) == 0)
    }

    /// Nothing is tried or cached without a key, or for an address that no key could have generated.
    @Test func a_list_without_keys_costs_nothing() throws {
        var list = ResolvingList(size: 2)
        let hidden = RotatingAddress(key(1), .init(now: .zero, timeout: .seconds(1), random: RandomSource(seed: 1)))
        let phone = BluetoothAddress(0xA1, kind: .publicDevice)
        var answers: [Bool] = []
        for step in 0..<2 {
            answers.append(list.sender(hidden.address) == .stranger && !list.isOwn(hidden.address))
            #expect(list.remembered == (0, 0) && list.attempts == 0, "\(step)")
            if step == 0 {
                try list.add(phone, peerKey: .zero, localKey: .zero)
                list.clear()
            }
        }
        #expect(answers == [true, true])
        try list.add(phone, peerKey: key(1), localKey: key(2))
        let others = [
            phone, BluetoothAddress(hidden.address.value, kind: .publicDevice),
            BluetoothAddress(0xC000_0000_0001, kind: .randomDevice), BluetoothAddress(1, kind: .randomDevice),
        ]
        for other in others { answers.append(list.isOwn(other)) }
        #expect(answers.dropFirst(2).allSatisfy { !$0 })
        #expect(list.attempts == 0)
        #expect(list.remembered == (0, 0))
        // Repeated queries give the same result for an address.
        let own = RotatingAddress(key(2), .init(now: .zero, timeout: .seconds(1), random: RandomSource(seed: 2)))
            .address
        answers = []
        for address in [own, hidden.address, own, hidden.address] { answers.append(list.isOwn(address)) }
        #expect(answers == [true, false, true, false])
        #expect(list.attempts == 2)
        #expect(list.remembered == (0, 2))
        var senders: [ResolvingList.Sender] = []
        for address in [own, hidden.address, own, hidden.address] { senders.append(list.sender(address)) }
        #expect(senders == [.stranger, .peer(phone), .stranger, .peer(phone)])
        #expect(list.attempts == 4)
    }
}
