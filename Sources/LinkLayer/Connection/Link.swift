import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What a link tells its controller.
protocol LinkOwner: AnyObject {
    /// Octets of data that the host takes now; nil when it has no room.
    var hostRoom: Int? { get }
    /// A fragment of an L2CAP PDU has come.
    func link(_ link: Link, received payload: PacketBuffer, isStart: Bool)
    /// Packets of the host have reached the peer.
    func link(_ link: Link, completed packets: Int)
    /// A control procedure has something for the host.
    func link(_ link: Link, reports report: LinkControl.Report)
    /// No authenticated packet has come for as long as the host wants to wait.
    func linkIsSilent(_ link: Link)
    /// The peer has told where a train is.
    func link(_ link: Link, heardOf train: PeriodicSyncIndication)
    /// The link is gone.
    func link(_ link: Link, endedWith reason: HCIStatus)
}

/// One connection: its anchor points, its events on the radio, its queue (Core Vol 6 Part B 4.5).
///
/// The shell around ``ConnectionEvent``, ``Acknowledgement``, ``TransmitQueue`` and ``LinkControl``.
final class Link: RadioUser {
    /// How the link came to be.
    struct Parameters {
        var handle: ConnectionHandle
        var role: ConnectionEvent.Role
        var own: BluetoothAddress
        var peer: BluetoothAddress
        var data: ConnectionData
        var usesAlgorithm2: Bool
        var ownAccuracy: ClockAccuracy
        var peerAccuracy: ClockAccuracy
        var transmitPower: Double
        /// By how many parts in a million the own sleep clock is slow.
        var drift = 0.0
        /// What the first window is counted from.
        var start: LinkStart
        /// Who the two are, behind private addresses.
        var identities: LinkIdentities
        /// The train that it came out of, if it did.
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
    /// What of the last PDU the host has had no room for yet: never more than one.
    var held: (payload: PacketBuffer, isStart: Bool)?
    var channels: ChannelSelection
    var channelMap: ChannelMap
    /// How good the peer's sleep clock is, as far as it has told.
    var peerAccuracy: ClockAccuracy
    /// What the coded PHY is sent with.
    var codedPHY = RadioPHY.codedS8
    /// How long an encrypted link may be without an authenticated packet, in units of 10 ms: 30 s at first.
    var authenticatedPayloadTimeout: UInt16 = 3_000
    /// What is sent with, and what comes is opened with, on an encrypted link.
    var transmitCipher: PacketCipher?
    var receiveCipher: PacketCipher?
    var payloadWatch = PayloadWatch.off
    /// What to do with trains that the peer tells of.
    var transferRules = SyncTransferRules()
    /// The strength of the last good PDU, in dBm.
    var rssi: Int8 = 127

    var stage = LinkStage.new
    // The event that is being prepared or running, as the air counts it and without an end.
    var counter: UInt16 = 0
    var event = 0
    /// Which events are used, and as central those that will be once the peripheral knows of them.
    var subrating = Subrating()
    var nextSubrating: Subrating?
    /// Events behind one with data that are still used, and whether this one has data.
    var continuing = 0
    var hasTraffic = false
    var channel: UInt8 = 0
    /// Where the event begins, as far as is known.
    var anchor: Instant
    /// How much later than the anchor the central may begin.
    var window: Duration
    /// When the central was last heard at an anchor point.
    var lastSync: Instant
    var missed = 0
    /// The MD bit of the PDU that came last.
    var peerHasMore = false

    // Supervision.
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
    /// Whether the peer has been heard.
    var isEstablished: Bool { presence.isEstablished }
    /// When the peer was heard last; before it was, when the link was made.
    var lastHeard: Instant { presence.last }
    var isCentral: Bool { parameters.role == .central }
    var share: RadioShare { shares.listening }
    /// A link that has not been heard for half of the time that it may be silent is in danger.
    var priority: RadioPriority {
        let isInDanger = loop.now.nanoseconds(since: lastHeard) >= limitNanoseconds / 2
        return .connection(urgency: missed + (isInDanger ? RadioPriority.danger : 0))
    }
    var period: Int64? { control.timing.intervalMicroseconds * Int64(subrating.factor) }
    /// The interval as the own clock measures it.
    var interval: Duration { control.timing.intervalDuration.drifting(parameters.drift) }
    /// The PHY that is sent with.
    var txPHY: RadioPHY { radioPHY(control.txPHY) }
    /// The PHY that is listened to.
    var rxPHY: RadioPHY { radioPHY(control.rxPHY) }

    /// Prepares the first event.
    func start() {
        superviseUntil(lastHeard + limit)
        prepareEvent()
    }

    /// Ends the link at once, without a word to anybody.
    func drop() {
        let tasks = [stage.timer, supervision, procedureTimer, payloadWatch.timer]
        for task in tasks.compactMap({ $0 }) { loop.cancel(task) }
        (stage, supervision, procedureTimer, payloadWatch) = (.ended, nil, nil, .off)
        held = nil
        arbiter.remove(self)
        arbiter.retire(handle)
    }

    /// Queues a packet of the host.
    func send(_ payload: PacketBuffer, isStart: Bool) {
        queue.add(payload, isStart: isStart)
        listenSooner()
    }

    /// Begins a control procedure. False when too many wait already.
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

    /// How long nothing may be heard: six intervals until the first PDU has come.
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

    /// A timeout that has become shorter is noticed at once.
    func restartSupervision() {
        if let supervision { loop.cancel(supervision) }
        superviseUntil(max(lastHeard + limit, loop.now))
    }

    func end(_ reason: HCIStatus) {
        drop()
        owner.link(self, endedWith: reason)
    }
}
