import EventLoops
import Foundation
import ServiceMessages

/// 12.3: a scan that names no services.
struct ScanWithoutServices: CentralDetector {
    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        guard case .requested(.startScan(let scan)) = step, scan.services?.isEmpty != false else { return }
        let isHidden = findings.isHidden
        findings.add(
            .scanForServices,
            isHidden
                ? "scanned in the background without naming a service, which finds nothing"
                : "scanned without naming a service"
        )
    }
}

/// 12.11: a scan that leads to a device which the app had been connected to before.
struct ScanForKnown: Sendable {
    /// The known devices that a scan has reported since it began, not more than ``KnownPeers/maximum``.
    private var scanned: Set<UUID> = []

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ history: KnownPeers,
        _ findings: inout Findings
    ) {
        switch step {
        case .requested(.startScan) where picture.scan == nil: scanned = []
        case .delivered(.discovered(let info, _, rssi: _)):
            guard history.contains(info.identifier), scanned.count < KnownPeers.maximum else { return }
            scanned.insert(info.identifier)
        case .requested(.peer(let id, .connect)):
            guard scanned.remove(id) != nil else { return }
            findings.add(
                .retrieveKnown,
                peer: id,
                "scanned for \(picture[id].words) and connected to it, although it knew the device already"
            )
        default: break
        }
    }
}

/// The peers that an app has been connected to, the latest ones.
struct KnownPeers: Sendable {
    /// The maximum number of peers. Then all are forgotten.
    static let maximum = 1_024

    private var peers: Set<UUID> = []

    mutating func insert(_ peer: UUID) {
        if !peers.contains(peer), peers.count >= Self.maximum { peers = [] }
        peers.insert(peer)
    }

    func contains(_ peer: UUID) -> Bool { peers.contains(peer) }
}

/// 12.1: a scan continues after `didConnect`, and no other device that it found is used.
struct ScanUntilFound: CentralDetector {
    private enum State: Sendable {
        case searching
        case found(Instant)
        case reported
    }

    private var state = State.searching

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        switch (step, state) {
        case (.requested(.stopScan), _), (.changed, _): state = .searching
        // The app wants another device of the same scan.
        case (.requested(.peer(_, .connect)), .found): state = .searching
        case (.delivered(.peer(_, .connected)), .searching) where picture.scan != nil: state = .found(findings.now)
        case (.passed, .found(let since)) where findings.now - since > AdviceThresholds.scanAfterConnection:
            state = .reported
            let time = findings.now - since
            findings.add(
                .scanUntilFound,
                at: picture.scan?.site,
                "still scanned \(time.words) after it had connected, and used no other device"
            )
        default: break
        }
    }
}

/// 12.4: a scan without a pause in the foreground. A scan that replaces another one continues it. In the background a
/// scan may run on: the system gives it little time (behaviour 2.27). Once it has led to a connection, its length is up
/// to ``ScanUntilFound``, so that there is one advice for one mistake.
struct LongScan: CentralDetector {
    private enum State: Sendable {
        case off
        case hidden
        case running(since: Instant)
        /// The scan has led to a connection, and no further one is wanted so far.
        case found
        case reported
    }

    private var state = State.off

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        guard let scan = picture.scan else { return state = .off }
        switch state {
        case _ where findings.isHidden: state = .hidden
        case .off: state = .running(since: scan.since)
        case .hidden: state = .running(since: findings.now)
        case .running where step.connects: state = .found
        case .found where step.wantsConnection: state = .running(since: findings.now)
        case .running, .found, .reported: break
        }
        guard case .running(let since) = state, findings.now - since > AdviceThresholds.scan else { return }
        state = .reported
        findings.add(
            .shortScans,
            at: scan.site,
            "scanned for more than \(AdviceThresholds.scan.words) without a pause"
        )
    }
}

extension CentralStep {
    fileprivate var connects: Bool { if case (_, .connected)? = peerEvent { true } else { false } }
    fileprivate var wantsConnection: Bool { if case .requested(.peer(_, .connect)) = self { true } else { false } }
}

/// 12.2: duplicates that are not used for a connection, or that are asked for in the background, where there are none.
struct DuplicateReports: CentralDetector {
    private static let maximumDevices = 128

    private struct Device: Sendable {
        let since: Instant
        var reports = 0
    }

    private var devices: [UUID: Device] = [:]
    private var isReported = false

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        switch step {
        case .requested(.startScan(let scan)):
            (devices, isReported) = ([:], false)
            if scan.allowsDuplicates, findings.isHidden {
                isReported = true
                findings.add(.duplicates, "asked for duplicates in the background, where the system reports none")
            }
        case .requested(.peer(let peer, .connect)): devices[peer] = nil
        case .delivered(.discovered(let info, _, rssi: _)) where picture.scan?.request.allowsDuplicates == true:
            count(info, picture, &findings)
        default: break
        }
    }

    private mutating func count(_ info: PeerInfo, _ picture: CentralPicture, _ findings: inout Findings) {
        let now = findings.now
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
