import Foundation
import ServiceMessages

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
        case .told(.discovered(let info, _, rssi: _)):
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
