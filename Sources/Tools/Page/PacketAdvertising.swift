import AssignedNumbers
import BluetoothTypes
import CaptureStory
import Foundation
import HCI

/// What packets advertise, in words.
///
/// A device repeats its advertisement many times a second, so that the words for the last ones are remembered.
struct PacketAdvertising {
    /// The maximum number of advertisements whose words are remembered.
    static let maximumKnown = 256
    /// The place in a frame from which on equal frames have equal words: after the channel and the signal strength.
    private static let content = 4

    private var known: [PacketBuffer: PacketSummary] = [:]

    /// Returns a frame on the air in one line: an advertisement in words, others as they are dissected.
    mutating func summary(ofFrame octets: PacketBuffer, dissect: () -> PacketSummary) -> PacketSummary {
        guard AirDissector.advertisingData(of: octets) != nil else { return dissect() }
        let content = octets.suffix(after: Self.content)
        if let summary = known[content] { return summary }
        var summary = dissect()
        if let text = Self.text(ofFrame: octets, summary.text) {
            summary.text = text.oneLine(PacketDissector.maximumSummary)
        }
        if known.count >= Self.maximumKnown { known = [:] }
        known[content] = summary
        return summary
    }

    /// Returns the text of an advertising report in place of its octets; nil for another packet.
    static func text(of packet: HCIPacket) -> String? {
        guard isReport(packet), let event = try? EventPacket(reading: packet.bytes),
            let decoded = try? HCIEventRegistry.decode(event)
        else { return nil }
        switch decoded {
        case let event as LEAdvertisingReport:
            let reports = event.reports.map { line($0.address, "\($0.kind)", $0.data, $0.rssi) }
            return text(LEAdvertisingReport.name, reports)
        case let event as LEExtendedAdvertisingReport:
            let reports = event.reports.map { line($0.address, "\($0.kind)", $0.data, $0.rssi) }
            return text(LEExtendedAdvertisingReport.name, reports)
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
        guard let data = AirDissector.advertisingData(of: octets), let end = text.range(of: ", Data: ") else { return nil }
        return ([String(text[..<end.lowerBound]).replacing("AdvA: ", with: "")] + words(data)).joined(separator: ", ")
    }

    private static func text(_ name: String, _ reports: [String]) -> String {
        "\(name): \(reports.joined(separator: "; "))"
    }

    private static func line(_ address: BluetoothAddress, _ kind: String, _ data: PacketBuffer, _ rssi: Int8) -> String
    {
        (["\(address)"] + words(data) + [kind, rssi == 127 ? nil : "\(rssi) dBm"].compactMap { $0 }).joined(
            separator: ", "
        )
    }

    private static func words(_ data: PacketBuffer) -> [String] {
        AdvertisementText.words(of: AdvertisingData(parsing: data), omitting: .flags)
    }
}
