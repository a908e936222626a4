import BluetoothTypes
import DequeModule
import EventLoops
import HCI
import Radio

/// The state machine of a link's control procedures (Core Vol 6 Part B 5.1). It turns requests and received PDUs into
/// PDUs to send and changes to apply.
///
/// A device runs one procedure of its own at a time, and meanwhile responds to those of the peer. Procedures that
/// change the link at an instant exclude each other (5.3); the central's takes precedence.
struct LinkControl {
    /// A procedure requested by the host or by the link itself.
    enum Request: Hashable {
        case version
        case features
        case dataLength(octets: UInt16, time: UInt16)
        case phy(tx: LEPHYs, rx: LEPHYs)
        case parameters(ConnectionParameterRequest)
        case channelMap(ChannelMap)
        case clockAccuracy
        case encrypt(EncryptionMachine.Start)
        case ping
        case subrate(SubrateRequest)
        case periodicSync(PeriodicSyncIndication)
        case terminate(HCIStatus)
    }

    /// An action for the link to carry out.
    enum Action: Hashable {
        case send(ControlPDU)
        case report(Report)
        /// Move the anchor point and change the timing, at this event.
        case applyTiming(ConnectionUpdateIndication)
        case applyChannelMap(ChannelMap)
        /// Use the events of the old and of the new subrating, until the peripheral has acknowledged the change.
        case announceSubrate(SubrateIndication)
        /// Use the events of this subrating from now on.
        case applySubrate(SubrateIndication)
        /// The peer has transferred a periodic advertising train.
        case heardOfTrain(PeriodicSyncIndication)
        /// The peer has reported the accuracy of its sleep clock.
        case applyPeerAccuracy(ClockAccuracy)
        /// Send only PDUs of the encryption procedures, until ``release``.
        case hold
        case release
        /// Encrypt transmissions with this session from now on; nil to stop encrypting.
        case transmit(EncryptionSession?)
        /// Decrypt received PDUs with this session from now on; nil to stop decrypting.
        case receive(EncryptionSession?)
        /// Send LL_TERMINATE_IND with this reason, and end the link once it is acknowledged.
        case terminate(HCIStatus)
        /// End the link at once, without LL_TERMINATE_IND.
        case end(HCIStatus)
        /// End the link once the acknowledgement of the peer's PDU has been sent.
        case endAfterAnswer(HCIStatus)
    }

    /// An event for the host.
    enum Report: Hashable {
        case version(HCIStatus, VersionIndication)
        case features(HCIStatus, LEFeatures)
        case dataLength
        case phy(HCIStatus)
        case parameters(HCIStatus)
        case parameterRequest(ConnectionParameterRequest)
        case clockAccuracy(HCIStatus, ClockAccuracy)
        case subrate(HCIStatus, SubrateIndication)
        case encryption(HCIStatus)
        case keyRefresh(HCIStatus)
        case longTermKeyRequest(_ random: UInt64, _ diversifier: UInt16)
    }

    /// The state of a procedure that this device has started.
    enum Local: Hashable {
        case version
        case features
        case length
        case clockAccuracy
        case ping
        /// The peripheral has sent the request; the central's decision is due.
        case subrateAwaitingIndication
        /// The central has announced its decision; the peripheral's acknowledgement is due.
        case subrateAwaitingAcknowledgement
        /// The central has sent the request; the peripheral's response is due.
        case parametersAwaitingResponse(ConnectionParameterRequest)
        /// The central has sent the request; the peripheral's response is due.
        case phyAwaitingResponse(tx: LEPHYs, rx: LEPHYs)
        /// The peripheral has sent the request; the central's decision is due.
        case phyAwaitingIndication
        /// The peripheral has sent the request; the central's decision is due.
        case parametersAwaitingIndication
        /// The change takes effect at its instant.
        case awaitingInstant
    }

    /// The state of a procedure that the peer has started.
    enum Remote: Hashable {
        /// The host has been asked.
        case parametersAwaitingHost(ConnectionParameterRequest)
        /// The peripheral has responded; the central's decision is due.
        case parametersAwaitingIndication
        /// The peripheral has responded; the central's decision is due.
        case phyAwaitingIndication
        /// The central has announced its decision; the peripheral's acknowledgement is due.
        case subrateAwaitingAcknowledgement
        /// The change takes effect at its instant.
        case awaitingInstant
    }

    /// A change that takes effect at an instant.
    enum Change: Hashable {
        case timing(ConnectionUpdateIndication)
        case channelMap(ChannelMap)
        case phy(tx: LEPHY?, rx: LEPHY?)
    }

    /// The constant properties of a link.
    struct Setup {
        var role: LinkRole
        var features: LEFeatures
        var version: VersionIndication
        /// The PHYs that this device prefers when the peer starts the PHY update.
        var preferredPHYs: PHYPreferences
        var phys: LEPHYs
        var dataLength: DataLength
        /// The accuracy of this device's sleep clock.
        var accuracy: ClockAccuracy
        /// The PHY with which the connection starts.
        var firstPHY = LEPHY.le1M
        /// The subrating parameters that a central accepts from the peripheral.
        var acceptableSubrate = SubrateRequest.initial
        /// The source of session key diversifiers and initialization vectors.
        var random: RandomSource
        /// Whether the host has enabled the event that asks it for connection parameters.
        var hostAnswersParameters: () -> Bool
        /// Whether the host has enabled the event that asks it for keys.
        var hostHasKeys: () -> Bool
    }

