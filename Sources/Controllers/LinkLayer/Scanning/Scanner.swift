import BluetoothTypes
import EventLoops
import HCI

/// The services that a scanner needs from its controller, and its callbacks.
protocol ScannerOwner: AnyObject {
    var privacy: LinkPrivacy { get }
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Called with a report of legacy scanning.
    func scanner(_ scanner: Scanner, reports report: AdvertisingReport)
    /// Called with a report of legacy scanning of a directed advertisement whose target could not be resolved.
    func scanner(_ scanner: Scanner, reports report: DirectedAdvertisingReport)
    /// Called with a report of extended scanning.
    func scanner(_ scanner: Scanner, reports report: ExtendedAdvertisingReport)
    /// Called when an AUX_ADV_IND has announced a periodic advertising train.
    func scanner(_ scanner: Scanner, received train: PeriodicTrain)
    /// Called when the duration of scanning has elapsed.
    func scannerTimedOut(_ scanner: Scanner)
}

/// The scanner, passive and active (Core Vol 6 Part B 4.4.3).
final class Scanner: PrimaryListener {
    /// The advertisement for which a scan request is pending.
    private enum Asked {
        case legacy(BluetoothAddress, LEAdvertisingReportKind)
        case extended(AuxiliaryTrail)
    }

    private(set) var settings = ScanParameters()
    /// The own address on the air, set when scanning starts.
    private var own = OwnAddressParameters()

    /// Whether scanning is enabled, including the pauses between two periods.
    private(set) var isActive = false
    private var duplicates: DuplicateFilter?
    private var backoff = ScanBackoff()
    private var asked: Asked?
    private var timing = ScanTiming()
    private var limit: ScheduledTask?
    private unowned let owner: any ScannerOwner

    init(
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        power: Double,
        accuracy: ClockAccuracy,
        owner: any ScannerOwner
    ) {
        self.owner = owner
        super.init(arbiter: arbiter, loop: loop, random: random, power: power, accuracy: accuracy)
    }

    /// Adopts the parameters for the next start.
    func configure(_ settings: ScanParameters) {
        self.settings = settings
    }

    /// Starts scanning, or starts it again.
    func start(_ timing: ScanTiming, as own: OwnAddressParameters) {
        stop()
        self.own = own
        isActive = true
        self.timing = timing
        duplicates = timing.filter == .disabled ? nil : DuplicateFilter()
        startPeriod()
    }

    func stop() {
        isActive = false
        asked = nil
        if let limit = limit.take() { loop.cancel(limit) }
        end()
    }

    private func startPeriod() {
        backoff = ScanBackoff()
        asked = nil
        if timing.filter == .enabledPerPeriod { duplicates = DuplicateFilter() }
        begin(settings.windows)
        guard let duration = timing.duration else { return }
        limit = loop.schedule(after: duration) { [unowned self] in endPeriod(after: duration) }
    }

    private func endPeriod(after duration: Duration) {
        guard let period = timing.period else {
            stop()
            return owner.scannerTimedOut(self)
        }
        asked = nil
        end()
        limit = loop.schedule(after: period - duration) { [unowned self] in startPeriod() }
    }

    // MARK: Primary channels

    override func receive(_ frame: ReceivedFrame) {
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else { return }
        let phy = frame.advertisingPHY
        reportPassively(pdu, frame, on: phy)
        guard let (advertiser, kind) = scannable(pdu), settings.isActive(on: phy),
            let device = accepted(advertiser), let address = owner.privacy.address(own, towards: device)
        else { return }
        // SCAN_REQ lasts 176, SCAN_RSP at most 376.
        guard hasTime(176 + LinkTiming.interFrameSpace + 376), backoff.mayRequest() else { return }
        asked = .legacy(advertiser, kind)
        let request = AdvertisingPDU.scanRequest(.init(scanner: address, advertiser: advertiser))
        answer(request, on: frame.frame.channel, phy: .le1M)
    }

    /// Reports an advertisement without requesting a scan response. Also used for what an initiator on the same radio
    /// receives.
    func reportPassively(_ pdu: AdvertisingPDU, _ frame: ReceivedFrame, on phy: LEPHY) {
        guard isEnabled else { return }
        switch pdu {
        case .connectableScannable(let body):
            report(.connectableScannable, body.advertiser, body.data, frame.rssi)
        case .scannable(let body):
            report(.scannable, body.advertiser, body.data, frame.rssi)
        case .nonConnectable(let body):
            report(.nonConnectable, body.advertiser, body.data, frame.rssi)
        case .directed(let body):
            report(.directed, body.advertiser, [], frame.rssi, target: body.target)
        case .extended(let body) where settings.isExtended:
            receive(body, frame, on: phy)
        default:
            break
        }
    }

    /// Handles an ADV_EXT_IND, which is the entire advertisement or the start of one.
    private func receive(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, on phy: LEPHY) {
        if let trail = AuxiliaryTrail(pdu, frame, primaryPHY: phy) {
            follow(trail)
        } else if let report = ExtendedAdvertisingReport(pdu, frame, primaryPHY: phy) {
            send(report, info: pdu.extended.info)
        }
    }

