import BluetoothTypes
import DequeModule
import EventLoops
import HCI
import Radio

/// The control procedures of one link (Core Vol 6 Part B 5.1): requests and PDUs in, PDUs and changes out.
///
/// A device runs one procedure of its own at a time and answers those of the peer meanwhile. Procedures that end in a
/// change at an instant exclude each other (5.3): the central's wins.
struct LinkControl {
    /// What the host, or the link itself, wants to be done.
    enum Request: Hashable {
        case version
        case features
        case dataLength(octets: UInt16, time: UInt16)
        case phy(tx: LEPHYs, rx: LEPHYs)
        case parameters(ConnectionParameters)
        case channelMap(ChannelMap)
        case clockAccuracy
        case encrypt(EncryptionMachine.Start)
        case ping
        case subrate(SubrateRequest)
        case periodicSync(PeriodicSyncIndication)
        case terminate(HCIStatus)
    }

    /// What the link has to do.
    enum Action: Hashable {
        case send(ControlPDU)
        case report(Report)
        /// At this event the anchor moves and the timing changes.
        case applyTiming(ConnectionUpdateIndication)
        case applyChannelMap(ChannelMap)
        /// Both the events of now and those of later are used, until the peripheral has heard of them.
        case announceSubrate(SubrateIndication)
        /// From now on these events are used.
        case applySubrate(SubrateIndication)
        /// The peer tells where a train is.
        case heardOfTrain(PeriodicSyncIndication)
        /// The peer's sleep clock is as good as this.
        case applyPeerAccuracy(ClockAccuracy)
        /// Only PDUs of the encryption procedures are sent, until ``release``.
        case hold
        case release
        /// Whether and how what is sent from now on is encrypted.
        case transmit(EncryptionSession?)
        /// The same for what comes.
        case receive(EncryptionSession?)
        /// The link is over as soon as the peer has been told so.
        case terminate(HCIStatus)
        /// The link is over.
        case end(HCIStatus)
        /// The link is over as soon as the peer can know that its PDU has come.
        case endAfterAnswer(HCIStatus)
    }

    /// What the host is told.
    enum Report: Hashable {
        case version(HCIStatus, VersionIndication)
        case features(HCIStatus, LEFeatures)
        case dataLength
        case phy(HCIStatus)
        case parameters(HCIStatus)
        case parameterRequest(ConnectionParameters)
        case clockAccuracy(HCIStatus, ClockAccuracy)
        case subrate(HCIStatus, SubrateIndication)
        case encryption(HCIStatus)
        case keyRefresh(HCIStatus)
        case longTermKeyRequest(_ random: UInt64, _ diversifier: UInt16)
    }

    /// A procedure that this device has begun, and what it waits for.
    enum Local: Hashable {
        case version
        case features
        case length
        case clockAccuracy
        case ping
        /// The peripheral has asked; the central's decision is due.
        case subrateAwaitingIndication
        /// The central has decided, and the peripheral does not know it yet.
        case subrateAwaitingAcknowledgement
        /// The central has asked; the peripheral's answer is due.
        case parametersAwaitingResponse(ConnectionParameters)
        /// The central has asked; the peripheral's answer is due.
        case phyAwaitingResponse(tx: LEPHYs, rx: LEPHYs)
        /// The peripheral has asked; the central's decision is due.
        case phyAwaitingIndication
        /// The peripheral has asked; the central's decision is due.
        case parametersAwaitingIndication
        /// Agreed upon; goes into effect at the instant.
        case awaitingInstant
    }

    /// A procedure that the peer has begun, and what it waits for.
    enum Remote: Hashable {
        /// The host has been asked.
        case parametersAwaitingHost(ConnectionParameters)
        /// The peripheral has answered; the central's decision is due.
        case parametersAwaitingIndication
        /// The peripheral has answered; the central's decision is due.
        case phyAwaitingIndication
        /// The central has decided, and the peripheral does not know it yet.
        case subrateAwaitingAcknowledgement
        /// Agreed upon; goes into effect at the instant.
        case awaitingInstant
    }

    /// What goes into effect at an instant.
    enum Change: Hashable {
        case timing(ConnectionUpdateIndication)
        case channelMap(ChannelMap)
        case phy(tx: LEPHY?, rx: LEPHY?)
    }

