import BluetoothTypes
import EventLoops

/// How long each peer has to wait after pairings that failed (Core Vol 3 Part H 2.3.6): a time that doubles with each
/// failure, so that nobody tries passkey after passkey (AB-S12).
///
/// Who changes its address begins anew; against that help the passkeys, which are never used twice (AB-S13).
struct PairingBackOff {
    /// The wait after the first failure.
    static let shortest = Duration.seconds(1)
    /// The longest wait, which is the shortest one doubled some times.
    static let longest = Duration.seconds(256)
    /// How long without a failure until all is forgiven.
    static let memory = Duration.seconds(3_600)
    /// Peers that are remembered. The one that failed longest ago makes room.
    static let maximumPeers = 64

    private struct Entry {
        var peer: BluetoothAddress
        var failures: Int
        var last: Instant
    }

    private var entries: [Entry] = []

    /// Whether the peer may try at `now`.
    func mayTry(_ peer: BluetoothAddress, at now: Instant) -> Bool {
        guard let entry = entries.first(where: { $0.peer == peer }) else { return true }
        return now - entry.last >= Self.wait(entry.failures)
    }

    /// A pairing with the peer has failed.
    mutating func failed(_ peer: BluetoothAddress, at now: Instant) {
        entries.removeAll { now - $0.last > Self.memory }
        var entry = Entry(peer: peer, failures: 0, last: now)
        if let index = entries.firstIndex(where: { $0.peer == peer }) { entry = entries.remove(at: index) }
        entry.failures += 1
        entry.last = now
        if entries.count >= Self.maximumPeers { entries.removeFirst() }
        // In the order of their last failure.
        entries.append(entry)
    }

    /// A pairing with the peer has succeeded, or its bond was forgotten.
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
