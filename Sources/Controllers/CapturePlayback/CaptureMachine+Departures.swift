import HCI

extension CaptureMachine {
    /// The departures so far, with the packets that the stack should have sent by now.
    func departures(at time: Int64) -> [CaptureDeparture] {
        let lanes = [.device] + script.handles.indices.map { Lane.link($0) }
        let missing = lanes.flatMap { missingSteps(on: $0, at: time) }
        let sorted = (missing + leftOut(at: time)).sorted { a, b in (a.capturedTime ?? 0) < (b.capturedTime ?? 0) }
        return report.departures + sorted.prefix(DepartureReport.maximum - report.departures.count)
    }

    private func missingSteps(on lane: Lane, at time: Int64) -> [CaptureDeparture] {
        var before: (captured: Int64, played: Int64)? = lane == .device ? (0, 0) : nil
        var hasEnded = false
        if case .link(let link) = lane { hasEnded = links[link].hasEnded }
        var found: [CaptureDeparture] = []
        for index in script.lanes[lane] ?? [] {
            let step = script.steps[index]
            if let done = progress.done[index] { before = (step.time * 1_000, done) }
            guard step.sent != nil, progress.done[index] == nil, let before else { continue }
            let expected = before.played + (step.time * 1_000 - before.captured)
            guard hasEnded || time > expected + Self.stepTimeout else { continue }
            found.append(
                CaptureDeparture(
                    kind: .missing,
                    time: Double(max(0, expected)) / 1e9,
                    captured: script.words(of: index),
                    capturedTime: Double(step.time) / 1e6,
                    sent: report.lastSent[lane],
                    explanation: hasEnded ? "not sent before the connection ended" : "not sent",
                    isRandom: false
                )
            )
        }
        return found
    }
    // MARK: Packets of the controller

    /// Why packets of the capture's controller were not played.
    private enum Omission: Hashable {
        case inactive(CommandFamily)
        case noConnection(Int)
        case connectionEnded(Int)
        case hostWaits
        case noBeginning(UInt16)
    }

    /// The packets of the controller that should have come by now: one departure for each reason, with the first packet
    /// and their number.
    private func leftOut(at time: Int64) -> [CaptureDeparture] {
        var found: [Omission: (first: Int, count: Int)] = [:]
        var before: (captured: Int64, played: Int64) = (0, 0)
        for (index, step) in script.steps.enumerated() {
            if let done = progress.done[index] { before = (step.time * 1_000, done) }
            guard let received = step.received, progress.done[index] == nil else { continue }
            let expected = before.played + (step.time * 1_000 - before.captured)
            guard time > expected + Self.stepTimeout, let omission = omission(of: index, received) else { continue }
            found[omission, default: (index, 0)].count += 1
        }
        let omitted = found.map { departure($0, script.steps[$1.first], $1.count) }
        return omitted + script.handlesWithoutBeginning.map { departure(.noBeginning($0), nil, $1) }
    }

    private func omission(of step: Int, _ received: CaptureScript.Received) -> Omission? {
        if let family = received.content.family {
            if activities.isTolerated(step) { return nil }
            if !activities.isActive(family) { return .inactive(family) }
        }
        guard case .link(let link) = script.steps[step].lane else { return .hostWaits }
        if links[link].hasEnded { return .connectionEnded(link) }
        return links[link].isUp ? .hostWaits : .noConnection(link)
    }

    private func departure(_ omission: Omission, _ first: CaptureScript.Step?, _ count: Int) -> CaptureDeparture {
        let reason =
            switch omission {
            case .inactive(.scan): "the stack did not scan"
            case .inactive(.advertise): "the stack did not advertise"
            case .inactive: "the stack did not connect"
            case .noConnection: "their connection did not come about"
            case .connectionEnded: "their connection had ended"
            case .hostWaits: "the stack did not send what they follow"
            case .noBeginning(let handle):
                "the capture begins in the middle of connection 0x" + String(handle, radix: 16)
            }
        let packets = count == 1 ? "1 packet" : "\(count) packets"
        let captured = first?.received?.packets.first.map { PacketPrinter.describe($0) }
        return CaptureDeparture(
            kind: .leftOut,
            time: Double(now) / 1e9,
            captured: captured,
            capturedTime: first.map { Double($0.time) / 1e6 },
            sent: first.flatMap { report.lastSent[$0.lane] },
            explanation: "\(packets) of the controller left out: \(reason)",
            isRandom: false
        )
    }
}