    /// What does not change while the link lives.
    struct Setup {
        var role: ConnectionEvent.Role
        var features: LEFeatures
        var version: VersionIndication
        /// What this device sends and receives when the peer asks.
        var preferredPHYs: PHYPreferences
        var phys: LEPHYs
        var dataLength: DataLength
        /// How good the own sleep clock is.
        var accuracy: ClockAccuracy
        /// The PHY that the connection begins with.
        var firstPHY = LEPHY.le1M
        /// What a central takes of what the peripheral asks for.
        var acceptableSubrate = SubrateRequest.initial
        /// For what the keys of a session are made from.
        var random: RandomSource
        /// Whether the host wants to be asked about connection parameters.
        var hostAnswersParameters: () -> Bool
        /// Whether the host wants to be asked for keys.
        var hostHasKeys: () -> Bool
    }

    /// Requests that wait, at most; a channel map may come on top.
    static let maximumRequests = 8
    /// How long the peer may take for an answer (5.2).
    static let responseTimeout = Duration.seconds(40)

    let setup: Setup
    var local: Local?
    var remote: Remote?
    var encryption = EncryptionMachine()
    /// PDUs of the peer that wait for the end of the encryption procedure.
    var postponed = Deque<PacketBuffer>()
    var requests = Deque<Request>()
    var pending: (instant: UInt16, change: Change)?
    /// Whether the peer has already answered in the own procedure that waits for its instant.
    var isAnswered = false
    var versionSent = false
    var remoteVersion: VersionIndication?
    var remoteFeatures: LEFeatures?
    var dataLength: DataLength
    /// What the peer was told last of it.
    var toldLength: LengthExchange?
    var txPHY = LEPHY.le1M
    var rxPHY = LEPHY.le1M
    var timing: LinkTiming
    /// Which events are used; the base counts for nothing here.
    var subrate = SubrateIndication()
    /// What the peripheral is being told.
    var announcedSubrate: SubrateIndication?
    var acceptableSubrate: SubrateRequest
    /// The event that is being prepared or running.
    var counter: UInt16 = 0
    /// Moves on whenever a PDU of a procedure comes or goes: the peer's time begins anew then.
    private(set) var progress = 0
    var actions: [Action] = []

    init(_ setup: Setup, timing: LinkTiming) {
        self.setup = setup
        self.timing = timing
        acceptableSubrate = setup.acceptableSubrate
        dataLength = setup.dataLength
        (txPHY, rxPHY) = (setup.firstPHY, setup.firstPHY)
    }

    var isCentral: Bool { setup.role == .central }

    /// Whether the peer owes a PDU, so that its time runs.
    var awaitsPeer: Bool {
        if encryption.isBusy { return !encryption.awaitsHost }
        switch (local, remote) {
        case (nil, _), (.awaitingInstant?, _):
            return remote == .parametersAwaitingIndication || remote == .phyAwaitingIndication
        default: return true
        }
    }

    // MARK: Inputs

    /// Takes a request; it waits while another procedure runs. False when too many wait.
    mutating func request(_ request: Request) -> [Action]? {
        if case .terminate(let reason) = request {
            actions.append(.send(.terminate(.init(reason))))
            return flush()
        }
        if case .channelMap = request {
            // A newer map takes the place of one that still waits, so that none is lost for want of a place.
            requests.removeAll { if case .channelMap = $0 { true } else { false } }
        } else if requests.count >= Self.maximumRequests {
            return nil
        }
        requests.append(request)
        startNext()
        return flush()
    }

    /// Takes a control PDU of the peer.
    mutating func receive(_ bytes: PacketBuffer) -> [Action] {
        progress &+= 1
        switch encryption.verdict(on: encryption.isBusy ? understood(bytes) : nil) {
        case .take: takeWhole(bytes)
        case .postpone: postponed.append(bytes)
        case .violation: actions.append(.end(.terminatedByMICFailure))
        }
        startNext()
        return flush()
    }

    /// The PDU, if this device takes such a one.
    private func understood(_ bytes: PacketBuffer) -> ControlPDU? {
        guard let pdu = try? ControlPDU(reading: bytes), knows(pdu) else { return nil }
        return pdu
    }

