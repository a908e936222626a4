import Administration
import Foundation

/// The devices of the service as the page shows them, and what has changed from one look to the next.
struct PageDeviceList {
    /// A device, with the time of its last advertisement in place of its age, which changes all the time.
    struct Device: Encodable, Hashable {
        let identifier: UUID
        var name: String?
        var rssi: Int?
        /// Seconds since the beginning of 1970.
        var lastSeen: Double?
        var isConnected: Bool
        var isBonded: Bool
    }

    /// The changes since the version before this one.
    struct Change: Encodable, Hashable {
        let version: UInt64
        let changed: [Device]
        let gone: [UUID]
    }

    /// All devices of a version.
    private struct Snapshot: Encodable {
        let version: UInt64
        let devices: [Device]
    }

    /// The time by which two looks may differ about the same advertisement, in seconds.
    private static let tolerance = 0.5

    private var version: UInt64 = 0
    private var devices: [UUID: Device] = [:]

    /// All devices as JSON.
    var snapshot: String {
        JSON.of(
            Snapshot(
                version: version,
                devices: devices.values.sorted { $0.identifier.uuidString < $1.identifier.uuidString }
            )
        )
    }

    /// Takes in an answer of the service, which bounds the number of devices.
    ///
    /// - Parameter now: The time of the answer, in seconds since the beginning of 1970.
    /// - Returns: The changes since the last answer; nil if there are none.
    mutating func update(_ answer: [DeviceStatus], now: Double) -> Change? {
        var gone = Set(devices.keys)
        var changed: [Device] = []
        for status in answer {
            gone.remove(status.identifier)
            let known = devices[status.identifier]
            let device = Self.device(status, now: now, after: known)
            guard device != known else { continue }
            devices[status.identifier] = device
            changed.append(device)
        }
        for identifier in gone { devices[identifier] = nil }
        guard !changed.isEmpty || !gone.isEmpty else { return nil }
        version += 1
        return Change(version: version, changed: changed, gone: gone.sorted { $0.uuidString < $1.uuidString })
    }

    private static func device(_ status: DeviceStatus, now: Double, after known: Device?) -> Device {
        var seen = status.lastSeenSeconds.map { ((now - $0) * 10).rounded() / 10 }
        if let new = seen, let old = known?.lastSeen, abs(new - old) < tolerance { seen = old }
        return Device(
            identifier: status.identifier,
            name: status.name,
            rssi: status.rssi,
            lastSeen: seen,
            isConnected: status.isConnected,
            isBonded: status.isBonded
        )
    }
}
