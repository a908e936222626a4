import BluetoothTypes
import EventLoops

/// When a device that failed to pair may try again: after each failure it waits twice as long (Core Vol 3 Part H 2.3.6,
/// AB-S12). A table for all links, by the address that stays where one is known.
public struct PairingBackOff: Sendable {
    /// The wait after the first failure.
    public static let firstWait = Duration.seconds(1)
    /// The longest wait. Failures are forgotten when a device has been quiet for so long after its wait.
    public static let longestWait = Duration.seconds(3_600)
    /// Devices that are remembered. Beyond that the one whose wait has been over for longest is forgotten.
    public static let maximumDevices = 256

    private struct Entry {
        var failures = 0
        var until = Instant.zero
    }

    private var entries: [BluetoothAddress: Entry] = [:]

    /// Nobody has failed yet.
    public init() {}

    /// Devices that are remembered.
    public var count: Int { entries.count }

    /// Whether the device may pair now.
    public func mayPair(_ device: BluetoothAddress, now: Instant) -> Bool { wait(of: device, now: now) == .zero }

    /// How long the device has still to wait.
    public func wait(of device: BluetoothAddress, now: Instant) -> Duration {
        guard let entry = entries[device], entry.until > now else { return .zero }
        return .nanoseconds(entry.until.nanoseconds - now.nanoseconds)
    }

    /// A pairing with the device has failed.
    public mutating func failed(_ device: BluetoothAddress, now: Instant) {
        var entry = entries[device] ?? Entry()
        if entry.failures > 0, now > entry.until + Self.longestWait { entry = Entry() }
        entry.until = now + Self.wait(after: entry.failures)
        entry.failures += 1
        entries[device] = entry
        guard entries.count > Self.maximumDevices else { return }
        let first = entries.filter { $0.key != device }.min {
            ($0.value.until, $0.key.value) < ($1.value.until, $1.key.value)
        }
        if let first { entries[first.key] = nil }
    }

    /// A pairing with the device has succeeded, or a person wants it to begin anew.
    public mutating func forget(_ device: BluetoothAddress) { entries[device] = nil }

    private static func wait(after failures: Int) -> Duration {
        // 2^12 seconds are more than the longest wait.
        min(firstWait * (1 << min(failures, 12)), longestWait)
    }
}

extension SecurityError {
    /// Whether it is an attempt to pair that failed, for ``PairingBackOff``. A link that was lost is none: nothing was
    /// learned from it that the next attempt could use, since each has new numbers.
    public var isFailedAttempt: Bool {
        switch self {
        case .pairing(.linkLost): false
        case .pairing, .refusedByPerson, .keysRefused: true
        case .peerLostKey, .encryptionTimedOut, .encryptionFailed, .linkLost, .notAllowed, .tooWeak, .cancelled: false
        }
    }
}
