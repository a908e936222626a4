import AssignedNumbers
import BluetoothTypes

/// A link, at its end.
package struct LinkSummary: Sendable {
    /// The payload that one end has sent.
    package struct Flow: Hashable, Sendable {
        package var sender: String
        package var octets: Int
        package var packets: Int
        /// The payload a second over the whole link.
        package var average: Double
        /// The payload in the busiest second, in octets.
        package var peak: Int
        /// The most payload a second that PHY, packet length and interval allow.
        package var limit: Double?
    }

    package let number: Int
    package let label: String
    package let peer: BluetoothAddress?
    /// The role of this device; nil if the capture does not tell.
    package let isCentral: Bool?
    package let isAir: Bool
    package let begin: Int64
    /// The end; nil if the capture ends first.
    package let end: Int64?
    package let reason: String?
    /// The end of the link, or of the capture.
    package let last: Int64
    package let interval: UInt16?
    package let latency: UInt16
    package let timeout: UInt16
    package let mtu: Int
    package let isEncrypted: Bool
    package let pairing: String?
    package let operations: Int
    /// The requests that never got their responses.
    private let unanswered: Int
    package let errors: Int
    package let retries: Int
    package let meanLatency: Int64?
    package let longestLatency: Int64
    package let gaps: Int
    package let flows: [Flow]
    package let streams: [String]
    package let repeats: Int
    package let unreadable: Int
    package let emptyPDUs: Int
    /// The number of gaps in what a sniffer heard. What the summary says is then true of what it heard.
    package let missing: Int
    /// The packets that may be encrypted, which the story leaves out.
    package let doubtful: Int
    /// The packets that were sent again, or have the contents of one before that was.
    package let possibleRepeats: Int
    package let isProtectionKnown: Bool
    private let hasBeginning: Bool
    /// The attributes that were discovered, or that are known from an earlier link.
    package let attributes: AttributeBook
    let marks: [LinkStory.Mark]

    init(_ link: LinkStory, label: String?, endOfCapture: Int64) {
        (number, peer, isCentral, isAir) = (link.number, link.peer, link.isCentral, link.isAir)
        self.label = label ?? "a device"
        (begin, end, reason) = (link.begin, link.end, link.reason)
        last = max(link.begin, link.end ?? endOfCapture)
        (interval, latency, timeout, mtu) = (link.interval, link.latency, link.timeout, link.mtu)
        isEncrypted = link.isEncrypted
        pairing = link.pairing.method.map { "\($0): \(link.pairing.result ?? "not finished")" }
        let protocolState = link.attributes
        (operations, errors, retries) = (protocolState.operations, protocolState.errors, protocolState.retries)
        let latencies = protocolState.latencies
        // This device answers its peer at once in virtual time, which says nothing about the link.
        meanLatency = latencies.longest == 0 ? nil : latencies.sum / Int64(latencies.count)
        unanswered = StorySide.allCases.count { protocolState.isWaiting($0) }
        longestLatency = latencies.longest
        gaps = link.gaps
        let seconds = max(Double(last - link.begin) / 1_000_000, 0.001)
        flows = StorySide.allCases.map { side in
            let traffic = link.traffic[side]
            return Flow(
                sender: link.name(side),
                octets: traffic.octets,
                packets: traffic.packets,
                average: Double(traffic.octets) / seconds,
                peak: traffic.peak,
                limit: link.limit(from: side)
            )
        }
        streams = protocolState.streams.map(Self.words)
        (repeats, unreadable, emptyPDUs) = (link.repeats.near + link.repeats.far, link.unreadable, link.emptyPDUs)
        (missing, doubtful, possibleRepeats) = (link.missing, link.doubtful, link.possibleRepeats)
        (isProtectionKnown, hasBeginning) = (link.isProtectionKnown, link.hasBeginning || !link.isAir)
        attributes = protocolState.books.far.isEmpty ? protocolState.books.near : protocolState.books.far
        marks = link.marks
    }

    private static func words(_ stream: AttributeStory.Stream) -> String {
        var text = "\(stream.title): \(stream.count) times, \(stream.octets) octets"
        if stream.count > 1 {
            text += ", every \(StoryWords.time((stream.last &- stream.first) / Int64(stream.count - 1)))"
        }
        return text
    }

    // MARK: Words

    /// The summary in lines, the first one with the devices and the times.
    package var lines: [String] {
        var lines = [head]
        let limit = missing > 0 ? ", as far as heard" : ""
        if let interval { lines.append(StoryWords.parameters(interval, latency, timeout) + ", MTU \(mtu)" + limit) }
        if let pairing { lines.append("pairing: \(pairing)" + limit) }
        if isProtectionKnown {
            lines.append(isEncrypted ? "encrypted at the end" : "not encrypted at the end")
        } else {
            lines.append("it is not known whether it is encrypted at the end")
        }
        if missing > 0 {
            let places = StoryWords.count(missing, "place")
            lines.append("packets were missed at \(places): the numbers are those of the rest")
        }
        if operations > 0 || errors > 0 || unanswered > 0 { lines.append(operationWords) }
        lines += flows.filter { $0.octets > 0 }.map(Self.words)
        lines += streams
        if gaps > 0 { lines.append(StoryWords.count(gaps, "silence") + " of more than 5 s" + limit) }
        if repeats > 0 { lines.append("\(StoryWords.count(repeats, "packet")) sent again") }
        if possibleRepeats > 0 {
            let packets = StoryWords.count(possibleRepeats, "packet")
            lines.append("\(packets) sent again, or new with the contents of the last one")
        }
        if doubtful > 0 {
            lines.append("\(StoryWords.count(doubtful, "packet")) left out as possibly encrypted")
        }
        if unreadable > 0 {
            lines.append("\(StoryWords.count(unreadable, "encrypted packet")), unreadable without the key")
        }
        return lines
    }

    private var head: String {
        let time = (hasBeginning ? "" : "at least ") + StoryWords.time(last - begin)
        let how = reason.map { "ended: \($0)" } ?? "no end in the capture"
        return "\(label), \(time), \(how)"
    }

    private var operationWords: String {
        var text = StoryWords.count(operations + unanswered, "request")
        if let meanLatency {
            text +=
                ", answered after \(StoryWords.time(meanLatency)) on average, \(StoryWords.time(longestLatency)) at most"
        }
        if unanswered > 0 { text += "; \(unanswered) without a response" }
        if errors > 0 { text += "; \(StoryWords.count(errors, "error response"))" }
        if retries > 0 { text += "; \(StoryWords.count(retries, "request")) tried again" }
        return text
    }

    private static func words(_ flow: Flow) -> String {
        var text = "\(flow.sender) sends \(flow.octets) octets in \(StoryWords.count(flow.packets, "packet"))"
        text += ", \(StoryWords.rate(flow.average)) on average, \(flow.peak) in the busiest second"
        if let limit = flow.limit {
            text += "; the link allows \(StoryWords.rate(limit)) at its end"
        }
        return text
    }

    /// The attribute table in lines, with two spaces for each level.
    package var table: [String] {
        var lines: [String] = []
        var starts = attributes.services[...]
        for characteristic in attributes.characteristics {
            while let service = starts.first, service.start <= characteristic.handle {
                lines.append("\(StoryWords.handle(service.start)) \(AssignedNumbers.title(of: service.uuid))")
                starts.removeFirst()
            }
            lines.append(
                "  \(StoryWords.handle(characteristic.value)) \(AssignedNumbers.title(of: characteristic.uuid))"
            )
            lines += attributes.descriptors(of: characteristic).map {
                "    \(StoryWords.handle($0.handle)) \(AssignedNumbers.title(of: $0.uuid))"
            }
        }
        return lines + starts.map { "\(StoryWords.handle($0.start)) \(AssignedNumbers.title(of: $0.uuid))" }
    }
}
