import BluetoothTypes
import CaptureStory
import HCI

/// The chain of causes of a packet of a capture, and what the packet caused itself.
///
/// The file is read twice: for the causes, and for the words of those packets that are shown.
struct WhyExplanation {
    /// The number of packets that the packet caused that are shown, the first ones.
    private static let maximumEffects = 10

    private let number: UInt64
    private var causes = PacketCauses()
    private var count: UInt64 = 0
    private var begin: Int64?
    private var chain: [PacketCause] = []
    private var effects: [PacketCause] = []
    private var effectCount = 0

    /// - Parameter number: The number of the packet, from 1.
    init(of number: Int) { self.number = UInt64(number) }

    /// The number of packets so far.
    var packets: Int { Int(count) }

    /// Receives a record of the first pass.
    mutating func receive(_ record: CaptureRecord) {
        count += 1
        begin = begin ?? record.unixMicroseconds
        guard let node = causes.receive(record, number: count) else { return }
        if count == number { chain = node.chain }
        guard node.cause?.packet == number else { return }
        effectCount += 1
        if effects.count < Self.maximumEffects { effects.append(node) }
    }

    /// Whether the packet is there, and is one of HCI or of the air.
    var isFound: Bool { !chain.isEmpty }

    /// Shows the chain.
    ///
    /// - Parameter words: The words of the packets, by their numbers.
    func show(_ words: [UInt64: String], in report: ToolReport) {
        for (index, cause) in chain.enumerated() {
            let lines = [line(of: cause, words, indent: "")] + reason(of: cause, isLast: index == chain.count - 1)
            report.show(CauseDocument(cause, words[cause.packet], relation: index == 0 ? "packet" : "cause"), as: lines)
        }
        guard !effects.isEmpty else { return }
        report.say("")
        report.say("Caused by packet \(number):")
        for effect in effects {
            let lines = [line(of: effect, words, indent: "  "), "      \(effect.rule.text)\(Self.section(effect))"]
            report.show(CauseDocument(effect, words[effect.packet], relation: "effect"), as: lines)
        }
        if effectCount > effects.count { report.say("  and \(effectCount - effects.count) more") }
    }

    private func line(of cause: PacketCause, _ words: [UInt64: String], indent: String) -> String {
        let time = StoryWords.time(max(0, cause.time &- (begin ?? cause.time)))
        return "\(indent)packet \(cause.packet) at \(time): \(words[cause.packet] ?? "")"
    }

    private func reason(of cause: PacketCause, isLast: Bool) -> [String] {
        guard isLast, !cause.rule.isFirst else { return ["    \(cause.rule.text)\(Self.section(cause))"] }
        return ["    \(cause.rule.text)\(Self.section(cause)): the capture does not have it"]
    }

    private static func section(_ cause: PacketCause) -> String { cause.rule.section.map { " [\($0)]" } ?? "" }

    /// The numbers of the packets that are shown.
    var shown: Set<UInt64> { Set((chain + effects).map(\.packet)) }
}

/// The words of some packets of a capture.
struct CaptureWords {
    /// The maximum number of adapters that are told apart.
    private static let maximumAdapters = 64

    private let wanted: Set<UInt64>
    private var count: UInt64 = 0
    private var dissectors: [UInt32: PacketDissector] = [:]
    private var air = AirDissector()
    private(set) var words: [UInt64: String] = [:]

    init(of wanted: Set<UInt64>) { self.wanted = wanted }

    mutating func receive(_ record: CaptureRecord) {
        count += 1
        let packet: DissectedPacket
        switch record.content {
        case .hci(let content, let direction):
            if dissectors.count >= Self.maximumAdapters, dissectors[record.adapter] == nil { dissectors = [:] }
            packet = dissectors[record.adapter, default: PacketDissector()].receive(content, direction)
        case .frame(let linkType, let octets): packet = air.receive(octets, linkType: linkType)
        case .monitor, .log: return
        }
        if wanted.contains(count) { words[count] = packet.summary.text }
    }
}

/// A packet of a chain of causes.
struct CauseDocument: ReportDocument {
    static let event = "cause"

    /// `packet` for the packet that was asked about, `cause` for those before it, and `effect` for those that it caused.
    let relation: String
    let packet: UInt64
    let unixMicroseconds: Int64
    let text: String?
    /// The relation to the cause, and the packet that is the cause.
    let rule: String
    let reason: String
    let cause: UInt64?
    let section: String?

    init(_ cause: PacketCause, _ text: String?, relation: String) {
        (self.relation, self.text, packet, unixMicroseconds) = (relation, text, cause.packet, cause.time)
        (rule, reason, section) = (cause.rule.rawValue, cause.rule.text, cause.rule.section)
        self.cause = cause.cause?.packet
    }
}
