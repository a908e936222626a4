import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What a scanner asks of its controller, and tells it.
protocol ScannerOwner: AnyObject {
    /// What is known of addresses.
    var privacy: LinkPrivacy { get }
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Something has been heard by a scanner of the legacy commands.
    func scanner(_ scanner: Scanner, reports report: AdvertisingReport)
    /// A directed advertisement has been heard by a scanner of the legacy commands, and nobody knows for whom it is.
    func scanner(_ scanner: Scanner, reports report: DirectedAdvertisingReport)
    /// Something has been heard by a scanner of the extended commands.
    func scanner(_ scanner: Scanner, reports report: ExtendedAdvertisingReport)
    /// AUX_ADV_IND tells where a train is.
    func scanner(_ scanner: Scanner, heard train: PeriodicTrain)
    /// The time of scanning is over.
    func scannerTimedOut(_ scanner: Scanner)
}

/// Scanning, passive and active (Core Vol 6 Part B 4.4.3).
final class Scanner: PrimaryListener {
    /// Whom a request was sent to, and what is known of the advertisement.
    private enum Asked {
        case legacy(BluetoothAddress, LEAdvertisingReportKind)
        case extended(AuxiliaryTrail)
    }

    /// The parameters as the host gave them.
    var settings = ScanSettings()
    /// The address on the air, fixed when scanning begins.
    var own = OwnAddress()

    /// Whether the host has it scan; between two periods it rests.
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

    /// Begins to scan.
    func start(_ timing: ScanTiming) {
        stop()
        isActive = true
        self.timing = timing
        duplicates = timing.filter == .disabled ? nil : DuplicateFilter()
        startPeriod()
    }

    /// Ends scanning.
    func stop() {
        isActive = false
        asked = nil
        if let limit { loop.cancel(limit) }
        limit = nil
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

    override func heard(_ frame: ReceivedFrame) {
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) else { return }
        let phy = frame.advertisingPHY
        overhear(pdu, frame, on: phy)
        guard let (advertiser, kind) = scannable(pdu), settings.isActive(on: phy),
            let device = accepted(advertiser), let address = owner.privacy.address(own, towards: device)
        else { return }
        // SCAN_REQ 176, SCAN_RSP 376 at most.
        guard hasTime(176 + LinkTiming.interFrameSpace + 376), backoff.mayRequest() else { return }
        asked = .legacy(advertiser, kind)
        let request = AdvertisingPDU.scanRequest(.init(scanner: address, advertiser: advertiser))
        answer(request, on: frame.frame.channel, phy: .le1M)
    }

