import Foundation
import ServiceMessages

/// 12.13: the same call again while it is in force.
struct RepeatedCalls: CentralDetector {
    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .requested(.startScan(let scan)) where picture.scan?.request == scan:
            findings.add(.callOnce, "started the same scan again while it was running")
        case .requested(.peer(let id, .connect)) where picture[id].link == .pending:
            findings.add(.callOnce, peer: id, "connected to \(picture[id].words) again while it was connecting")
        default: break
        }
    }
}
