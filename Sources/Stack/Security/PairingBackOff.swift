import BluetoothTypes
import EventLoops

/// The time that each peer has to wait after failed pairings (Core Vol 3 Part H 2.3.6). It doubles with each failure,
/// so that a peer cannot try one passkey after another (AB-S12).
///
/// A peer that changes its address starts over. So all strangers together have a budget, too: a burst of pairings, and
/// then one in each ``strangerInterval`` (AB-S18). A pairing that succeeds costs nothing. Pairings that an app of this
/// device needs are never counted, and never wait for strangers.
struct PairingBackOff {
    /// The wait after the first failure.
    static let shortest = Duration.seconds(1)
    /// The longest wait, which must be the shortest one doubled a whole number of times.
    static let longest = Duration.seconds(256)
    /// How long after its last failure a peer is forgotten.
    static let memory = Duration.seconds(3_600)
    /// The maximum number of peers. A new one evicts the one whose last failure is the oldest.
    static let maximumPeers = 64

    /// The number of pairings that strangers may begin in a row.
    static let strangerBurst = 10
    /// The time after which strangers may begin one more. A year of guesses hits a passkey of six digits with a
    /// probability of less than one half.
    static let strangerInterval = Duration.seconds(60)

    private struct Entry {
        var peer: BluetoothAddress
        var isStranger: Bool
        var failures: Int
        var last: Instant
    }

    private var entries: [Entry] = []
    /// The time at which the budget of strangers will be whole again.
    private var strangersDue = Instant.zero

    /// Whether a pairing with the peer may begin at `now`. A stranger that fails under the address of a peer does not
    /// slow down an app that pairs with it.
    func mayTry(_ peer: BluetoothAddress, isStranger: Bool = false, at now: Instant) -> Bool {
        guard let entry = entries.first(where: { $0.peer == peer && $0.isStranger == isStranger }) else { return true }
        return now - entry.last >= Self.wait(entry.failures)
    }

    /// Takes a pairing out of the budget of strangers. Returns whether there was one left.
    mutating func strangerBegins(at now: Instant) -> Bool {
        let due = max(strangersDue, now) + Self.strangerInterval
        guard due - now <= Self.strangerInterval * Self.strangerBurst else { return false }
        strangersDue = due
        return true
    }

    /// Returns a pairing to the budget of strangers, because it succeeded.
    mutating func strangerSucceeded() {
        strangersDue = strangersDue - Self.strangerInterval
    }

    mutating func failed(_ peer: BluetoothAddress, isStranger: Bool = false, at now: Instant) {
        entries.removeAll { now - $0.last > Self.memory }
        var entry = Entry(peer: peer, isStranger: isStranger, failures: 0, last: now)
        if let index = entries.firstIndex(where: { $0.peer == peer && $0.isStranger == isStranger }) {
            entry = entries.remove(at: index)
        }
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
