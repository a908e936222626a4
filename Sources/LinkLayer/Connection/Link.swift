import BluetoothTypes
import EventLoops
import HCI
import Radio

/// The callbacks of a link to its controller.
protocol LinkOwner: AnyObject {
    /// The number of data octets that the host accepts now; nil if it has no buffer.
    var hostRoom: Int? { get }
    /// Called with a received fragment of an L2CAP PDU.
    func link(_ link: Link, received payload: PacketBuffer, isStart: Bool)
    /// Called when packets of the host have reached the peer.
    func link(_ link: Link, completed packets: Int)
    /// Called when a control procedure has an event for the host.
    func link(_ link: Link, reports report: LinkControl.Report)
    /// Called when the authenticated payload timeout has expired.
    func linkIsSilent(_ link: Link)
    /// Called when the peer has transferred a periodic advertising train.
    func link(_ link: Link, heardOf train: PeriodicSyncIndication)
    /// Called when the link has ended.
    func link(_ link: Link, endedWith reason: HCIStatus)
}

/// A connection, with its anchor points, its events on the radio and its transmit queue (Core Vol 6 Part B 4.5).
///
/// It drives the state machines ``ConnectionEvent``, ``Acknowledgement``, ``TransmitQueue`` and ``LinkControl``.
final class Link: RadioClaimant {
    /// The parameters with which a link is made.
    struct Parameters {
        var handle: ConnectionHandle
        var role: LinkRole
        var own: BluetoothAddress
        var peer: BluetoothAddress
        var data: ConnectionData
        var usesAlgorithm2: Bool
        var ownAccuracy: ClockAccuracy
        var peerAccuracy: ClockAccuracy
        var transmitPower: Double
        /// How much this device's sleep clock runs slow, in parts per million.
        var drift = 0.0
        /// The instant and PHY from which the first transmit window is counted.
        var start: LinkStart
        /// The identities of the two devices behind private addresses.
        var identities: LinkIdentities
        /// The periodic advertising train from which the link was made, if any.
        var train = LinkTrain.none
    }

    let parameters: Parameters
    let arbiter: RadioArbiter
    let shares: LinkShares
    let loop: any EventLoop
    unowned let owner: any LinkOwner

    var control: LinkControl
    var queue = TransmitQueue()
    var acknowledgement = Acknowledgement()
    /// The rest of the last PDU for which the host has had no buffer yet. There is never more than one PDU.
    var held: (payload: PacketBuffer, isStart: Bool)?
    var channels: ChannelSelection
    var channelMap: ChannelMap
    /// The accuracy of the peer's sleep clock, as last reported.
    var peerAccuracy: ClockAccuracy
    /// The coding used for transmission on the Coded PHY.
    var codedPHY = RadioPHY.codedS8
    /// The authenticated payload timeout, in units of 10 ms. It is initially 30 s.
    var authenticatedPayloadTimeout: UInt16 = 3_000
    /// The ciphers of an encrypted link; nil without encryption.
    var transmitCipher: PacketCipher?
    var receiveCipher: PacketCipher?
    var payloadWatch = PayloadWatch.off
    /// How to handle periodic advertising trains that the peer transfers.
    var transferRules = SyncTransferRules()
    /// The strength of the last correctly received PDU, in dBm.
    var rssi: Int8 = 127

    var stage = LinkStage.new
    // The event being prepared or in progress: as the wrapping counter on the air, and without wrapping.
    var counter: UInt16 = 0
    var event = 0
    /// Which events are used; as central, also those that will be once the peripheral has acknowledged the change.
    var subrating = SubratedEvents()
    var nextSubrating: SubratedEvents?
    /// The number of continuation events still to use after an event with data, and whether this event has data.
    var continuing = 0
    var hasTraffic = false
    var channel: UInt8 = 0
    /// The expected start of the event.
    var anchor: Instant
    /// The transmit window: how much later than ``anchor`` the central may start.
    var window: Duration
    /// When the central was last received at an anchor point.
    var lastSync: Instant
    var missed = 0
    /// The MD bit of the last received PDU.
    var peerHasMore = false

    // Supervision, procedures and the end.
    var presence: PeerPresence
    var supervision: ScheduledTask?
    var procedureTimer: ScheduledTask?
    var procedureProgress = 0
    var acceptedOctets = Int(DataLength.minimumOctets)
    var ending: LinkEnding?

