import BluetoothTypes
import Testing

@testable import LinkLayer

/// Two devices have at most one link (Core Vol 6 Part B 4.5), whatever addresses they use.
@Suite struct LinkIdentitiesTests {
    private static let first = BluetoothAddress(0xA1, kind: .publicDevice)
    private static let second = BluetoothAddress(0xC000_0000_00A2, kind: .randomDevice)
    private static let peer = BluetoothAddress(0xC000_0000_00B1, kind: .randomDevice)

    private func identities(_ own: BluetoothAddress?, _ identity: BluetoothAddress = peer) -> LinkIdentities {
        let seen = BluetoothAddress(0x4000_0000_0001, kind: .randomDevice)
        let address = identity.kind.isIdentity ? seen : identity
        return LinkIdentities(own: own, ownPrivate: nil, peer: ResolvedDevice(address: address, identity: identity))
    }

    /// A peer with this device's key recognizes it under each of its addresses.
    @Test(
        arguments: [
            (nil, nil, true), (nil, first, true), (first, nil, true), (first, first, true), (first, second, false),
            (second, first, false),
        ] as [(BluetoothAddress?, BluetoothAddress?, Bool)]
    )
    func anAddressThatIsNotKnownMayBeAny(old: BluetoothAddress?, new: BluetoothAddress?, areThose: Bool) {
        #expect(identities(old).areThose(of: new, and: Self.peer) == areThose)
        let other = BluetoothAddress(Self.peer.value + 1, kind: .randomDevice)
        #expect(!identities(old).areThose(of: new, and: other))
    }

    @Test func aPeerIsTheSameWhetherItsAddressWasResolvedOrNot() {
        let resolved = BluetoothAddress(Self.peer.value, kind: .randomIdentity)
        #expect(identities(Self.first, resolved).areThose(of: Self.first, and: Self.peer))
        #expect(identities(Self.first).areThose(of: Self.first, and: resolved))
        // The same value as a public address is another device.
        let other = BluetoothAddress(Self.peer.value, kind: .publicDevice)
        #expect(!identities(Self.first).areThose(of: Self.first, and: other))
    }
}

/// The filter accept list (Core Vol 6 Part B 4.3.1, Vol 4 Part E 7.8.16).
@Suite struct AcceptListTests {
    private static let anonymous = BluetoothAddress.Kind(rawValue: 0xFF)

    @Test func aFullListTakesWhomItHasAndNobodyElse() {
        var list = AcceptList(size: 2)
        let addresses = (1...3 as ClosedRange<UInt64>).map { BluetoothAddress($0, kind: .publicDevice) }
        var isTaken: [Bool] = []
        for index in [0, 1, 2, 0, 1] { isTaken.append(list.add(addresses[index])) }
        #expect(isTaken == [true, true, false, true, true])
        #expect(addresses.map(list.contains) == [true, true, false])
        list.remove(addresses[0])
        isTaken = [list.add(addresses[2])]
        #expect(isTaken == [true])
        #expect(addresses.map(list.contains) == [false, true, true])
        list.clear()
        #expect(addresses.map(list.contains) == [false, false, false])
    }

    @Test func publicAndRandomAddressesAreDifferentDevices() {
        var list = AcceptList(size: 2)
        let isTaken = list.add(BluetoothAddress(7, kind: .publicDevice))
        #expect(isTaken)
        #expect(list.contains(BluetoothAddress(7, kind: .publicDevice)))
        #expect(!list.contains(BluetoothAddress(7, kind: .randomDevice)))
    }

    @Test("anonymous advertisers are one list entry, whatever address is given with it")
    func advertisersWithoutAnAddressAreOneEntry() {
        var list = AcceptList(size: 2)
        let isTaken = list.add(BluetoothAddress(1, kind: Self.anonymous))
        #expect(isTaken)
        #expect(list.contains(BluetoothAddress(2, kind: Self.anonymous)))
        #expect(!list.contains(BluetoothAddress(1, kind: .publicDevice)))
        #expect(!list.contains(BluetoothAddress(0, kind: .publicDevice)))
        list.remove(BluetoothAddress(3, kind: Self.anonymous))
        #expect(!list.contains(BluetoothAddress(1, kind: Self.anonymous)))
    }
}
