import AccessStandIns
import BluetoothTypes
import Cryptography
import EventLoops
import SMP
import Testing

@testable import GAP
@testable import Security

/// The addresses that a device with private addresses reports, shows and trusts.
@Suite struct PrivacyRuleTests {
    private static let data = AdvertisingData([.localName(.init("Harald"))])
    private static let other = Key128(Block128(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210))

    /// Bonded devices whose hosts generate and resolve the addresses. The other device advertises to this one.
    private struct AdvertisingPair {
        let pair: PrivatePair
        let role: Peripheral
        var device: GAPDevice { pair.device }
        var peer: GAPDevice { pair.other }
        var privacy: DevicePrivacy { device.access.privacy }
        var identity: BluetoothAddress { peer.identity.address }

        init() throws {
            pair = try PrivatePair(.hostExtended)
            role = Peripheral(pair.other.access)
            role.enter(.init(.general, .undirected, data: PrivacyRuleTests.data))
        }
    }

    /// The layers above compute with the address reported first, so it has to be the one on the air.
    @Test("behaviour 6.17: the address that is reported first is the one on the air", arguments: PrivacyMode.allCases)
    func theAddressThatIsToldFirstIsTheOneOnTheAir(mode: PrivacyMode) throws {
        let world = GAPWorld(mode.commands)
        let watch = AirWatch(world.radio)
        let broadcaster = world.device().access.advertiser.addSet()
        broadcaster.want(AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.data))
        let device = world.privateDevice(mode)
        let told = device.address
        #expect(device.isOwn(told))
        _ = try device.hear(ScanSettings(isActive: true))
        #expect(Set(watch.of(device.node, .scanning).compactMap(\.own)) == [told])
    }

    /// A replaced key was not the peer's, and neither is the address it resolved (Core Vol 3 Part C 10.8.2.3, AB-G03).
    @Test func replacedKeysForgetReceivedAddresses() throws {
        let pair = try AdvertisingPair()
        _ = try pair.device.hear()
        let heard = try #require(pair.privacy.recentAddress(of: pair.identity))
        #expect(pair.peer.isOwn(heard))
        #expect(pair.privacy.peer(at: heard)?.identity == pair.identity)
        // Use alone does not change the owner of an address.
        let key = pair.peer.identity.key
        pair.privacy.peers = [PrivatePeer(identity: pair.identity, key: key, lastUse: 1_000)]
        #expect(pair.privacy.recentAddress(of: pair.identity) == heard)
        pair.privacy.peers = [PrivatePeer(identity: pair.identity, key: Self.other)]
        #expect(pair.privacy.recentAddress(of: pair.identity) == nil)
        #expect(pair.privacy.peer(at: heard) == nil)
    }

    /// After a while the peer may show another address.
    @Test func receivedAddressesExpire() throws {
        let pair = try AdvertisingPair()
        _ = try pair.device.hear()
        #expect(pair.privacy.recentAddress(of: pair.identity) != nil)
        pair.device.world.run(AddressResolver.recentTime)
        #expect(pair.privacy.recentAddress(of: pair.identity) == nil)
    }

    @Test("AB-G02: no more peers than the limit are resolved")
    func asManyPeersAsTheBoundAreResolvedAndNoMore() {
        func key(_ number: UInt64) -> Key128 { Key128(Block128(high: 7, low: number)) }
        let peers = (1...1_025 as ClosedRange<UInt64>).map {
            PrivatePeer(identity: BluetoothAddress($0, kind: .publicDevice), key: key($0))
        }
        var resolver = AddressResolver()
        resolver.replace(peers)
        let random = RandomSource(seed: 4)
        let last = resolver.peer(at: .resolvablePrivate(key(1_024), random))
        let beyond = resolver.peer(at: .resolvablePrivate(key(1_025), random))
        #expect(last?.identity.value == 1_024)
        #expect(beyond == nil)
    }
}
