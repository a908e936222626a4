import EventLoops
import Foundation
import ServiceMessages

/// 12.2: duplicates that are not used for a connection, or that are asked for in the background, where there are none.
struct DuplicateReports: CentralDetector {
    /// The maximum number of devices that are counted in a scan.
    private static let maximumDevices = 128

    private struct Device: Sendable {
        let since: Instant
        var reports = 0
    }

    private var devices: [UUID: Device] = [:]
    private var isReported = false

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .requested(.startScan(let scan)):
            (devices, isReported) = ([:], false)
            if scan.allowsDuplicates, context.isHidden {
                isReported = true
                findings.add(.duplicates, "asked for duplicates in the background, where the system reports none")
            }
        case .requested(.peer(let peer, .connect)): devices[peer] = nil
        case .told(.discovered(let info, _, rssi: _)) where picture.scan?.request.allowsDuplicates == true:
            count(info, picture, context.now, &findings)
        default: break
        }
    }

    private mutating func count(
        _ info: PeerInfo,
        _ picture: CentralPicture,
        _ now: Instant,
        _ findings: inout Findings
    ) {
        // Reports that follow while the app connects, or is connected, have served their purpose. 12.1 is about
        // them.
        guard !isReported, picture[info.identifier].link == .none,
            devices[info.identifier] != nil || devices.count < Self.maximumDevices
        else { return }
        devices[info.identifier, default: Device(since: now)].reports += 1
        guard let device = devices[info.identifier], device.reports > AdviceThresholds.duplicates,
            now - device.since > AdviceThresholds.duplicatesBeforeConnection
        else { return }
        isReported = true
        let name = info.name.map { "\"\($0)\"" } ?? "a device"
        findings.add(
            .duplicates,
            at: picture.scan?.site,
            "received \(device.reports) reports of \(name) in \((now - device.since).words) without connecting to it"
        )
    }
}