    init(
        _ parameters: Parameters,
        control: LinkControl,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        owner: any LinkOwner
    ) {
        self.parameters = parameters
        self.control = control
        self.arbiter = arbiter
        shares = LinkShares(of: parameters.handle, at: arbiter)
        self.loop = loop
        self.owner = owner
        let data = parameters.data
        channels =
            parameters.usesAlgorithm2
            ? .algorithm2(.init(accessAddress: data.accessAddress)) : .algorithm1(.init(hop: data.hop))
        channelMap = data.channelMap
        peerAccuracy = parameters.peerAccuracy
        let offset = Duration.microseconds(
            parameters.start.windowDelay + Int64(data.windowOffset) * LinkTiming.unit
        )
        anchor = parameters.start.end + offset.drifting(parameters.drift)
        window = .microseconds(Int64(data.windowSize) * LinkTiming.unit)
        lastSync = parameters.start.end
        presence = .awaited(since: parameters.start.end)
    }

    var owesAnswer: Bool {
        if case .owesAnswer = ending { return true }
        return false
    }

    var handle: ConnectionHandle { parameters.handle }
    /// Whether the peer has been received.
    var isEstablished: Bool { presence.isEstablished }
    /// When the peer was last received; before that, when the link was made.
    var lastHeard: Instant { presence.last }
    var isCentral: Bool { parameters.role == .central }
    var share: RadioShare { shares.listening }
    /// A link that has heard nothing for half of its supervision timeout is in danger.
    var priority: RadioPriority {
        let isInDanger = loop.now.nanoseconds(since: lastHeard) >= limitNanoseconds / 2
        return .connection(urgency: missed + (isInDanger ? RadioPriority.danger : 0))
    }
    var period: Int64? { control.timing.intervalMicroseconds * Int64(subrating.factor) }
    /// The connection interval as measured by this device's clock.
    var interval: Duration { control.timing.intervalDuration.drifting(parameters.drift) }
    /// The PHY for transmission.
    var txPHY: RadioPHY { radioPHY(control.txPHY) }
    /// The PHY for reception.
    var rxPHY: RadioPHY { radioPHY(control.rxPHY) }

    /// Starts the supervision and schedules the first event.
    func start() {
        superviseUntil(lastHeard + limit)
        prepareEvent()
    }

    /// Ends the link at once, without notifying the peer or the host.
    func drop() {
        let tasks = [stage.timer, supervision, procedureTimer, payloadWatch.timer]
        for task in tasks.compactMap({ $0 }) { loop.cancel(task) }
        (stage, supervision, procedureTimer, payloadWatch) = (.ended, nil, nil, .off)
        held = nil
        arbiter.remove(self)
        arbiter.retire(handle)
    }

    /// Queues a data packet of the host.
    func send(_ payload: PacketBuffer, isStart: Bool) {
        queue.add(payload, isStart: isStart)
        listenSooner()
    }

    /// Starts or queues a control procedure. Returns false if too many are queued already.
    func request(_ request: LinkControl.Request) -> Bool {
        guard let actions = control.request(request) else { return false }
        perform(actions)
        return true
    }

    func radioPHY(_ phy: LEPHY) -> RadioPHY {
        switch phy {
        case .le2M: .le2M
        case .coded: codedPHY
        default: .le1M
        }
    }

    // MARK: Supervision (4.5.2)

    /// The time after which a silent link ends: six intervals until the first PDU has been received, then the
    /// supervision timeout.
    var limit: Duration { .nanoseconds(limitNanoseconds) }

    private var limitNanoseconds: Int64 {
        1_000 * (isEstablished ? control.timing.timeoutMicroseconds : control.timing.intervalMicroseconds * 6)
    }

    private func superviseUntil(_ deadline: Instant) {
        supervision = loop.schedule(at: deadline) { [unowned self] in
            let deadline = lastHeard + limit
            if deadline > loop.now { return superviseUntil(deadline) }
            end(ending?.reason ?? (isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished))
        }
    }

    /// Restarts the supervision timer, so that a shorter timeout takes effect at once.
    func restartSupervision() {
        if let supervision { loop.cancel(supervision) }
        superviseUntil(max(lastHeard + limit, loop.now))
    }

    func end(_ reason: HCIStatus) {
        drop()
        owner.link(self, endedWith: reason)
    }
}
