import BluetoothTypes
import HCI

/// Applies quirks to the events from the controller to the host.
struct QuirkEvents {
    /// The kind of an event, as far as it matters to quirks.
    enum Kind {
        case connection
        /// A connection that ends the advertising of a set, which the controller reports as well.
        case connectionToSet
        case setEnd
        case encryption
        case other
    }

    enum Action {
        case pass(HCIPacket, Kind)
        /// Counts an occurrence of a quirk.
        case show(ControllerQuirk)
    }

    /// The handle of the nonexistent connection that carries debugging output.
    static let debugHandle: UInt16 = 0xEDC
    /// The capacity of the duplicate filter in advertisers. When full, it starts over.
    static let maximumSeen = 1_024
    /// The reserved bits of a PHY field (Core Vol 4 Part E 7.7.65.13).
    static let reservedPHYBits: UInt8 = 0xE0

    /// The number of octets to which an extended advertisement is truncated.
    static let truncatedLength = 31
    /// The number of truncated advertisements tracked to drop their further fragments. When full, tracking starts over.
    static let maximumTruncated = 64

    private struct Seen: Hashable {
        var address: BluetoothAddress
        var kind: UInt16
        var sid: UInt8
    }

    private let quirks: Set<ControllerQuirk>
    private var seen: Set<Seen> = []
    /// Truncated advertisements whose further fragments are yet to come, and to be dropped.
    private var truncated: Set<Seen> = []

    init(_ quirks: Set<ControllerQuirk>) { self.quirks = quirks }

    mutating func reset() { (seen, truncated) = ([], []) }

    mutating func handle(_ packet: HCIPacket, _ event: EventPacket) -> [Action] {
        switch (event.code, event.subevent) {
        case (CommandComplete.eventCode, nil): return answer(packet, event)
        case (EncryptionChange.eventCode, nil), (EncryptionChangeV2.eventCode, nil),
            (EncryptionKeyRefreshComplete.eventCode, nil):
            return [.pass(packet, .encryption)]
        case (.leMeta, LEConnectionComplete.subevent), (.leMeta, LEEnhancedConnectionComplete.subevent),
            (.leMeta, LEEnhancedConnectionCompleteV2.subevent):
            // Status, handle and role come first in all versions of the event.
            let parameters = event.eventParameters
            let isOfSet = parameters.count > 3 && parameters[0] == 0 && parameters[3] == LERole.peripheral.rawValue
            return [.pass(packet, isOfSet ? .connectionToSet : .connection)]
        case (.leMeta, LEAdvertisingSetTerminated.subevent): return [.pass(packet, .setEnd)]
        case (.leMeta, LEExtendedAdvertisingReport.subevent): return extendedReports(packet, event)
        case (.leMeta, LEAdvertisingReport.subevent): return legacyReports(packet, event)
        default: return [.pass(packet, .other)]
        }
    }

    // MARK: Command responses

    private mutating func answer(_ packet: HCIPacket, _ event: EventPacket) -> [Action] {
        guard var answer = try? CommandComplete.reading(event.parameters) else { return [.pass(packet, .other)] }
        if answer.opcode == LESetScanEnable.opcode || answer.opcode == LESetExtendedScanEnable.opcode { seen = [] }
        guard answer.parameters.first == 0 else { return [.pass(packet, .other)] }
        var shown: [Action] = []
        for change in [Self.claim, Self.invent, Self.shorten] {
            guard let (quirk, parameters) = change(answer), quirks.contains(quirk) else { continue }
            answer.parameters = parameters
            shown.append(.show(quirk))
        }
        return shown.isEmpty ? [.pass(packet, .other)] : shown + [.pass(HCIPacket(answer), .other)]
    }

    /// Removes one of the version 5.0 commands from the supported commands. Counts as
    /// ``ControllerQuirk/legacyScanHangs``.
    private static func claim(_ answer: CommandComplete) -> (ControllerQuirk, PacketBuffer)? {
        guard answer.opcode == ReadLocalSupportedCommands.opcode,
            var response = try? ReadLocalSupportedCommands.Response.reading(answer.parameters)
        else { return nil }
        response.commands.remove(LESetExtendedScanResponseData.self)
        return (.legacyScanHangs, response.encoded())
    }

