import BluetoothTypes
import EventLoops
import Foundation

/// When devices were last heard, for a scan whose app wants to know of those that are not heard any more (behaviour 15.3).
///
/// Bounded by ``ScanSubscription/maximumReported``: of a device that there is no room for nothing is told (AB-G02).
struct PresenceWatch {
    /// How long a device may be silent.
    let patience: Duration
    private var heard = RecencyTable<UUID, Instant>(limit: ScanSubscription.maximumReported)

    /// - Parameter milliseconds: As the app gives it, 1 ms to a day.
    init(milliseconds: Int) {
        patience = .milliseconds(min(max(milliseconds, 1), 86_400_000))
    }

    /// A device was heard.
    mutating func heard(_ peer: UUID, at now: Instant) {
        heard.set(now, for: peer)
    }

    /// When the device that was heard longest ago is lost.
    var deadline: Instant? { heard.oldestEntry.map { $0.value + patience } }

    /// The devices that are lost by now, and are not watched any more.
    mutating func takeLost(at now: Instant) -> [UUID] {
        var lost: [UUID] = []
        while let deadline, deadline <= now, let oldest = heard.popOldest() { lost.append(oldest.key) }
        return lost
    }
}
