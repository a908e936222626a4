import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What an initiator asks of its controller, and tells it.
protocol InitiatorOwner: AnyObject {
    /// Whether the controller knows channel selection algorithm #2.
    var knowsAlgorithm2: Bool { get }
    /// Whether a device is on the accept list.
    func isAccepted(_ address: BluetoothAddress) -> Bool
    /// What a new link will be like, if one to this device may be; `end` is when CONNECT_IND will have been sent.
    func initiator(_ initiator: Initiator, prepares advertiser: BluetoothAddress, end: Instant) -> ConnectionData?
    /// CONNECT_IND has been sent, and initiating is over.
    func initiator(_ initiator: Initiator, requested request: ConnectIndication, usesAlgorithm2: Bool)
    /// Something has been heard that is of no use here.
    func initiator(_ initiator: Initiator, overheard pdu: AdvertisingPDU, _ frame: ReceivedFrame)
}

/// Waits for a device to advertise, and connects to it (Core Vol 6 Part B 4.4.4).
final class Initiator: PrimaryListener {
    /// CONNECT_IND takes so many microseconds.
    private static let requestTime = RadioPHY.le1M.airTimeMicroseconds(octets: 2 + 34)

    /// What the host asked for.
    private(set) var command = LECreateConnection()
    /// The address on the air.
    private(set) var ownAddress = BluetoothAddress.none

    private var request: (pdu: ConnectIndication, usesAlgorithm2: Bool)?
    private unowned let owner: any InitiatorOwner

    init(
        arbiter: RadioArbiter,
        loop: any EventLoop,
        random: RandomSource,
        power: Double,
        owner: any InitiatorOwner
    ) {
        self.owner = owner
        super.init(arbiter: arbiter, loop: loop, random: random, power: power)
    }

    /// Whether CONNECT_IND is on its way, so that there is nothing to cancel any more.
    var isCommitted: Bool { request != nil }

    override var priority: RadioPriority { .initiating }

    /// Begins to look for the device, or for those on the accept list.
    func start(_ command: LECreateConnection, as address: BluetoothAddress) {
        self.command = command
        ownAddress = address
        request = nil
        begin(ScanWindows(interval: command.scanInterval, window: command.scanWindow))
    }

    /// Ends initiating.
    func stop() {
        request = nil
        end()
    }

    // MARK: Radio

    override func radioReceived(_ frame: ReceivedFrame) {
        guard request == nil else { return }
        if !frame.isCorrupted, let pdu = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)) {
            if !connect(pdu, frame.frame.channel) { owner.initiator(self, overheard: pdu, frame) }
        }
        resume()
    }

    /// Connects if this is whom the host wants.
    private func connect(_ pdu: AdvertisingPDU, _ channel: UInt8) -> Bool {
        guard let (advertiser, knowsAlgorithm2) = connectable(pdu), isWanted(advertiser), hasTime(Self.requestTime)
        else { return false }
        let end = loop.now + .microseconds(LinkTiming.interFrameSpace + Self.requestTime)
        guard let data = owner.initiator(self, prepares: advertiser, end: end) else { return false }
        let request = ConnectIndication(
            initiator: ownAddress,
            advertiser: advertiser,
            link: data,
            knowsAlgorithm2: owner.knowsAlgorithm2
        )
        self.request = (request, knowsAlgorithm2)
        answer(.connect(request), on: channel)
        return true
    }

    private func connectable(_ pdu: AdvertisingPDU) -> (BluetoothAddress, Bool)? {
        switch pdu {
        case .connectableScannable(let body): (body.advertiser, body.knowsAlgorithm2)
        case .directed(let body) where body.target == ownAddress: (body.advertiser, body.knowsAlgorithm2)
        default: nil
        }
    }

    private func isWanted(_ advertiser: BluetoothAddress) -> Bool {
        if command.filterPolicy == .acceptList { return owner.isAccepted(advertiser) }
        return advertiser.value == command.peerAddress.value
            && advertiser.kind.isRandom == command.peerAddress.kind.isRandom
    }

    override func radioSent() {
        guard let request else { return }
        stop()
        owner.initiator(self, requested: request.pdu, usesAlgorithm2: request.usesAlgorithm2)
    }

    override func radioTaken() {
        request = nil
        super.radioTaken()
    }
}