    /// The maximum number of queued requests, not counting a channel map.
    static let maximumRequests = 8
    /// The procedure response timeout (5.2).
    static let responseTimeout = Duration.seconds(40)

    let setup: Setup
    var procedures = LinkProcedures()
    var encryption = EncryptionMachine()
    /// PDUs of the peer postponed until the encryption procedure ends.
    var postponed = Deque<PacketBuffer>()
    private(set) var requests = Deque<Request>()
    var peer = PeerFacts()
    var dataLength: DataLength
    var phys: LinkPHYs
    var timing: LinkTiming
    var subrating: SubrateNegotiation
    /// The event being prepared or in progress.
    private(set) var counter: UInt16 = 0
    /// Incremented whenever a control PDU is sent or received, which restarts the response timeout.
    private(set) var progress = 0
    var actions: [Action] = []

    init(_ setup: Setup, timing: LinkTiming) {
        self.setup = setup
        self.timing = timing
        subrating = SubrateNegotiation(acceptable: setup.acceptableSubrate)
        dataLength = setup.dataLength
        phys = LinkPHYs(setup.firstPHY)
    }

    var isCentral: Bool { setup.role == .central }
    var local: Local? { procedures.local }
    var remote: Remote? { procedures.remote }
    var pending: (instant: UInt16, change: Change)? { procedures.pending }
    /// The features of the peer; nil before it has reported them.
    var remoteFeatures: LEFeatures? { peer.features }
    var txPHY: LEPHY { phys.tx }
    var rxPHY: LEPHY { phys.rx }
    /// The current subrating. Its base event is not used here.
    var subrate: SubrateIndication { subrating.current }

    /// Whether the peer owes a PDU, so that the response timeout runs.
    var awaitsPeer: Bool {
        if encryption.isBusy { return !encryption.awaitsHost }
        switch (local, remote) {
        case (nil, _), (.awaitingInstant?, _):
            return remote == .parametersAwaitingIndication || remote == .phyAwaitingIndication
        default: return true
        }
    }

    // MARK: Inputs

    /// Starts a procedure, or queues it while another one is in progress. Returns nil if the queue is full.
    mutating func request(_ request: Request) -> [Action]? {
        if case .terminate(let reason) = request {
            actions.append(.send(.terminate(.init(reason))))
            return flush()
        }
        if case .channelMap = request {
            // A newer map replaces a queued one, so that it never fails for lack of space.
            requests.removeAll { if case .channelMap = $0 { true } else { false } }
        } else if requests.count >= Self.maximumRequests {
            return nil
        }
        requests.append(request)
        startNext()
        return flush()
    }

    /// Handles a control PDU from the peer.
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

    /// Parses a PDU; nil if it is malformed, or this device does not accept it.
    private func understood(_ bytes: PacketBuffer) -> ControlPDU? {
        guard let pdu = try? ControlPDU(reading: bytes), knows(pdu) else { return nil }
        return pdu
    }

    /// Handles a control PDU that is not postponed.
    mutating func takeWhole(_ bytes: PacketBuffer) {
        if let pdu = understood(bytes) {
            // A rejection during an encryption procedure refers to that procedure.
            if encryption.isBusy, pdu.opcode != .terminateInd { takeEncryption(pdu) } else { take(pdu) }
        } else if let opcode = bytes.first {
            takeUnknown(ControlOpcode(rawValue: opcode), length: bytes.count)
        }
    }

    /// Applies the change whose instant is the event with this counter, if there is one.
    mutating func begin(counter: UInt16) -> [Action] {
        self.counter = counter
        guard let change = procedures.take(at: counter) else { return [] }
        apply(change)
        startNext()
        return flush()
    }

    /// Returns the action for an expired response timeout.
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
        // The peripheral's request (5.1.11) is ignored: the host's channel classification takes precedence, and there
        // is no other.
        case .minimumUsedChannels: break
        case .clockAccuracyRequest(let body): takeClockAccuracy(body, isRequest: true)
        case .clockAccuracyResponse(let body): takeClockAccuracy(body, isRequest: false)
        case .subrateRequest(let body): takeSubrateRequest(body)
        case .subrateIndication(let body): takeSubrateIndication(body)
        case .periodicSync(let body): actions.append(.heardOfTrain(body))
        }
    }

    /// Starts the next procedure, unless it would collide with one in progress.
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
        // The procedure ends when the PDU has been sent (5.1.13).
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

    // MARK: Helpers

    mutating func send(_ pdu: ControlPDU) {
        actions.append(.send(pdu))
    }

    mutating func report(_ report: Report) {
        actions.append(.report(report))
    }
}

/// The role of this device in a connection (Core Vol 6 Part B 4.5).
enum LinkRole: Hashable {
    /// The device that initiated the connection, and that determines its timing.
    case central
    /// The device that advertised.
    case peripheral
}
