import AppAdvice
import AssignedNumbers
import BluetoothTypes
import CaptureStory
import Foundation
import HCI

/// The story of a capture as it is printed: the verdict, entries while the file is read, then the devices, the
/// connections and the totals.
struct Explanation {
    /// The octets of lines that are printed together.
    private static let piece = 1 << 16

    private let report: ToolReport
    private let connection: Int?
    private let isBrief: Bool
    /// The lines of entries that are not printed yet.
    private var lines = StoryLines()
    private(set) var story: CaptureStory
    /// The verdict, once it is known.
    private(set) var verdict: Verdict?

    /// - Parameter verdict: The verdict on the capture; nil if it is known only at the end, and then shown there.
    init(_ report: ToolReport, connection: Int? = nil, isBrief: Bool = false, verdict: Verdict? = nil) {
        (self.report, self.connection, self.isBrief) = (report, connection, isBrief)
        (story, self.verdict) = (CaptureStory(isBrief: isBrief), verdict)
        guard let verdict else { return }
        report.show(VerdictDocument(verdict), as: verdict.lines)
        report.say("")
    }

    /// Receives a record. The entries are printed by ``pause()`` or ``finish(isCut:)``, together with others.
    mutating func receive(_ record: CaptureRecord) {
        for entry in story.receive(record) { show(entry) }
    }

    /// Prints the entries so far, before the program waits for more of the file.
    mutating func pause() {
        guard !lines.isEmpty else { return }
        report.show(visible: lines.octets)
        lines.removeAll()
    }

    /// Ends the story, of a file that ends within a record if `isCut` is set.
    mutating func finish(isCut: Bool) {
        for entry in story.finish() { show(entry) }
        pause()
        if connection == nil { devices() }
        links()
        if connection == nil { advice() }
        if verdict == nil { judge() }
        if connection == nil { totals(isCut: isCut) }
    }

    // MARK: Parts

    private mutating func show(_ entry: StoryEntry) {
        guard connection == nil || entry.connection == connection, !isBrief || entry.kind.isBrief else { return }
        guard !report.isJSON else { return report.show(EntryDocument(entry), as: []) }
        lines.add(entry, since: story.totals.begin ?? entry.unixMicroseconds)
        if lines.octets.count >= Self.piece { pause() }
    }

    private func devices() {
        let devices = story.devices
        if !devices.isEmpty { heading("Devices") }
        for device in devices { report.show(StoryDeviceDocument(device), as: "  \(Self.line(device))") }
        if story.forgottenDevices > 0 { report.say("  and \(story.forgottenDevices) more, which are not listed") }
    }

    private func links() {
        let shown = story.links.filter { connection == nil || $0.number == connection }.sorted { $0.number < $1.number }
        if !shown.isEmpty { heading("Connections") }
        for link in shown {
            let lines = link.lines
            var text = ["  #\(link.number) \(lines[0])"] + lines.dropFirst().map { "       \($0)" }
            if !isBrief, !link.table.isEmpty {
                text += ["       attributes:"] + link.table.map { "         \($0)" }
            }
            report.show(StoryConnectionDocument(link), as: text)
        }
    }

    private mutating func judge() {
        let verdict = story.verdict(of: connection)
        self.verdict = verdict
        report.say("")
        report.show(VerdictDocument(verdict), as: verdict.lines)
    }

    private func advice() {
        let advice = story.advice
        guard !advice.isEmpty else { return }
        heading("Advice")
        for each in advice { report.show(StoryAdviceDocument(each, of: story), as: "  \(each)") }
    }

    private func heading(_ text: String) {
        report.say("")
        report.say(text)
    }

    private func totals(isCut: Bool) {
        let totals = story.totals
        var lines = [
            "",
            "\(count(totals.records, "record")) in \(StoryWords.time(totals.duration)), from \(Self.date(totals.begin))",
        ]
        let kinds = [
            (totals.commands, "command"), (totals.events, "event"), (totals.dataPackets, "data packet"),
            (totals.frames, "frame"), (totals.others, "other record"),
        ]
        lines.append("  " + kinds.filter { $0.0 > 0 }.map { count($0.0, $0.1) }.joined(separator: ", "))
        lines.append(
            "  \(count(totals.connections, "connection")), \(count(totals.failedConnections, "failed attempt")), "
                + "\(count(totals.attributePDUs, "ATT PDU")), \(count(totals.attributeErrors, "ATT error"))"
        )
        if totals.malformed > 0 { lines.append("  \(count(totals.malformed, "malformed or shortened packet"))") }
        if totals.drops > 0 { lines.append("  \(count(Int(totals.drops), "packet")) lost by the capturing program") }
        if isCut { lines.append("  the file ends within a record") }
        report.show(StoryDocument(totals, verdict, isCut: isCut), as: lines)
    }

