import BluetoothTypes
import Cryptography
import DequeModule
import EventLoops
import HCI

/// The state machine of a link's control procedures (Core Vol 6 Part B 5.1). It turns requests and received PDUs into
/// PDUs to send and changes to apply.
///
/// A device runs one procedure of its own at a time, and meanwhile responds to those of the peer. Procedures that
/// change the link at an instant exclude each other (5.3); the central's takes precedence.
struct LinkControl {
    /// The maximum number of queued requests, not counting a channel map.
    static let maximumRequests = 8
    /// The number of the peer's PDUs that can be postponed until the encryption procedure ends. Further ones are not
    /// acknowledged.
    static let maximumPostponedPDUs = 8
    /// The procedure response timeout (5.2).
    static let responseTimeout = Duration.seconds(40)

    let setup: Setup
    var procedures = LinkProcedures()
    private(set) var encryption = EncryptionMachine()
    /// PDUs of the peer postponed until the encryption procedure ends.
    private(set) var postponed = Deque<PacketBuffer>()
    private(set) var requests = Deque<Request>()
    private(set) var peer = PeerFacts()
    private(set) var dataLength: DataLength
    private var phys: LinkPHYs
    private(set) var timing: LinkTiming
    private(set) var subrating: SubrateNegotiation
    /// What has been agreed about Channel Sounding.
    var sounding: SoundingState
    /// The event being prepared or in progress.
    private(set) var counter: UInt16 = 0
    /// Incremented whenever a control PDU is sent or received, which restarts the response timeout.
    private(set) var progress = 0
    private(set) var actions: [Action] = []

    init(_ setup: Setup, timing: LinkTiming) {
        self.setup = setup
        self.timing = timing
        subrating = SubrateNegotiation(acceptable: setup.acceptableSubrate)
        sounding = SoundingState(own: setup.sounding)
        dataLength = setup.dataLength
        phys = LinkPHYs(setup.firstPHY)
    }

