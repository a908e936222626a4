import BluetoothTypes
import Foundation
import ServiceMessages

/// 12.21: a write that is slightly too long for one packet, so that it is prepared in several (Core Vol 3 Part G
/// 4.9.4).
struct LongWrites: CentralDetector {
    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case (let id, .writeCharacteristic(let handle, value: let value))? = step.link else { return }
        let peer = picture[id]
        let excess = value.count - peer.maximumWrite
        guard peer.link == .connected, (1...AdviceThresholds.justAbove).contains(excess) else { return }
        findings.add(
            .fittingValues,
            peer: id,
            attribute: UInt32(handle),
            "wrote \(value.count) octets to \(peer.words(handle)) of \(peer.words), \(excess) more than fit into one "
                + "packet, so that it takes several"
        )
    }
}
