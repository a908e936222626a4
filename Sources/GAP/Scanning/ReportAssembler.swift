import BluetoothTypes
import EventLoops
import HCI

/// Puts the data of extended advertisements together, which come in several reports when they are long (Core Vol 4 Part E
/// 7.7.65.13).
///
/// Nothing that a controller sends makes it grow (AB-H03): one advertiser has up to ``maximumLength`` octets, there are up to
/// ``maximumChains`` chains with up to ``maximumTotal`` octets at a time, the oldest gives way, and a chain that is not
/// completed within ``timeout`` is dropped.
struct ReportAssembler {
    /// The longest advertising data (Core Vol 4 Part E 7.8.54).
    static let maximumLength = AdvertisingData.maximumLength
    /// Advertisements of which a part is there, at a time.
    static let maximumChains = 64
    /// Octets of all of them together.
    static let maximumTotal = 32_768
    /// How long the rest of an advertisement may take. The packets of one follow each other within milliseconds.
    static let timeout = Duration.seconds(2)

    private struct Key: Hashable {
        var advertiser: AdvertiserKey
        var isScanResponse: Bool
    }

    private enum Chain {
        case open(ExtendedAdvertisingReport, since: Instant)
        /// It was too long: the rest is thrown away as it comes.
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
    /// Octets that are held.
    private(set) var total = 0
    /// Chains that were dropped: too long, too many, or too slow.
    private(set) var dropped: UInt64 = 0

    /// Advertisements of which a part is there.
    var count: Int { chains.count }

    /// When the oldest chain is to be dropped.
    var deadline: Instant? { chains.oldestEntry.map { $0.value.since + Self.timeout } }

    /// Takes a report, and gives the packet that is complete with it, if one is.
    mutating func receive(_ report: ExtendedAdvertisingReport, at now: Instant) -> HeardPacket? {
        // Legacy packets are short: what the two bits say does not matter.
        guard !report.kind.contains(.legacy) else { return HeardPacket(report) }
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

    /// A part that is not the last one. A chain stays where it is in the order of the beginnings.
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

    /// The last part, with what came before it.
    private mutating func finish(_ chain: Chain?, _ report: ExtendedAdvertisingReport) -> HeardPacket? {
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
        var packet = HeardPacket(whole)
        // The controller lost the rest and says so. What is there can be read as far as it goes.
        packet.isTruncated = report.kind.dataStatus == .truncated
        return packet
    }

    /// The reports of one advertisement as one; nil when it would be longer than any is. What but the data may differ from
    /// part to part, as signal strength does, is that of the last one.
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

    /// Drops the chains whose time is over.
    mutating func expire(at now: Instant) {
        while let deadline, deadline <= now, let (_, chain) = chains.popOldest() { drop(chain) }
    }

    /// Forgets everything.
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
        guard let chain else { return }
        total -= chain.length
        dropped &+= 1
    }
}