    private static func invent(_ answer: CommandComplete) -> (ControllerQuirk, PacketBuffer)? {
        switch answer.opcode {
        case ReadBDADDR.opcode:
            (.badBuffers, ReadBDADDR.Response(address: BluetoothAddress(0, kind: .publicDevice)).encoded())
        case LEReadBufferSize.opcode:
            (.badBuffers, LEReadBufferSize.Response(aclDataPacketLength: .max, totalACLDataPackets: 0).encoded())
        case LEReadBufferSizeV2.opcode:
            (
                .badBuffers,
                LEReadBufferSizeV2.Response(.init(aclDataPacketLength: .max, totalACLDataPackets: 0)).encoded()
            )
        default: nil
        }
    }

    private static func shorten(_ answer: CommandComplete) -> (ControllerQuirk, PacketBuffer)? {
        lengths[answer.opcode].map { (.shortReplies, answer.parameters.prefix(upTo: min($0, answer.parameters.count))) }
    }

    /// The lengths to which responses are cut. The supported commands keep every octet that is in use.
    private static let lengths: [Opcode: Int] = [
        ReadLocalSupportedCommands.opcode: 1 + 42, LEReadLocalSupportedFeatures.opcode: 1 + 5,
        LEReadSupportedStates.opcode: 1, LEReadFilterAcceptListSize.opcode: 1, ReadBDADDR.opcode: 1 + 3,
    ]

    // MARK: Reports

    private mutating func extendedReports(_ packet: HCIPacket, _ event: EventPacket) -> [Action] {
        if quirks.contains(.extendedScanSilent) { return [.show(.extendedScanSilent)] }
        guard !quirks.isDisjoint(with: [.reservedPHYBits, .duplicatesHidden, .extendedDataTruncated]),
            var told = try? LEExtendedAdvertisingReport.reading(event.eventParameters)
        else { return [.pass(packet, .other)] }
        var shown: [Action] = []
        if quirks.contains(.extendedDataTruncated) {
            let whole = told.reports
            told.reports = whole.compactMap { truncate($0) }
            if told.reports != whole { shown.append(.show(.extendedDataTruncated)) }
            guard !told.reports.isEmpty else { return shown }
        }
        if quirks.contains(.duplicatesHidden) {
            let count = told.reports.count
            told.reports.removeAll { !isNew(Seen(address: $0.address, kind: $0.kind.rawValue, sid: $0.sid)) }
            if told.reports.count < count { shown.append(.show(.duplicatesHidden)) }
            guard !told.reports.isEmpty else { return shown }
        }
        if quirks.contains(.reservedPHYBits) {
            for index in told.reports.indices {
                told.reports[index].primaryPHY.rawValue |= Self.reservedPHYBits
                told.reports[index].secondaryPHY.rawValue |= Self.reservedPHYBits
            }
            shown.append(.show(.reservedPHYBits))
        }
        return shown + [.pass(HCIPacket(told), .other)]
    }

    private mutating func legacyReports(_ packet: HCIPacket, _ event: EventPacket) -> [Action] {
        guard quirks.contains(.duplicatesHidden),
            var told = try? LEAdvertisingReport.reading(event.eventParameters)
        else { return [.pass(packet, .other)] }
        let count = told.reports.count
        told.reports.removeAll { !isNew(Seen(address: $0.address, kind: UInt16($0.kind.rawValue), sid: 0xFF)) }
        guard told.reports.count < count else { return [.pass(packet, .other)] }
        let rest: [Action] = told.reports.isEmpty ? [] : [.pass(HCIPacket(told), .other)]
        return [.show(.duplicatesHidden)] + rest
    }

    /// Returns the truncated report; nil for a further fragment of an advertisement truncated before.
    private mutating func truncate(_ report: ExtendedAdvertisingReport) -> ExtendedAdvertisingReport? {
        guard !report.kind.contains(.legacy) else { return report }
        let advertisement = Seen(address: report.address, kind: report.kind.rawValue & ~0x60, sid: report.sid)
        let isLast = report.kind.dataStatus != .moreToCome
        if truncated.contains(advertisement) {
            if isLast { truncated.remove(advertisement) }
            return nil
        }
        guard report.data.count > Self.truncatedLength else { return report }
        if truncated.count >= Self.maximumTruncated { truncated = [] }
        if !isLast { truncated.insert(advertisement) }
        var left = report
        left.data = report.data.prefix(upTo: Self.truncatedLength)
        // Data_Status 0b10: incomplete, no more to come (Core Vol 4 Part E 7.7.65.13).
        left.kind.dataStatus = .truncated
        return left
    }

    private mutating func isNew(_ report: Seen) -> Bool {
        // The fragments of one long advertisement are of the same kind, and none is a duplicate.
        guard report.kind & 0x60 == 0 else { return true }
        if seen.count >= Self.maximumSeen { seen = [] }
        return seen.insert(report).inserted
    }
}