    // MARK: Words

    private static func line(_ device: StoryDevice) -> String {
        var text = "\(device.address)"
        if let kind = device.address.randomKind {
            text += kind == .resolvable ? " (private)" : kind == .nonResolvable ? " (non-resolvable)" : " (random)"
        }
        if let identity = device.identity { text += ", is \(identity)" }
        if let name = device.name { text += ", \(name.quotedName)" }
        if device.advertisements > 0 { text += ", \(count(device.advertisements, "advertisement"))" }
        if let rssi = device.rssi { text += ", \(rssi) dBm at best" }
        return text
    }

    private static func date(_ unixMicroseconds: Int64?) -> String {
        guard let unixMicroseconds else { return "no time" }
        return Date(timeIntervalSince1970: Double(unixMicroseconds / 1_000_000)).formatted(.iso8601)
    }
}

/// The verdict on a capture.
struct VerdictDocument: ReportDocument {
    static let event = "verdict"

    struct Evidence: Encodable {
        let text: String
        let packet: Int
        let unixMicroseconds: Int64
        let section: String?

        init(_ evidence: StoryEvidence) {
            (text, packet) = (evidence.text, evidence.packet)
            (unixMicroseconds, section) = (evidence.unixMicroseconds, evidence.section)
        }
    }

    let outcome: String
    let attempted: String
    let cause: Evidence?
    let effect: Evidence?
    let connection: Int?
    let furtherFailures: Int

    init(_ verdict: Verdict) {
        (outcome, attempted, connection) = (verdict.outcome.rawValue, verdict.attempted, verdict.connection)
        (cause, effect) = (verdict.cause.map(Evidence.init), verdict.effect.map(Evidence.init))
        furtherFailures = verdict.others
    }
}

/// An entry of a story.
struct EntryDocument: ReportDocument {
    static let event = "entry"

    let unixMicroseconds: Int64
    let offset: UInt64
    let connection: Int?
    let kind: String
    let text: String
    let value: String?
    let section: String?
    let latencyMicroseconds: Int64?

    init(_ entry: StoryEntry) {
        (unixMicroseconds, offset, connection) = (entry.unixMicroseconds, entry.offset, entry.connection)
        (kind, text, value, section) = (entry.kind.rawValue, entry.text, entry.value, entry.section)
        latencyMicroseconds = entry.latency
    }
}

/// A device of a capture.
struct StoryDeviceDocument: ReportDocument {
    static let event = "capturedDevice"

    let address: String
    let addressType: String
    let identity: String?
    let name: String?
    let advertisements: Int
    let rssi: Int8?
    let contents: [String]

    init(_ device: StoryDevice) {
        (address, addressType) = ("\(device.address)", device.address.kind.isRandom ? "random" : "public")
        (identity, name, contents) = (device.identity.map { "\($0)" }, device.name, device.contents)
        (advertisements, rssi) = (device.advertisements, device.rssi)
    }
}

/// A connection of a capture.
struct StoryConnectionDocument: ReportDocument {
    static let event = "capturedConnection"

    struct Flow: Encodable {
        let sender: String
        let octets: Int
        let packets: Int
        let octetsPerSecond: Double
        let peakOctetsPerSecond: Int
        let limitOctetsPerSecond: Double?
    }

    struct Attribute: Encodable {
        let handle: UInt16
        let uuid: String
        let name: String?
        let kind: String
    }

