import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What a scanner asks of its controller, and tells it.
protocol ScannerOwner: AnyObject {
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// Something has been heard.
    func scanner(_ scanner: Scanner, reports report: AdvertisingReport)
}

/// Legacy scanning, passive and active (Core Vol 6 Part B 4.4.3).
final class Scanner: PrimaryListener {
    /// The parameters as the host gave them; what a reset leaves (Core Vol 4 Part E 7.8.10).
    var parameters = LESetScanParameters(
        kind: .passive,
        scanInterval: 0x0010,
        scanWindow: 0x0010,
        ownAddressKind: .publicDevice,
        filterPolicy: .everybody
    )
    /// The address on the air, fixed when scanning begins.
    var ownAddress = BluetoothAddress.none

    private var duplicates: DuplicateFilter?
    private var backoff = ScanBackoff()
    /// Who has been asked for a scan response.
    private var asked: BluetoothAddress?
    private var askedChannel: UInt8 = 37
    private var deadline: ScheduledTask?
    private unowned let owner: any ScannerOwner

    init(
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        power: Double,
        owner: any ScannerOwner
    ) {
        self.owner = owner
        super.init(arbiter: arbiter, loop: loop, random: random, power: power)
    }

    /// Begins to scan.
    func start(filterDuplicates: Bool) {
        duplicates = filterDuplicates ? DuplicateFilter() : nil
        backoff = ScanBackoff()
        asked = nil
        begin(ScanWindows(interval: parameters.scanInterval, window: parameters.scanWindow))
    }

    /// Ends scanning.
    func stop() {
        forget()
        end()
    }

    // MARK: Radio

    override func radioReceived(_ frame: ReceivedFrame) {
        let wasAsked = asked
        if isAboutToAnswer || deadline != nil { return }
        forget()
        isBusy = false
        if !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) {
            take(pdu, frame, wasAsked: wasAsked)
        } else if wasAsked != nil {
            backoff.requested(answered: false, random)
        }
        resume()
    }

    private func take(_ pdu: AdvertisingPDU, _ frame: ReceivedFrame, wasAsked: BluetoothAddress?) {
        if let wasAsked {
            guard case .scanResponse(let response) = pdu, response.advertiser == wasAsked else {
                return backoff.requested(answered: false, random)
            }
            backoff.requested(answered: true, random)
            report(.scanResponse, response.advertiser, response.data, frame.rssi)
            return
        }
        overhear(pdu, frame)
        guard let advertiser = scannable(pdu), parameters.kind == .active, passes(advertiser) else { return }
        // SCAN_REQ 176, SCAN_RSP 376 at most.
        guard hasTime(176 + LinkTiming.interFrameSpace + 376), backoff.mayRequest() else { return }
        asked = advertiser
        askedChannel = frame.frame.channel
        answer(.scanRequest(.init(scanner: ownAddress, advertiser: advertiser)), on: frame.frame.channel)
    }

    /// Reports what somebody advertises, without asking for more. Also what an initiator on the same radio has heard.
    func overhear(_ pdu: AdvertisingPDU, _ frame: ReceivedFrame) {
        guard isEnabled else { return }
        switch pdu {
        case .connectableScannable(let body) where passes(body.advertiser):
            report(.connectableScannable, body.advertiser, body.data, frame.rssi)
        case .scannable(let body) where passes(body.advertiser):
            report(.scannable, body.advertiser, body.data, frame.rssi)
        case .nonConnectable(let body) where passes(body.advertiser):
            report(.nonConnectable, body.advertiser, body.data, frame.rssi)
        case .directed(let body) where passes(body.advertiser) && body.target == ownAddress:
            report(.directed, body.advertiser, [], frame.rssi)
        default:
            break
        }
    }

    override func radioSent() {
        guard asked != nil else { return }
        arbiter.node.listen(
            RadioTuning(
                channel: askedChannel,
                accessAddress: AdvertisingPDU.accessAddress,
                crcInit: AdvertisingPDU.crcInit,
                modulation: .le1M
            )
        )
        let time = Duration.microseconds(LinkTiming.interFrameSpace + Self.responseMargin)
        deadline = loop.schedule(after: time) { [unowned self] in
            deadline = nil
            if arbiter.node.isReceiving { return }
            forget()
            backoff.requested(answered: false, random)
            isBusy = false
            resume()
        }
    }

    override func radioTaken() {
        forget()
        super.radioTaken()
    }

    private func forget() {
        asked = nil
        if let deadline { loop.cancel(deadline) }
        deadline = nil
    }

    // MARK: Filters

    private func scannable(_ pdu: AdvertisingPDU) -> BluetoothAddress? {
        switch pdu {
        case .connectableScannable(let body), .scannable(let body): body.advertiser
        default: nil
        }
    }

    private func passes(_ advertiser: BluetoothAddress) -> Bool {
        let isFiltered = parameters.filterPolicy.rawValue & 1 == 1
        return !isFiltered || owner.isAccepted(advertiser)
    }

    private func report(
        _ kind: LEAdvertisingReportKind,
        _ address: BluetoothAddress,
        _ data: PacketBuffer,
        _ rssi: Int8
    ) {
        guard duplicates?.isNew(address, kind) ?? true else { return }
        owner.scanner(self, reports: AdvertisingReport(kind: kind, address: address, data: data, rssi: rssi))
    }
}
