import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.19: a request of a central that waits for its response. All requests of the central wait with it.
struct LateResponses: PeripheralDetector {
    /// The maximum number of requests that are followed.
    private static let maximumRequests = 256

    private struct Open: Sendable {
        let since: Instant
        let characteristic: LocalAttributeID?
        let isRead: Bool
    }

    private var open: [UInt64: Open] = [:]

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .told(.readRequested(transaction: let number, _, let id, offset: _)):
            guard open.count < Self.maximumRequests else { return }
            open[number] = Open(since: context.now, characteristic: id, isRead: true)
        case .told(.writeRequested(transaction: let number, _, let writes, needsResponse: true)):
            guard open.count < Self.maximumRequests else { return }
            open[number] = Open(since: context.now, characteristic: writes.first?.characteristic, isRead: false)
        case .requested(.respond(transaction: let number, _, value: _)): open[number] = nil
        case .changed: open = [:]
        case .passed: look(picture, context.now, &findings)
        default: break
        }
    }

    private mutating func look(_ picture: PeripheralPicture, _ now: Instant, _ findings: inout Findings) {
        let late = open.filter { now - $0.value.since > AdviceThresholds.response }
        for (number, request) in late.sorted(by: { $0.key < $1.key }) {
            open[number] = nil
            findings.add(
                .promptResponses,
                attribute: request.characteristic?.rawValue,
                "left a \(request.isRead ? "read" : "write") of "
                    + "\(request.characteristic.map(picture.words) ?? "a value") without a response for more than "
                    + AdviceThresholds.response.words
            )
        }
    }
}
