import BluetoothTypes
import EventLoops
import Foundation

/// When each device was last received, for a scan whose app is notified of lost devices (behaviour 15.3).
///
/// Bounded by ``ScanSubscription/maximumReported``: devices beyond that are not reported as lost (AB-G02).
struct PresenceWatch {
    let silenceTimeout: Duration
    private var lastReceptions = RecencyTable<UUID, Instant>(limit: ScanSubscription.maximumReported)

    /// - Parameter milliseconds: The app's time-out, clamped to the range from 1 ms to one day.
    init(milliseconds: Int) {
        silenceTimeout = .milliseconds(min(max(milliseconds, 1), 86_400_000))
    }

    mutating func advertisementReceived(_ peer: UUID, at now: Instant) {
        lastReceptions.set(now, for: peer)
    }

    /// When the device that has been silent longest is lost; nil while no device is watched.
    var deadline: Instant? { lastReceptions.oldestEntry.map { $0.value + silenceTimeout } }

    /// Removes and returns the devices that are lost by `now`.
    mutating func takeLost(at now: Instant) -> [UUID] {
        var lost: [UUID] = []
        while let deadline, deadline <= now, let oldest = lastReceptions.popOldest() { lost.append(oldest.key) }
        return lost
    }
}
