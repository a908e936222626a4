import BluetoothTypes
import EventLoops
import HCI

/// Assembles the data of extended advertisements, which arrives in several reports if it is long (Core Vol 4 Part E
/// 7.7.65.13).
///
/// Memory use is bounded, whatever a controller sends (AB-H03). An advertiser has up to ``maximumLength`` octets; there
/// are up to ``maximumChains`` chains with up to ``maximumTotal`` octets in total, of which the oldest are dropped
/// first. A chain that is not complete within ``timeout`` is dropped.
struct ReportAssembler {
    /// The maximum length of advertising data (Core Vol 4 Part E 7.8.54).
    static let maximumLength = AdvertisingData.maximumLength
    /// The maximum number of incomplete advertisements.
    static let maximumChains = 64
    /// The maximum number of octets in all of them.
    static let maximumTotal = 32_768
    /// The time-out for the rest of an advertisement. Its packets follow each other within milliseconds.
    static let timeout = Duration.seconds(2)

    private struct Key: Hashable {
        var advertiser: AdvertiserKey
        var isScanResponse: Bool
    }

    private enum Chain {
        case open(ExtendedAdvertisingReport, since: Instant)
        /// The data was too long; the rest is discarded.
        case spoilt(since: Instant)

        var since: Instant {
            switch self {
            case .open(_, let since), .spoilt(let since): since
            }
        }

        var length: Int {
            if case .open(let report, _) = self { report.data.count } else { 0 }
        }
    }

    private var chains = RecencyTable<Key, Chain>(limit: maximumChains)
    /// The number of octets stored.
    private(set) var total = 0
    /// The number of chains dropped because they were too long, too many, or too slow.
    private(set) var dropped: UInt64 = 0

    var count: Int { chains.count }

    /// The time at which to drop the oldest chain.
    var deadline: Instant? { chains.oldestEntry.map { $0.value.since + Self.timeout } }

    /// Adds a report. Returns the packet that it completes, if any.
    mutating func receive(_ report: ExtendedAdvertisingReport, at now: Instant) -> ReceivedPacket? {
        // Legacy packets are never split, so their data status is irrelevant.
        guard !report.kind.contains(.legacy) else { return ReceivedPacket(report) }
        let key = Key(advertiser: report.advertiser, isScanResponse: report.kind.contains(.scanResponse))
        switch report.kind.dataStatus {
        case .moreToCome:
            extend(key, with: report, at: now)
            return nil
        case .complete, .truncated: return finish(remove(key), report)
        case .reserved:
            _ = remove(key)
            return nil
        }
    }

    /// Adds a part that is not the last one. Chains stay in the order in which they began.
    private mutating func extend(_ key: Key, with report: ExtendedAdvertisingReport, at now: Instant) {
        switch chains[key] {
        case nil: begin(.open(report, since: now), key)
        case .spoilt: break
        case .open(let begun, let since):
            total -= begun.data.count
            if let longer = join(begun, report) {
                total += longer.data.count
                chains.update(key) { $0 = .open(longer, since: since) }
                shrink()
            } else {
                chains.update(key) { $0 = .spoilt(since: since) }
                dropped &+= 1
            }
        }
    }

    private mutating func finish(_ chain: Chain?, _ report: ExtendedAdvertisingReport) -> ReceivedPacket? {
        let whole: ExtendedAdvertisingReport?
        switch chain {
        case nil: whole = report
        case .spoilt: return nil
        case .open(let begun, _): whole = join(begun, report)
        }
        guard let whole else {
            dropped &+= 1
            return nil
        }
        var packet = ReceivedPacket(whole)
        // The controller reports that it lost the rest. The data received so far is usable.
        packet.isTruncated = report.kind.dataStatus == .truncated
        return packet
    }

    /// Joins the reports of an advertisement; nil if the data would exceed the maximum length. Other fields, such as
    /// signal strength, are those of the last part.
    private func join(
        _ begun: ExtendedAdvertisingReport,
        _ report: ExtendedAdvertisingReport
    ) -> ExtendedAdvertisingReport? {
        guard begun.data.count + report.data.count <= Self.maximumLength else { return nil }
        var data = begun.data
        data.append(contentsOf: report.data)
        var joined = report
        joined.data = data
        return joined
    }

    mutating func expire(at now: Instant) {
        while let deadline, deadline <= now, let (_, chain) = chains.popOldest() { drop(chain) }
    }

    mutating func removeAll() {
        chains.removeAll()
        total = 0
    }

    private mutating func remove(_ key: Key) -> Chain? {
        let chain = chains.removeValue(for: key)
        total -= chain?.length ?? 0
        return chain
    }

    private mutating func begin(_ chain: Chain, _ key: Key) {
        drop(chains.set(chain, for: key)?.value)
        total += chain.length
        shrink()
    }

    private mutating func shrink() {
        while total > Self.maximumTotal, let (_, old) = chains.popOldest() { drop(old) }
    }

    private mutating func drop(_ chain: Chain?) {
        // A spoilt chain was counted when it became too long, and has no octets.
        guard let chain, case .open = chain else { return }
        total -= chain.length
        dropped &+= 1
    }
}