    // MARK: Secondary channels

    override func receive(_ frame: ReceivedFrame, on trail: AuxiliaryTrail) {
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)),
            case .extended(let body) = pdu
        else { return lost(trail) }
        let isAdvertisement = trail.leadsToAdvertisement
        guard let next = receive(body, frame, on: trail), isAdvertisement, next.mode == .scannable else { return }
        ask(next, frame)
    }

    /// Handles an AUX_ADV_IND received by an initiator on the same radio.
    func reportPassively(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, on trail: AuxiliaryTrail) {
        guard isEnabled, settings.isExtended else { return }
        _ = receive(pdu, frame, on: trail)
    }

    /// Adds the next PDU of an advertisement, and reports the advertisement if it was the last. Returns nil if the PDU
    /// is of no use.
    private func receive(
        _ pdu: ExtendedAdvertisement,
        _ frame: ReceivedFrame,
        on trail: AuxiliaryTrail
    ) -> AuxiliaryTrail? {
        var trail = trail
        let isFirst = trail.count == 0
        guard trail.append(pdu, frame) else {
            lost(trail)
            return nil
        }
        // Synchronization with trains is independent of the scan filters (Core Vol 6 Part B 4.3.5).
        if isFirst, !trail.isResponse { reportTrain(pdu, frame, trail) }
        guard !isFirst || trail.isResponse || isForUs(trail) else { return nil }
        switch trail.follow(pdu, frame) {
        case .none: report(trail, .complete)
        case .pointed: if !follow(trail) { lost(trail) }
        case .lost: lost(trail)
        }
        return trail
    }

    /// Passes on the location of the set's periodic advertising, if an AUX_ADV_IND contains it.
    private func reportTrain(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, _ trail: AuxiliaryTrail) {
        guard let sync = pdu.extended.sync, let info = trail.info, let advertiser = trail.advertiser,
            let device = owner.privacy.device(advertiser)
        else { return }
        let responses: ResponseTiming?
        do throws(PacketError) {
            responses = try ResponseTiming.find(in: pdu.extended.controllerData)
        } catch {
            // A train with a malformed ACAD cannot be followed.
            return
        }
        owner.scanner(
            self,
            received: PeriodicTrain(
                advertiser: device.identity,
                address: advertiser,
                sid: info.set,
                phy: trail.secondaryPHY,
                sync: sync,
                responses: responses,
                anchor: frame.start + .microseconds(sync.offset),
                estimatedAt: frame.start,
                uncertainty: sync.accuracy
            )
        )
    }

    override func lost(_ trail: AuxiliaryTrail) {
        // Without AUX_ADV_IND there is nothing to report.
        if trail.count > 0 { report(trail, .truncated) }
    }

    private func ask(_ trail: AuxiliaryTrail, _ frame: ReceivedFrame) {
        guard let advertiser = trail.advertiser, settings.isActive(on: trail.primaryPHY),
            let device = accepted(advertiser), let address = owner.privacy.address(own, towards: device),
            trail.target.map({ owner.privacy.mayAnswer($0, own, from: device) }) ?? true
        else { return }
        let phy = trail.secondaryPHY
        let needed = phy.radioPHY.airTimeMicroseconds(octets: 2 + 12) + LinkTiming.interFrameSpace
        guard hasTime(needed + phy.radioPHY.airTimeMicroseconds(octets: 2 + 255)), backoff.mayRequest() else { return }
        asked = .extended(trail.response())
        let request = AdvertisingPDU.scanRequest(.init(scanner: address, advertiser: advertiser))
        answer(request, on: frame.frame.channel, phy: phy)
    }

    // MARK: Replies

    override func hasAnswered() -> Bool { asked != nil }

    override func receiveReply(_ frame: ReceivedFrame) {
        let pdu = frame.isCorrupted ? nil : try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))
        switch (asked, pdu) {
        case (.legacy(let advertiser, let kind), .scanResponse(let response)) where response.advertiser == advertiser:
            gotReply()
            report(.scanResponse, response.advertiser, response.data, frame.rssi, of: kind)
        case (.extended(let trail), .extended(let body))
        where body.extended.advertiser == trail.advertiser && body.mode == .nonConnectable:
            gotReply()
            _ = receive(body, frame, on: trail)
        default:
            noReply()
        }
    }

    private func gotReply() {
        asked = nil
        backoff.requested(answered: true, random)
    }

    override func noReply() {
        guard asked != nil else { return }
        asked = nil
        backoff.requested(answered: false, random)
    }

    // MARK: Filters

    private func scannable(_ pdu: AdvertisingPDU) -> (BluetoothAddress, LEAdvertisingReportKind)? {
        switch pdu {
        case .connectableScannable(let body): (body.advertiser, .connectableScannable)
        case .scannable(let body): (body.advertiser, .scannable)
        default: nil
        }
    }

    /// Returns the advertiser's device if the accept list admits it. Anonymous advertisers have an entry of their own.
    private func accepted(_ advertiser: BluetoothAddress?) -> ResolvedDevice? {
        let address = advertiser ?? .anonymous
        guard let device = owner.privacy.device(address) else { return nil }
        let isFiltered = settings.filterPolicy.rawValue & 1 == 1
        return !isFiltered || owner.isAccepted(device.identity) ? device : nil
    }

    /// Returns the target of a directed advertisement in the form for the host; nil if it is not to be reported
    /// (4.3.3).
    private func reportedTarget(_ target: BluetoothAddress) -> BluetoothAddress? {
        switch owner.privacy.judge(target, own) {
        case .own(let address), .ownPrivate(let address): return address
        case .unresolved:
            let isWanted = settings.filterPolicy.rawValue & 2 == 2
            return isWanted ? BluetoothAddress(target.value, kind: .unresolved) : nil
        case .foreign: return nil
        }
    }

    /// Whether an AUX_ADV_IND is to be reported to the host (4.3.3, 4.4.3.1).
    private func isForUs(_ trail: AuxiliaryTrail) -> Bool {
        accepted(trail.advertiser) != nil && (trail.target.map { reportedTarget($0) != nil } ?? true)
    }

    // MARK: Reports

    private func report(
        _ kind: LEAdvertisingReportKind,
        _ address: BluetoothAddress,
        _ data: PacketBuffer,
        _ rssi: Int8,
        target: BluetoothAddress? = nil,
        of advertisement: LEAdvertisingReportKind = .connectableScannable
    ) {
        if settings.isExtended {
            let properties = LEExtendedReportKind(legacy: kind, of: advertisement)
            return send(.init(legacy: properties, address, target: target, data: data, rssi: rssi), info: nil)
        }
        guard let device = accepted(address) else { return }
        let reportedTarget = target.flatMap(reportedTarget)
        guard target == nil || reportedTarget != nil, duplicates?.isNew(device.identity, kind) ?? true else { return }
        if let target, reportedTarget?.kind == .unresolved {
            let report = DirectedAdvertisingReport {
                $0.kind = kind
                $0.address = device.identity
                $0.directAddress = target
                $0.rssi = rssi
            }
            return owner.scanner(self, reports: report)
        }
        owner.scanner(self, reports: AdvertisingReport(kind: kind, address: device.identity, data: data, rssi: rssi))
    }

    private func report(_ trail: AuxiliaryTrail, _ status: LEExtendedReportKind.DataStatus) {
        send(.init(trail, status), info: trail.info)
    }

    /// Sends a report to the host in fragments, unless it is a duplicate. Incomplete reports may be repeated.
    private func send(_ report: ExtendedAdvertisingReport, info: AdvertisingDataInfo?) {
        guard let report = addressed(report) else { return }
        let isWhole = report.kind.dataStatus == .complete
        if isWhole, let isNew = duplicates?.isNew(report.address, report.kind, info), !isNew { return }
        for piece in report.pieces { owner.scanner(self, reports: piece) }
    }

    /// Returns the report with its addresses in the form for the host; nil if it is not to be reported.
    private func addressed(_ report: ExtendedAdvertisingReport) -> ExtendedAdvertisingReport? {
        let isAnonymous = report.address.kind == BluetoothAddress.anonymous.kind
        guard let device = accepted(isAnonymous ? nil : report.address) else { return nil }
        var report = report
        report.address = device.identity
        guard report.kind.contains(.directed) else { return report }
        guard let target = reportedTarget(report.directAddress) else { return nil }
        report.directAddress = target
        return report
    }
}

