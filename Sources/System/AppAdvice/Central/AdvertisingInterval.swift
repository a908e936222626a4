import EventLoops
import Foundation
import ServiceMessages

/// 12.30: an accessory whose advertising interval is none of those that Apple recommends (behaviours 14.1, 14.2).
///
/// A scan with duplicates shows the time between reports. Each is the interval and up to 10 ms (Core Vol 6 Part B
/// 4.4.2.2.1), or a multiple where reports are missed. A hint only: if no two advertisements in a row are received, the
/// interval is overestimated.
struct AdvertisingInterval: CentralDetector {
    private static let maximumDevices = 32

    private struct Device: Sendable {
        var last: Instant
        var gaps: [Duration] = []
        var isJudged = false
    }

    private var devices: [UUID: Device] = [:]

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        switch step {
        case .requested(.startScan): devices = [:]
        case .delivered(.discovered(let info, _, rssi: _)) where picture.scan?.request.allowsDuplicates == true:
            advertisementReceived(info, picture, &findings)
        default: break
        }
    }

    private mutating func advertisementReceived(
        _ info: PeerInfo,
        _ picture: CentralPicture,
        _ findings: inout Findings
    ) {
        let now = findings.now
        guard var device = devices[info.identifier] else {
            if devices.count < Self.maximumDevices { devices[info.identifier] = Device(last: now) }
            return
        }
        defer { devices[info.identifier] = device }
        let gap = now - device.last
        // Reports on several channels, and with a scan response, come closer together.
        guard !device.isJudged, gap >= AdviceThresholds.shortestGap else { return }
        device.last = now
        device.gaps.append(gap)
        guard device.gaps.count >= AdviceThresholds.gaps else { return }
        device.isJudged = true
        guard let interval = Self.interval(device.gaps), !Self.isRecommended(interval) else { return }
        let name = info.name.map { "\"\($0)\"" } ?? "a device"
        findings.add(
            .advertisingInterval,
            peer: info.identifier,
            at: picture.scan?.site,
            "received \(name) about every \(Int(interval / .milliseconds(1))) ms"
        )
    }

    /// Returns the estimated interval: the mean of the shortest gaps less the mean of the random delay. Nil if too few
    /// gaps are about as short.
    static func interval(_ gaps: [Duration]) -> Duration? {
        guard let least = gaps.min() else { return nil }
        let near = gaps.filter { $0 <= least + AdviceThresholds.advertisingDelay }
        guard near.count >= AdviceThresholds.gaps / 2 else { return nil }
        return near.reduce(.zero, +) / near.count - AdviceThresholds.advertisingDelay / 2
    }

    static func isRecommended(_ interval: Duration) -> Bool {
        AdviceThresholds.advertisingIntervals.contains {
            (interval - .microseconds($0)) / .milliseconds(1) < AdviceThresholds.intervalError
                && (.microseconds($0) - interval) / .milliseconds(1) < AdviceThresholds.intervalError
        }
    }
}