    /// Reports what somebody advertises, without asking for more. Also what an initiator on the same radio has heard.
    func overhear(_ pdu: AdvertisingPDU, _ frame: ReceivedFrame, on phy: LEPHY) {
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
            take(body, frame, on: phy)
        default:
            break
        }
    }

    /// ADV_EXT_IND: all of the advertisement, or the beginning of it.
    private func take(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, on phy: LEPHY) {
        if let trail = AuxiliaryTrail(pdu, frame, primaryPHY: phy) {
            follow(trail)
        } else if let report = ExtendedAdvertisingReport(pdu, frame, primaryPHY: phy) {
            send(report, info: pdu.extended.info)
        }
    }

    // MARK: Secondary channels

    override func heard(_ frame: ReceivedFrame, on trail: AuxiliaryTrail) {
        guard !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)),
            case .extended(let body) = pdu
        else { return lost(trail) }
        let isAdvertisement = trail.leadsToAdvertisement
        guard let next = take(body, frame, on: trail), isAdvertisement, next.mode == .scannable else { return }
        ask(next, frame)
    }

    /// An AUX_ADV_IND that an initiator on the same radio has heard.
    func overhear(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, on trail: AuxiliaryTrail) {
        guard isEnabled, settings.isExtended else { return }
        _ = take(pdu, frame, on: trail)
    }

    /// Takes the next PDU of an advertisement, and reports it when it is the last. Nil when it is of no use.
    private func take(
        _ pdu: ExtendedAdvertisement,
        _ frame: ReceivedFrame,
        on trail: AuxiliaryTrail
    ) -> AuxiliaryTrail? {
        var trail = trail
        let isFirst = trail.count == 0
        guard trail.take(pdu, frame) else {
            lost(trail)
            return nil
        }
        // Whose train is followed is not the scan's business (Core Vol 6 Part B 4.3.5).
        if isFirst, !trail.isResponse { tell(pdu, frame, trail) }
        guard !isFirst || trail.isResponse || isForUs(trail) else { return nil }
        switch trail.follow(pdu, frame) {
        case .none: report(trail, .complete)
        case .pointed: if !follow(trail) { lost(trail) }
        case .lost: lost(trail)
        }
        return trail
    }

    /// AUX_ADV_IND may say where the periodic advertising of the set is.
    private func tell(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, _ trail: AuxiliaryTrail) {
        guard let sync = pdu.extended.sync, let info = trail.info, let advertiser = trail.advertiser,
            let device = owner.privacy.device(advertiser)
        else { return }
        let responses: ResponseTiming?
        do throws(PacketError) {
            responses = try ResponseTiming.find(in: pdu.extended.controllerData)
        } catch {
            // What nobody can read nobody can follow.
            return
        }
        owner.scanner(
            self,
            heard: PeriodicTrain(
                advertiser: device.identity,
                address: advertiser,
                sid: info.set,
                phy: trail.secondaryPHY,
                sync: sync,
                responses: responses,
                anchor: frame.start + .microseconds(sync.offset),
                reckonedAt: frame.start,
                uncertainty: sync.accuracy
            )
        )
    }

    override func lost(_ trail: AuxiliaryTrail) {
        // Without AUX_ADV_IND there is nothing to be told.
        if trail.count > 0 { report(trail, .truncated) }
    }

    /// Asks for the scan response.
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

    override func heardReply(_ frame: ReceivedFrame) {
        let pdu = frame.isCorrupted ? nil : try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))
        switch (asked, pdu) {
        case (.legacy(let advertiser, let kind), .scanResponse(let response)) where response.advertiser == advertiser:
            gotReply()
            report(.scanResponse, response.advertiser, response.data, frame.rssi, of: kind)
        case (.extended(let trail), .extended(let body))
        where body.extended.advertiser == trail.advertiser && body.mode == .nonConnectable:
            gotReply()
            _ = take(body, frame, on: trail)
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

    /// Who an advertiser is, if the accept list lets it through; one that does not tell has an entry of its own.
    private func accepted(_ advertiser: BluetoothAddress?) -> HeardDevice? {
        let address = advertiser ?? .anonymous
        guard let device = owner.privacy.device(address) else { return nil }
        let isFiltered = settings.filterPolicy.rawValue & 1 == 1
        return !isFiltered || owner.isAccepted(device.identity) ? device : nil
    }

    /// How the host is told whom a directed advertisement is for; nil when it is not told at all (4.3.3).
    private func told(_ target: BluetoothAddress) -> BluetoothAddress? {
        switch owner.privacy.judge(target, own) {
        case .own(let address), .ownPrivate(let address): return address
        case .unresolved:
            let isWanted = settings.filterPolicy.rawValue & 2 == 2
            return isWanted ? BluetoothAddress(target.value, kind: .unresolved) : nil
        case .foreign: return nil
        }
    }

    /// Whether what AUX_ADV_IND says is for this device (4.3.3, 4.4.3.1).
    private func isForUs(_ trail: AuxiliaryTrail) -> Bool {
        accepted(trail.advertiser) != nil && (trail.target.map { told($0) != nil } ?? true)
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
        let told = target.flatMap(told)
        guard target == nil || told != nil, duplicates?.isNew(device.identity, kind) ?? true else { return }
        if let target, told?.kind == .unresolved {
            let report = DirectedAdvertisingReport(
                kind: kind,
                address: device.identity,
                directAddress: target,
                rssi: rssi
            )
            return owner.scanner(self, reports: report)
        }
        owner.scanner(self, reports: AdvertisingReport(kind: kind, address: device.identity, data: data, rssi: rssi))
    }

    private func report(_ trail: AuxiliaryTrail, _ status: LEExtendedReportKind.DataStatus) {
        send(.init(trail, status), info: trail.info)
    }

    /// Tells the host, in as many pieces as it takes, and not twice. What was not heard whole may be told again.
    private func send(_ report: ExtendedAdvertisingReport, info: AdvertisingDataInfo?) {
        guard let report = addressed(report) else { return }
        let isWhole = report.kind.dataStatus == .complete
        if isWhole, let isNew = duplicates?.isNew(report.address, report.kind, info), !isNew { return }
        for piece in report.pieces { owner.scanner(self, reports: piece) }
    }

    /// The report with the addresses as the host is told them; nil when it is not for the host.
    private func addressed(_ report: ExtendedAdvertisingReport) -> ExtendedAdvertisingReport? {
        let isAnonymous = report.address.kind == BluetoothAddress.anonymous.kind
        guard let device = accepted(isAnonymous ? nil : report.address) else { return nil }
        var report = report
        report.address = device.identity
        guard report.kind.contains(.directed) else { return report }
        guard let target = told(report.directAddress) else { return nil }
        report.directAddress = target
        return report
    }
}