/// The backoff procedure of active scanning, which reduces scan requests when they collide with those of other scanners
/// (Core Vol 6 Part B 4.4.3.2).
struct ScanBackoff: Hashable {
    /// The maximum of upperLimit.
    static let maximumLimit: UInt64 = 256

    private var upperLimit: UInt64 = 1
    private var count: UInt64 = 1
    private var failures = 0
    private var successes = 0

    /// Counts a scannable PDU. Returns whether to send a scan request.
    mutating func mayRequest() -> Bool {
        if count > 0 { count -= 1 }
        return count == 0
    }

    /// Records whether a scan request was answered.
    mutating func requested(answered: Bool, _ random: RandomSource) {
        if answered {
            failures = 0
            successes += 1
            if successes == 2 {
                successes = 0
                upperLimit = max(upperLimit / 2, 1)
            }
        } else {
            successes = 0
            failures += 1
            if failures == 2 {
                failures = 0
                upperLimit = min(upperLimit * 2, Self.maximumLimit)
            }
        }
        count = 1 + random.below(upperLimit)
    }
}

/// A periodic advertising train to follow, as known before its first PDU is received.
struct PeriodicTrain {
    /// The advertiser: its identity address if its address was resolved.
    var advertiser: BluetoothAddress
    /// The advertiser's address on the air.
    var address: BluetoothAddress
    var sid: UInt8
    var phy: LEPHY
    var sync: SyncInfo
    /// The subevents and response slots; nil for a train without responses.
    var responses: ResponseTiming?
    /// The earliest start of the AUX_SYNC_IND with ``SyncInfo/counter``.
    var anchor: Instant
    /// The basis of ``anchor``: when the train's location was received, and the accuracy of the sender's clock.
    var estimatedAt: Instant
    var uncertainty: ClockAccuracy
}
