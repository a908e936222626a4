import BluetoothTypes
import Testing

@testable import GAP

/// The set of pending peers, on which two state machines work.
@Suite struct PendingPeersTests {
    private static let a = BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)
    private static let b = BluetoothAddress(0xC0_0000_0000_0B, kind: .randomDevice)
    private static let c = BluetoothAddress(0xC0_0000_0000_0C, kind: .randomDevice)
    private static let shown = BluetoothAddress(0x40_0000_0000_01, kind: .randomDevice)
    private static let shownLater = BluetoothAddress(0x40_0000_0000_02, kind: .randomDevice)

    private func peers() -> PendingPeers {
        var peers = PendingPeers()
        for peer in [Self.a, Self.b, Self.c] { _ = peers.add(peer) }
        #expect(peers.peers == [Self.a, Self.b, Self.c])
        return peers
    }

    @Test func theQueueTakesTurnsAndTheRequestsKeepTheirOrder() {
        var peers = peers()
        #expect(peers.queue.isEmpty)
        for peer in [Self.a, Self.b] { peers.enqueue(peer) }
        peers.enqueue(Self.c, first: true)
        #expect(peers.queue == [Self.c, Self.a, Self.b])
        peers.moveBack([Self.c, Self.a])
        #expect(peers.queue == [Self.b, Self.c, Self.a])
        peers.dequeue(Self.c)
        // A peer outside of the queue does not get into it by a turn.
        peers.moveBack([Self.c])
        #expect(peers.queue == [Self.b, Self.a])
        #expect(peers.peers == [Self.a, Self.b, Self.c])
        peers.remove(Self.b)
        #expect(peers.queue == [Self.a])
        #expect(peers.peers == [Self.a, Self.c])
    }

    /// A peer is queued at the address at which it was received last, and at no other.
    @Test func aPeerHasOneAddressAtATime() {
        var peers = peers()
        peers.enqueue(Self.a)
        peers.reroute(Self.a, by: .listening)
        #expect(peers.queue.isEmpty)
        #expect(peers.address(of: Self.a) == nil)
        #expect(peers.needsListening)
        #expect(peers.sought == [Self.a])
        #expect(peers.isSought(Self.a))
        #expect(!peers.isSought(Self.b))
        for address in [Self.shown, Self.shownLater] {
            peers.reroute(Self.a, by: .trying(address))
            #expect(!peers.isQueued(address))
            peers.enqueue(address)
            #expect(peers.queue == [address])
            #expect(peers.peer(at: address) == Self.a)
            #expect(!peers.needsListening)
        }
        #expect(peers.peer(at: Self.shown) == nil)
        #expect(peers.peer(at: Self.a) == nil)
        peers.reroute(Self.a, by: .controller)
        #expect(peers.queue.isEmpty)
        #expect(peers.sought.isEmpty)
        #expect(peers.peer(at: Self.a) == Self.a)
    }

    @Test func theSetIsBounded() {
        var peers = PendingPeers()
        let added = (0..<PendingPeers.maximum).map { peers.add(BluetoothAddress(UInt64($0), kind: .publicDevice)) }
        #expect(added.allSatisfy { $0 })
        let (isNewAdded, isKnownAdded) = (peers.add(Self.a), peers.add(BluetoothAddress(1, kind: .publicDevice)))
        #expect(!isNewAdded)
        #expect(isKnownAdded)
        #expect(peers.peers.count == PendingPeers.maximum)
    }
}
