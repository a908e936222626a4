import BluetoothTypes
import Foundation
import ServiceMessages

/// 12.21: a value that is too long for a notification to one of its subscribers, which receives its beginning only
/// (Core Vol 3 Part F 3.4.7.1).
struct TruncatedUpdates: PeripheralDetector {
    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .requested(.updateValue(let id, value: let value, centrals: let chosen)) = step,
            let subscribers = picture.characteristics[id]?.subscribers
        else { return }
        let receivers = chosen.map { subscribers.intersection($0) } ?? subscribers
        guard let least = receivers.compactMap({ picture.maximumUpdates[$0] }).min(), value.count > least
        else { return }
        findings.add(
            .fittingValues,
            attribute: id.rawValue,
            "updated \(picture.words(id)) with \(value.count) octets, of which a subscriber receives \(least)"
        )
    }
}
