import ATT
import BluetoothTypes
import GAP
import GATT
import L2CAP

/// Opens enhanced bearers if the peer supports them, then reads all values of its table again, concurrently over all
/// bearers. Lives on the loop.
final class BearersAtOnce {
    private let attributes: LinkAttributes
    private let listing: AttributeListing
    private let report: ToolReport
    private let completion: () -> Void
    private var waiting = 0
    private var same = 0

    init(
        _ attributes: LinkAttributes,
        _ listing: AttributeListing,
        report: ToolReport,
        completion: @escaping () -> Void
    ) {
        self.attributes = attributes
        self.report = report
        self.listing = listing
        self.completion = completion
    }

    func begin() {
        attributes.client.announceEnhancedBearers { [weak self] bothCan in
            guard let self else { return }
            guard bothCan, let enhanced = attributes.enhanced else {
                return end("the peer does not support enhanced bearers")
            }
            enhanced.open(LinkAttributes.enhancedBearers) { [weak self] error in
                guard let self else { return }
                if let error { return end("cannot open enhanced bearers: \(inWords(error))") }
                read()
            }
        }
    }

    private func read() {
        let values = listing.services.flatMap(\.characteristics).compactMap { entry -> (UInt16, PacketBuffer)? in
            // This client has just written its own feature bits there.
            guard entry.uuid != GATTUUID.clientSupportedFeatures else { return nil }
            guard case .known(let value) = entry.value else { return nil }
            return (entry.handle, value)
        }
        guard !values.isEmpty else { return end("there are no values to read") }
        waiting = values.count
        for (handle, value) in values {
            attributes.client.read(handle) { [weak self] in self?.took($0, insteadOf: value, of: values.count) }
        }
    }

    private func took(_ result: Result<PacketBuffer, GATTError>, insteadOf value: PacketBuffer, of count: Int) {
        if case .success(value) = result { same += 1 }
        waiting -= 1
        guard waiting == 0 else { return }
        end(
            "read again over \(attributes.client.bearers.count) bearers at once: \(same) of \(count) values are the same"
        )
    }

    private func end(_ text: String) {
        report.say(text)
        completion()
    }
}

/// Returns why no channel was opened: a clause.
func inWords(_ error: ChannelOpenError) -> String {
    switch error {
    case .refused(let result): "the peer refused: \(result)"
    case .notUnderstood: "the peer does not know the request"
    case .timedOut: "the peer did not respond in time"
    case .invalidResponse: "the peer's response violates the specification"
    case .noResources: "the link has the maximum number of channels"
    case .notAllowed: "the link is not encrypted as these require"
    case .closed: "the link is gone"
    }
}