    /// Takes a control PDU whose turn it is.
    mutating func takeWhole(_ bytes: PacketBuffer) {
        if let pdu = understood(bytes) {
            // A refusal while an encryption procedure runs is about that.
            if encryption.isBusy, pdu.opcode != .terminateInd { takeEncryption(pdu) } else { take(pdu) }
        } else if let opcode = bytes.first {
            takeUnknown(ControlOpcode(rawValue: opcode), length: bytes.count)
        }
    }

    /// The event with this counter begins.
    mutating func begin(counter: UInt16) -> [Action] {
        self.counter = counter
        guard let pending, pending.instant == counter else { return [] }
        self.pending = nil
        apply(pending.change)
        startNext()
        return flush()
    }

    /// The peer has not answered in time.
    mutating func timeout() -> [Action] {
        [.end(.linkLayerResponseTimeout)]
    }

    // MARK: Dispatch

    private mutating func take(_ pdu: ControlPDU) {
        switch pdu {
        case .connectionUpdate(let body): takeConnectionUpdate(body)
        case .channelMap(let body): takeChannelMap(body)
        case .terminate(let body): actions.append(.endAfterAnswer(body.error.asRefusal))
        case .unknown(let body): takeRefusal(of: body.opcode, .unsupportedRemoteFeature)
        case .featureRequest(let body), .peripheralFeatureRequest(let body): takeFeatureRequest(body)
        case .featureResponse(let body): takeFeatureResponse(body)
        case .version(let body): takeVersion(body)
        case .reject(let body): takeRefusal(of: nil, body.error.asRefusal)
        case .rejectExtended(let body): takeRefusal(of: body.opcode, body.error.asRefusal)
        case .connectionParameterRequest(let body): takeParameterRequest(body)
        case .connectionParameterResponse(let body): takeParameterResponse(body)
        case .pingRequest: actions.append(.send(.pingResponse))
        case .pingResponse: takePingResponse()
        case .encryptionRequest, .encryptionResponse, .startEncryptionRequest, .startEncryptionResponse,
            .pauseEncryptionRequest, .pauseEncryptionResponse:
            takeEncryption(pdu)
        case .lengthRequest(let body): takeLength(body, isRequest: true)
        case .lengthResponse(let body): takeLength(body, isRequest: false)
        case .phyRequest(let body): takePHYRequest(body)
        case .phyResponse(let body): takePHYResponse(body)
        case .phyUpdate(let body): takePHYUpdate(body)
        // The wish of the peripheral (5.1.11). The host's classification goes first, and there is no other map.
        case .minimumUsedChannels: break
        case .clockAccuracyRequest(let body): takeClockAccuracy(body, isRequest: true)
        case .clockAccuracyResponse(let body): takeClockAccuracy(body, isRequest: false)
        case .subrateRequest(let body): takeSubrateRequest(body)
        case .subrateIndication(let body): takeSubrateIndication(body)
        case .periodicSync(let body): actions.append(.heardOfTrain(body))
        }
    }

    /// Begins the next procedure if none runs that it would collide with.
    mutating func startNext() {
        while local == nil, !encryption.isBusy, let request = requests.first {
            switch request {
            case .phy, .parameters, .channelMap, .encrypt, .subrate:
                guard remote == nil, pending == nil else { return }
            default:
                break
            }
            requests.removeFirst()
            start(request)
        }
    }

    private mutating func start(_ request: Request) {
        switch request {
        case .version: startVersion()
        case .features: startFeatures()
        case .dataLength(let octets, let time): startLength(octets, time)
        case .phy(let tx, let rx): startPHY(tx: tx, rx: rx)
        case .parameters(let parameters): startParameters(parameters)
        case .channelMap(let map): startChannelMap(map)
        case .clockAccuracy: startClockAccuracy()
        case .encrypt(let start): startEncryption(start)
        case .ping: startPing()
        case .subrate(let wanted): startSubrate(wanted)
        // It ends with the sending (5.1.13).
        case .periodicSync(let pdu): send(.periodicSync(pdu))
        case .terminate: break
        }
    }

    mutating func flush() -> [Action] {
        if actions.isEmpty { return [] }
        if actions.contains(where: { if case .send = $0 { true } else { false } }) { progress &+= 1 }
        defer { actions = [] }
        return actions
    }

    // MARK: Tools

    mutating func send(_ pdu: ControlPDU) {
        actions.append(.send(pdu))
    }

    mutating func report(_ report: Report) {
        actions.append(.report(report))
    }
}