    let connection: Int
    let peer: String?
    let role: String?
    let beginUnixMicroseconds: Int64
    let endUnixMicroseconds: Int64?
    let reason: String?
    let intervalMilliseconds: Double?
    let latency: Int
    let timeoutMilliseconds: Int
    let mtu: Int
    /// nil if packets are missing that may have changed it.
    let isEncrypted: Bool?
    let pairing: String?
    let operations: Int
    let errors: Int
    let retries: Int
    let meanLatencyMicroseconds: Int64?
    let longestLatencyMicroseconds: Int64
    let gaps: Int
    let repeatedPackets: Int
    let unreadablePackets: Int
    let missingPlaces: Int
    let doubtfulPackets: Int
    let flows: [Flow]
    let attributes: [Attribute]

    init(_ link: LinkSummary) {
        (connection, peer, reason) = (link.number, link.peer.map { "\($0)" }, link.reason)
        role = link.isAir ? nil : link.isCentral.map { $0 ? "central" : "peripheral" }
        (beginUnixMicroseconds, endUnixMicroseconds) = (link.begin, link.end)
        intervalMilliseconds = link.interval.map { Double($0) * 1.25 }
        (latency, timeoutMilliseconds, mtu) = (Int(link.latency), Int(link.timeout) * 10, link.mtu)
        (isEncrypted, pairing) = (link.isProtectionKnown ? link.isEncrypted : nil, link.pairing)
        (operations, errors, retries) = (link.operations, link.errors, link.retries)
        (meanLatencyMicroseconds, longestLatencyMicroseconds) = (link.meanLatency, link.longestLatency)
        (gaps, repeatedPackets, unreadablePackets) = (link.gaps, link.repeats, link.unreadable)
        (missingPlaces, doubtfulPackets) = (link.missing, link.doubtful)
        flows = link.flows.map {
            Flow(
                sender: $0.sender,
                octets: $0.octets,
                packets: $0.packets,
                octetsPerSecond: $0.average,
                peakOctetsPerSecond: $0.peak,
                limitOctetsPerSecond: $0.limit
            )
        }
        attributes = Self.attributes(link.attributes)
    }

    private static func attributes(_ book: AttributeBook) -> [Attribute] {
        func made(_ handle: UInt16, _ uuid: BluetoothUUID, _ kind: String) -> Attribute {
            let text = uuid.attributeForm.description
            return Attribute(handle: handle, uuid: text, name: AssignedNumbers.name(of: uuid), kind: kind)
        }
        var list = book.services.map { made($0.start, $0.uuid, "service") }
        for characteristic in book.characteristics {
            list.append(made(characteristic.value, characteristic.uuid, "characteristic"))
            list += book.descriptors(of: characteristic).map { made($0.handle, $0.uuid, "descriptor") }
        }
        return list.sorted { $0.handle < $1.handle }
    }
}

/// An advice that a capture supports.
struct StoryAdviceDocument: ReportDocument {
    static let event = "capturedAdvice"

    let rule: String
    let host: String
    let found: String
    let instead: String
    let isHint: Bool
    let count: Int
    let unixMicroseconds: Int64

    init(_ advice: Advice, of story: CaptureStory) {
        (rule, host, found) = (advice.rule.number, advice.app, advice.found)
        (instead, isHint, count) = (advice.instead, advice.isHint, advice.count)
        unixMicroseconds = story.time(of: advice)
    }
}

/// The totals of a capture.
struct StoryDocument: ReportDocument {
    static let event = "explained"

    let records: Int
    let commands: Int
    let events: Int
    let dataPackets: Int
    let frames: Int
    let others: Int
    let malformed: Int
    let connections: Int
    let failedConnections: Int
    let attributePDUs: Int
    let attributeErrors: Int
    let drops: UInt32
    let durationMicroseconds: Int64
    let isCut: Bool
    /// The outcome of the verdict.
    let verdict: String?

    init(_ totals: StoryTotals, _ verdict: Verdict?, isCut: Bool) {
        self.verdict = verdict?.outcome.rawValue
        (records, commands, events) = (totals.records, totals.commands, totals.events)
        (dataPackets, frames, others) = (totals.dataPackets, totals.frames, totals.others)
        (malformed, connections, failedConnections) = (totals.malformed, totals.connections, totals.failedConnections)
        (attributePDUs, attributeErrors, drops) = (totals.attributePDUs, totals.attributeErrors, totals.drops)
        (durationMicroseconds, self.isCut) = (totals.duration, isCut)
    }
}