    var isCentral: Bool { setup.role == .central }
    var local: Local? { procedures.local }
    var remote: Remote? { procedures.remote }
    var pending: (instant: UInt16, change: Change)? { procedures.pending }
    /// The features that tell which procedures the peer supports; nil before it has reported them.
    var remoteFeatures: LEFeatures? { peer.features?.meaningfulFromPeer }
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
                || remote == .soundingAwaitingIndication
        default: return true
        }
    }

    /// Whether another control PDU of the peer can be accepted.
    var hasRoom: Bool { postponed.count < Self.maximumPostponedPDUs }

    /// Whether data may be received now. If not, data end the link like a forged PDU (5.1.3.1; AB-L07).
    var admitsData: Bool { !encryption.isStrict }

    /// Whether the host has requested encryption and not been notified of the outcome.
    var encryptionIsRequested: Bool {
        encryption.isBusy || requests.contains { if case .encrypt = $0 { true } else { false } }
    }

    // MARK: Inputs

    /// Starts a procedure, or queues it while another one is in progress. Returns nil if the queue is full.
    mutating func request(_ request: Request) -> [Action]? {
        if case .terminate(let reason) = request {
            emit(.send(.terminate(.init(reason))))
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
        case .handle: handleNow(bytes)
        case .postpone: postponed.append(bytes)
        case .violation: emit(.end(.terminatedByMICFailure))
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
    private mutating func handleNow(_ bytes: PacketBuffer) {
        if let pdu = understood(bytes) {
            // A rejection during an encryption procedure refers to that procedure.
            if encryption.isBusy, pdu.opcode != .terminateInd { receiveEncryption(pdu) } else { receive(pdu) }
        } else if let opcode = bytes.first {
            receiveUnknown(ControlOpcode(rawValue: opcode), length: bytes.count)
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

    private mutating func receive(_ pdu: ControlPDU) {
        switch pdu {
        case .connectionUpdate(let body): receiveConnectionUpdate(body)
        case .channelMap(let body): receiveChannelMap(body)
        case .terminate(let body): emit(.endAfterAnswer(body.error.asRefusal))
        case .unknown(let body): receiveRefusal(of: body.opcode, .unsupportedRemoteFeature)
        case .featureRequest(let body), .peripheralFeatureRequest(let body): receiveFeatureRequest(body)
        case .featureResponse(let body): receiveFeatureResponse(body)
        case .version(let body): receiveVersion(body)
        case .reject(let body): receiveRefusal(of: nil, body.error.asRefusal)
        case .rejectExtended(let body): receiveRefusal(of: body.opcode, body.error.asRefusal)
        case .connectionParameterRequest(let body): receiveParameterRequest(body)
        case .connectionParameterResponse(let body): receiveParameterResponse(body)
        case .pingRequest: emit(.send(.pingResponse))
        case .pingResponse: receivePingResponse()
        case .encryptionRequest, .encryptionResponse, .startEncryptionRequest, .startEncryptionResponse,
            .pauseEncryptionRequest, .pauseEncryptionResponse:
            receiveEncryption(pdu)
        case .lengthRequest(let body): receiveLength(body, isRequest: true)
        case .lengthResponse(let body): receiveLength(body, isRequest: false)
        case .phyRequest(let body): receivePHYRequest(body)
        case .phyResponse(let body): receivePHYResponse(body)
        case .phyUpdate(let body): receivePHYUpdate(body)
        // The peripheral's request (5.1.11) is ignored: the host's channel classification takes precedence, and there
        // is no other.
        case .minimumUsedChannels: break
        case .clockAccuracyRequest(let body): receiveClockAccuracy(body, isRequest: true)
        case .clockAccuracyResponse(let body): receiveClockAccuracy(body, isRequest: false)
        case .subrateRequest(let body): receiveSubrateRequest(body)
        case .subrateIndication(let body): receiveSubrateIndication(body)
        case .periodicSync(let body): emit(.trainTransferred(body))
        default: receiveSounding(pdu)
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
        case .sounding(let procedure): startSounding(procedure)
        // The procedure ends when the PDU has been sent (5.1.13).
        case .periodicSync(let pdu): send(.periodicSync(pdu))
        case .terminate: break
        }
    }

    // MARK: Changes of the link

    /// Applies a change whose instant has come.
    mutating func apply(_ change: Change) {
        let isOwn = procedures.endAtInstant()
        switch change {
        case .timing(let pdu):
            let new = LinkTiming(interval: pdu.interval, latency: pdu.latency, timeout: pdu.timeout)
            let isSame = new == timing
            if new.interval != timing.interval { subrating.end() }
            timing = new
            emit(.applyTiming(pdu))
            if isOwn || !isSame { report(.parameters(.success)) }
        case .channelMap(let map):
            emit(.applyChannelMap(map))
        case .phy(let tx, let rx):
            applyPHY(tx: tx, rx: rx, isOwn: isOwn)
        }
    }

    /// Applies the PHYs at the instant. The host is notified if it requested the change, or if a PHY has changed.
    private mutating func applyPHY(tx: LEPHY?, rx: LEPHY?, isOwn: Bool) {
        let (before, times) = (phys, effectiveTimes)
        phys.change(tx: tx, rx: rx)
        if isOwn || before != phys { report(.phy(.success)) }
        // The minimum times are longer on the Coded PHY.
        if times != effectiveTimes { report(.dataLength) }
    }

    /// The maximum durations of PDUs on the current PHYs, in microseconds.
    private var effectiveTimes: [UInt16] {
        [dataLength.txTime(txPHY.radioPHY), dataLength.rxTime(rxPHY.radioPHY)]
    }

    private mutating func apply(_ pdu: SubrateIndication, isOwn: Bool) {
        var known = pdu
        known.base = subrate.base
        let isSame = known == subrate && timing.latency == pdu.latency && timing.timeout == pdu.timeout
        subrating.current = known
        (timing.latency, timing.timeout) = (pdu.latency, pdu.timeout)
        emit(.applySubrate(pdu))
        if isOwn || !isSame { report(.subrate(.success, known)) }
    }

    // MARK: Encryption, in its interplay with the other procedures (5.1.3)

    /// Requests encryption with the key that the central's host has supplied.
    mutating func requestEncryption(key: Key128, random: UInt64, diversifier: UInt16) -> [Action]? {
        var request = EncryptionRequest()
        (request.random, request.diversifier) = (random, diversifier)
        request.keyDiversifier = setup.random.next()
        request.vector = UInt32(truncatingIfNeeded: setup.random.next())
        return self.request(.encrypt(.init(longTermKey: key, request: request)))
    }

    /// Continues with the key from the peripheral's host; nil if it has none. Returns nil if the host was not asked.
    mutating func answer(key: Key128?) -> [Action]? {
        guard encryption.awaitsHost else { return nil }
        carryOut(encryption.handle(.key(key)))
        startNext()
        return flush()
    }

    private mutating func startEncryption(_ start: EncryptionMachine.Start) {
        if let remoteFeatures, !remoteFeatures.contains(.encryption) {
            return report(.encryption(.unsupportedRemoteFeature))
        }
        carryOut(encryption.handle(.start(start)))
    }

    private mutating func receiveEncryptionRequest(_ request: EncryptionRequest) {
        var response = EncryptionResponse()
        response.keyDiversifier = setup.random.next()
        response.vector = UInt32(truncatingIfNeeded: setup.random.next())
        carryOut(encryption.handle(.requested(request, response)))
        // If the host has masked the event, it cannot supply a key.
        if encryption.awaitsHost, !setup.hostHasKeys() { carryOut(encryption.handle(.key(nil))) }
    }

    /// Handles a PDU of the encryption procedures, or the rejection of one.
    private mutating func receiveEncryption(_ pdu: ControlPDU) {
        if case .encryptionRequest(let request) = pdu { return receiveEncryptionRequest(request) }
        carryOut(encryption.handle(.received(pdu)))
    }

    private mutating func carryOut(_ steps: [EncryptionMachine.Action]) {
        for step in steps {
            switch step {
            case .hold: emit(.hold)
            case .release:
                emit(.release)
                handlePostponed()
            case .send(let pdu): send(pdu)
            case .refuse(let error): refuse(.encReq, error)
            case .transmit(let session): emit(.transmit(session))
            case .receive(let session): emit(.receive(session))
            case .terminate(let reason): emit(.terminate(reason))
            case .end(let reason): emit(.end(reason))
            case .reportChange(let status): report(.encryption(status))
            case .reportRefresh(let status): report(.keyRefresh(status))
            case .askForKey(let request): report(.longTermKeyRequest(request.random, request.diversifier))
            }
        }
    }

    /// Handles the PDUs that were postponed during the procedure.
    private mutating func handlePostponed() {
        while let bytes = postponed.popFirst() { handleNow(bytes) }
    }

    // MARK: LE Ping (5.1.8)

    private mutating func startPing() {
        procedures.start(.ping)
        send(.pingRequest)
    }

    private mutating func receivePingResponse() {
        _ = procedures.end(.ping)
    }

    // MARK: Version exchange (Core Vol 6 Part B 5.1.5)

    private mutating func startVersion() {
        if let version = peer.version {
            report(.version(.success, version))
            return
        }
        // The version is sent only once; a peer that has rejected it is not asked again.
        guard !peer.isVersionSent else { return report(.version(.unsupportedRemoteFeature, .init())) }
        procedures.start(.version)
        sendVersion()
    }

    /// Each device sends its version only once.
    private mutating func receiveVersion(_ pdu: VersionIndication) {
        guard peer.version == nil else { return }
        peer.version = pdu
        if !peer.isVersionSent { sendVersion() }
        if procedures.end(.version) { report(.version(.success, pdu)) }
    }

    private mutating func sendVersion() {
        peer.isVersionSent = true
        send(.version(setup.version))
    }

    // MARK: Feature exchange (5.1.4)

    private mutating func startFeatures() {
        if let features = peer.features { return report(.features(.success, features)) }
        procedures.start(.features)
        let pdu = FeatureExchange(setup.features.sentToPeer)
        send(isCentral ? .featureRequest(pdu) : .peripheralFeatureRequest(pdu))
    }

    private mutating func receiveFeatureRequest(_ pdu: FeatureExchange) {
        let own = setup.features.sentToPeer
        peer.features = pdu.features.used(with: own)
        send(.featureResponse(.init(own.used(with: pdu.features))))
    }

    private mutating func receiveFeatureResponse(_ pdu: FeatureExchange) {
        guard procedures.end(.features) else { return }
        peer.features = pdu.features
        report(.features(.success, pdu.features))
    }

    // MARK: Sleep clock accuracy update (5.1.14)

    private mutating func startClockAccuracy() {
        if let remoteFeatures, !remoteFeatures.contains(.sleepClockAccuracyUpdates) {
            report(.clockAccuracy(.unsupportedRemoteFeature, .init(code: 0)))
            return
        }
        procedures.start(.clockAccuracy)
        send(.clockAccuracyRequest(.init(setup.accuracy.code)))
    }

    private mutating func receiveClockAccuracy(_ pdu: ClockAccuracyExchange, isRequest: Bool) {
        guard isRequest || local == .clockAccuracy else { return }
        let accuracy = ClockAccuracy(code: pdu.accuracy)
        emit(.applyPeerAccuracy(accuracy))
        if isRequest {
            send(.clockAccuracyResponse(.init(setup.accuracy.code)))
        } else {
            procedures.end()
            report(.clockAccuracy(.success, accuracy))
        }
    }

    // MARK: Data length update (5.1.9)

    private mutating func startLength(_ octets: UInt16, _ time: UInt16) {
        let before = dataLength
        dataLength.allowTransmission(octets: octets, time: time)
        if let remoteFeatures, !remoteFeatures.contains(.dataLengthExtension) { return }
        // The peer has these values already, from an earlier request or response of the controller.
        guard !dataLength.isAnnounced else { return }
        procedures.start(.length)
        send(.lengthRequest(dataLength.announce()))
        reportLength(ifNot: before)
    }

    private mutating func receiveLength(_ pdu: LengthExchange, isRequest: Bool) {
        if !isRequest, local != .length { return }
        let before = dataLength
        dataLength.adopt(pdu)
        if isRequest {
            send(.lengthResponse(dataLength.announce()))
        } else {
            procedures.end()
        }
        reportLength(ifNot: before)
    }

    /// Reports the data length to the host if the effective values have changed.
    private mutating func reportLength(ifNot before: DataLength) {
        let (tx, rx) = (txPHY.radioPHY, rxPHY.radioPHY)
        let isSame =
            before.txOctets == dataLength.txOctets && before.rxOctets == dataLength.rxOctets
            && before.txTime(tx) == dataLength.txTime(tx) && before.rxTime(rx) == dataLength.rxTime(rx)
        if !isSame { report(.dataLength) }
    }

    // MARK: Connection Subrate Update and Connection Subrate Request (5.1.19, 5.1.20)

    /// Starts a change of the subrating. The central announces it; the peripheral requests it.
    private mutating func startSubrate(_ wanted: SubrateRequest) {
        guard peerHasSubrating else { return report(.subrate(.unsupportedRemoteFeature, subrate)) }
        guard isCentral else {
            procedures.start(.subrateAwaitingIndication)
            return send(.subrateRequest(wanted))
        }
        var pdu = SubrateIndication()
        pdu.factor = wanted.factorMax
        pdu.latency = wanted.maxLatency
        pdu.continuation = min(wanted.continuation, wanted.factorMax - 1)
        pdu.timeout = wanted.timeout
        // A change of the interval may have come between the host's command and its turn.
        guard pdu.isPossible(with: timing) else { return report(.subrate(.invalidParameters, subrate)) }
        subrating.acceptable = wanted
        announce(pdu)
        procedures.start(.subrateAwaitingAcknowledgement)
    }

    /// Whether the peer supports subrating and its host has enabled it.
    var peerHasSubrating: Bool { remoteFeatures?.contains(.connectionSubratingHost) ?? false }

    private mutating func announce(_ pdu: SubrateIndication) {
        var pdu = pdu
        // A nearby event: the peripheral resolves the counter's wraparound from the two highest bits.
        pdu.base = counter
        subrating.announced = pdu
        send(.subrateIndication(pdu))
        emit(.announceSubrate(pdu))
    }

    private mutating func receiveSubrateRequest(_ pdu: SubrateRequest) {
        guard setup.features.contains(.connectionSubratingHost) else {
            return refuse(.subrateReq, .unsupportedRemoteFeature)
        }
        guard pdu.isValid else { return refuse(.subrateReq, .invalidLinkLayerParameters) }
        // Procedures that change the link exclude each other (5.3), and the peripheral may not know of a pending
        // change.
        guard remote == nil, pending == nil, !isChanging else {
            return refuse(.subrateReq, .differentTransactionCollision)
        }
        guard let agreed = subrating.agreement(on: pdu, timing) else {
            return refuse(.subrateReq, .invalidLinkLayerParameters)
        }
        announce(agreed)
        procedures.join(.subrateAwaitingAcknowledgement)
    }

    /// Whether a procedure of this device is in progress that changes the link.
    private var isChanging: Bool {
        switch local {
        case nil, .version?, .features?, .length?, .clockAccuracy?, .ping?, .sounding?: false
        default: true
        }
    }

    /// Applies the central's decision (5.1.19). AB-L04: invalid parameters end the link.
    private mutating func receiveSubrateIndication(_ pdu: SubrateIndication) {
        guard pdu.isPossible(with: timing) else {
            emit(.end(.invalidLinkLayerParameters))
            return
        }
        apply(pdu, isOwn: procedures.end(.subrateAwaitingIndication))
    }

    /// Applies the announced subrating, which the peripheral has acknowledged.
    mutating func subrateAcknowledged() -> [Action] {
        guard let pdu = subrating.acknowledge() else { return [] }
        let isOwn = procedures.end(.subrateAwaitingAcknowledgement)
        procedures.leave(.subrateAwaitingAcknowledgement)
        apply(pdu, isOwn: isOwn)
        startNext()
        return flush()
    }

    // MARK: Actions

    mutating func send(_ pdu: ControlPDU) {
        emit(.send(pdu))
    }

    mutating func report(_ report: Report) {
        emit(.report(report))
    }

    mutating func emit(_ action: Action) {
        actions.append(action)
    }

    /// Removes and returns the actions. Those that send a PDU restart the response timeout.
    private mutating func flush() -> [Action] {
        if actions.contains(where: { if case .send = $0 { true } else { false } }) { progress &+= 1 }
        return takeActions()
    }

    /// Removes and returns the actions, without restarting the response timeout.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }
}
