import BluetoothTypes
import EventLoops

/// The time that each peer has to wait after failed pairings (Core Vol 3 Part H 2.3.6). It doubles with each failure,
/// so that a peer cannot try one passkey after another (AB-S12).
///
/// A peer that changes its address starts over. The defence against that is that passkeys are never reused (AB-S13).
struct PairingBackOff {
    /// The wait after the first failure.
    static let shortest = Duration.seconds(1)
    /// The longest wait, which must be the shortest one doubled a whole number of times.
    static let longest = Duration.seconds(256)
    /// How long after its last failure a peer is forgotten.
    static let memory = Duration.seconds(3_600)
    /// The maximum number of peers. A new one evicts the one whose last failure is the oldest.
    static let maximumPeers = 64

    private struct Entry {
        var peer: BluetoothAddress
        var failures: Int
        var last: Instant
    }

    private var entries: [Entry] = []

    /// Whether the peer may start a pairing at `now`.
    func mayTry(_ peer: BluetoothAddress, at now: Instant) -> Bool {
        guard let entry = entries.first(where: { $0.peer == peer }) else { return true }
        return now - entry.last >= Self.wait(entry.failures)
    }

    /// Records a failed pairing with the peer.
    mutating func failed(_ peer: BluetoothAddress, at now: Instant) {
        entries.removeAll { now - $0.last > Self.memory }
        var entry = Entry(peer: peer, failures: 0, last: now)
        if let index = entries.firstIndex(where: { $0.peer == peer }) { entry = entries.remove(at: index) }
        entry.failures += 1
        entry.last = now
        if entries.count >= Self.maximumPeers { entries.removeFirst() }
        // Ordered by the last failure.
        entries.append(entry)
    }

    /// Forgets the peer's failures, because a pairing succeeded or the bond was removed.
    mutating func succeeded(_ peer: BluetoothAddress) {
        entries.removeAll { $0.peer == peer }
    }

    var count: Int { entries.count }

    private static func wait(_ failures: Int) -> Duration {
        var wait = shortest
        for _ in 1..<failures where wait < longest { wait = wait * 2 }
        return wait
    }
}
