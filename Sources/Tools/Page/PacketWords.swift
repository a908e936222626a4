import AssignedNumbers
import BluetoothTypes
import CaptureStory
import Foundation
import HCI
import ServiceEvents

/// A packet in a row of a page.
struct PacketLine {
    var summary: PacketSummary
    /// The signal strength of a received advertisement or of a frame, in dBm; nil if there is none.
    var rssi: Int8?
}

/// The words of packets, with what they advertise in place of its octets.
///
/// A device repeats its advertisement many times a second, so that the words for the last ones are remembered.
final class PacketWords {
    /// The maximum number of advertisements whose words are remembered.
    static let maximumKnown = 256
    /// The place in a frame from which on equal frames have equal words: after the channel and the signal strength.
    private static let content = 4

    /// The signal strength of a report without one (Core Vol 4 Part E 7.7.65.2).
    private static let unknown: Int8 = 127

    private var known: [PacketBuffer: PacketSummary] = [:]

    func line(of packet: MonitoredPacket, _ dissected: DissectedPacket) -> PacketLine {
        guard let content = packet.packet else {
            let rssi = AirDissector.rssi(of: packet.octets)
            return PacketLine(summary: summary(ofFrame: packet.octets, dissected), rssi: rssi)
        }
        guard let report = Self.report(content) else { return PacketLine(summary: dissected.summary) }
        let text = report.text.oneLine(PacketDissector.maximumSummary)
        return PacketLine(summary: PacketSummary(layer: .hci, text: text), rssi: report.rssi)
    }

    /// Returns a frame on the air in one line: an advertisement in words, others as they are dissected.
    private func summary(ofFrame octets: PacketBuffer, _ dissected: DissectedPacket) -> PacketSummary {
        guard AirDissector.advertisingData(of: octets) != nil else { return dissected.summary }
        let content = octets.suffix(after: Self.content)
        if let summary = known[content] { return summary }
        var summary = dissected.summary
        if let text = Self.text(ofFrame: octets, summary.text) {
            summary.text = text.oneLine(PacketDissector.maximumSummary)
        }
        if known.count >= Self.maximumKnown { known = [:] }
        known[content] = summary
        return summary
    }

    /// Returns the text of an advertising report in place of its octets, and the strongest signal in it, in dBm; nil for
    /// another packet.
    private static func report(_ packet: HCIPacket) -> (text: String, rssi: Int8?)? {
        guard isReport(packet), let event = try? EventPacket(reading: packet.bytes),
            let decoded = try? HCIEventRegistry.decode(event)
        else { return nil }
        switch decoded {
        case let event as LEAdvertisingReport:
            let lines = event.reports.map { line($0.address, "\($0.kind)", $0.data, $0.rssi) }
            return report(LEAdvertisingReport.name, lines, event.reports.map(\.rssi))
        case let event as LEExtendedAdvertisingReport:
            let lines = event.reports.map { line($0.address, "\($0.kind)", $0.data, $0.rssi) }
            return report(LEExtendedAdvertisingReport.name, lines, event.reports.map(\.rssi))
        default: return nil
        }
    }

    /// Whether a packet is an event with advertising reports, by its codes.
    private static func isReport(_ packet: HCIPacket) -> Bool {
        packet.kind == .event && packet.bytes.octet(at: 0) == EventCode.leMeta.rawValue
            && [0x02, 0x0D].contains(packet.bytes.octet(at: 2))
    }

    /// Returns the text of a frame with legacy advertising data; nil for another frame.
    ///
    /// - Parameter text: The text with the data as octets.
    private static func text(ofFrame octets: PacketBuffer, _ text: String) -> String? {
        guard let data = AirDissector.advertisingData(of: octets), let end = text.range(of: ", Data: ") else {
            return nil
        }
        return ([String(text[..<end.lowerBound]).replacing("AdvA: ", with: "")] + words(data)).joined(separator: ", ")
    }

    private static func report(_ name: String, _ lines: [String], _ strengths: [Int8]) -> (String, Int8?) {
        ("\(name): \(lines.joined(separator: "; "))", strengths.filter { $0 != unknown }.max())
    }

    private static func line(_ address: BluetoothAddress, _ kind: String, _ data: PacketBuffer, _ rssi: Int8) -> String
    {
        (["\(address)"] + words(data) + [kind, rssi == unknown ? nil : "\(rssi) dBm"].compactMap { $0 }).joined(
            separator: ", "
        )
    }

    private static func words(_ data: PacketBuffer) -> [String] {
        AdvertisementText.words(of: AdvertisingData(parsing: data), omitting: .flags)
    }
}
