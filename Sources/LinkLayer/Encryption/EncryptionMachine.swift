import Cryptography
import HCI

/// How a link becomes encrypted, and gets another key: the encryption start and pause procedures (Core Vol 6 Part B 5.1.3).
///
/// Each step that is taken changes what the next PDU may be. Once the peer has taken part, whatever else arrives ends the
/// link as a forged PDU would (AB-L06, AB-L07).
struct EncryptionMachine {
    /// What the central encrypts with, and what it tells the peripheral to find the same.
    struct Start: Hashable {
        var longTermKey: Key128
        var request: EncryptionRequest
    }

    enum State: Hashable {
        case plain
        case encrypted
        /// The central has sent LL_PAUSE_ENC_REQ.
        case centralPausing(Start)
        /// The central has sent LL_ENC_REQ.
        case centralRequesting(Start, isRefresh: Bool)
        /// The central has LL_ENC_RSP.
        case centralAwaitsStart(EncryptionSession, isRefresh: Bool)
        /// The central has sent LL_START_ENC_RSP.
        case centralAwaitsConfirmation(isRefresh: Bool)
        /// The peripheral has LL_ENC_REQ, and has asked its host for the key.
        case peripheralAwaitsHost(EncryptionRequest, EncryptionResponse, isRefresh: Bool)
        /// The peripheral has sent LL_START_ENC_REQ.
        case peripheralAwaitsConfirmation(EncryptionSession, isRefresh: Bool)
        /// The peripheral has sent LL_PAUSE_ENC_RSP.
        case peripheralPausing
        /// The peripheral has the central's LL_PAUSE_ENC_RSP.
        case peripheralPaused
    }

    enum Event {
        /// The host of the central wants the link to be encrypted, or to have another key.
        case start(Start)
        /// The peer asks; this would be the answer.
        case requested(EncryptionRequest, EncryptionResponse)
        /// Another PDU of the procedures has come.
        case received(ControlPDU)
        /// The host of the peripheral has the key, or has none.
        case key(Key128?)
    }

    enum Action: Hashable {
        /// Nothing but the PDUs of the procedure is sent from now on.
        case hold
        /// All is sent again.
        case release
        case send(ControlPDU)
        /// LL_ENC_REQ is refused.
        case refuse(HCIStatus)
        /// What is sent from now on is encrypted, or is not.
        case transmit(EncryptionSession?)
        /// What comes from now on is encrypted, or is not.
        case receive(EncryptionSession?)
        /// The peer is told that the link ends.
        case terminate(HCIStatus)
        /// The link ends without a word.
        case end(HCIStatus)
        case reportChange(HCIStatus)
        case reportRefresh(HCIStatus)
        case askForKey(EncryptionRequest)
    }

    private(set) var state = State.plain

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start(let start): begin(start)
        case .requested(let request, let response): requested(request, response)
        case .received(let pdu): received(pdu)
        case .key(let key): found(key)
        }
    }

    // MARK: The central

    private mutating func begin(_ start: Start) -> [Action] {
        switch state {
        case .plain:
            state = .centralRequesting(start, isRefresh: false)
            return [.hold, .send(.encryptionRequest(start.request))]
        case .encrypted:
            state = .centralPausing(start)
            return [.hold, .send(.pauseEncryptionRequest)]
        default:
            return []
        }
    }

    private mutating func received(_ pdu: ControlPDU) -> [Action] {
        switch (state, pdu) {
        case (.centralPausing(let start), .pauseEncryptionResponse):
            state = .centralRequesting(start, isRefresh: true)
            return [
                .receive(nil), .transmit(nil), .send(.pauseEncryptionResponse),
                .send(.encryptionRequest(start.request)),
            ]
        case (.centralRequesting(let start, let isRefresh), .encryptionResponse(let response)):
            let session = EncryptionSession(
                longTermKey: start.longTermKey,
                request: start.request,
                response: response
            )
            state = .centralAwaitsStart(session, isRefresh: isRefresh)
            return []
        case (.centralAwaitsStart(let session, let isRefresh), .startEncryptionRequest):
            state = .centralAwaitsConfirmation(isRefresh: isRefresh)
            return [.receive(session), .transmit(session), .send(.startEncryptionResponse)]
        case (.centralAwaitsConfirmation(let isRefresh), .startEncryptionResponse):
            state = .encrypted
            return [report(.success, isRefresh), .release]
        default:
            if let error = refusal(by: pdu) { return refused(error) }
            return receivedAsPeripheral(pdu)
        }
    }

    /// Why the peer refuses what this central has asked for; nil when it does not.
    private func refusal(by pdu: ControlPDU) -> HCIStatus? {
        switch state {
        case .centralPausing: pdu.refusal(of: .pauseEncReq)
        case .centralRequesting, .centralAwaitsStart: pdu.refusal(of: .encReq)
        default: nil
        }
    }

    /// The link stays as it was before. After a pause that cannot be had: to go on without encryption is not for the peer
    /// to choose (AB-L07).
    private mutating func refused(_ error: HCIStatus) -> [Action] {
        switch state {
        case .centralPausing:
            state = .encrypted
            return [.reportRefresh(error), .release]
        case .centralRequesting(_, isRefresh: false), .centralAwaitsStart(_, isRefresh: false):
            state = .plain
            return [.reportChange(error), .release]
        default:
            state = .plain
            return [.terminate(error)]
        }
    }

    // MARK: The peripheral

    private mutating func requested(_ request: EncryptionRequest, _ response: EncryptionResponse) -> [Action] {
        switch state {
        case .plain, .peripheralPaused:
            let isRefresh = state == .peripheralPaused
            state = .peripheralAwaitsHost(request, response, isRefresh: isRefresh)
            return [.hold, .send(.encryptionResponse(response)), .askForKey(request)]
        default:
            // Another key is agreed upon without encryption or not at all.
            return [.end(.terminatedByMICFailure)]
        }
    }

    private mutating func receivedAsPeripheral(_ pdu: ControlPDU) -> [Action] {
        switch (state, pdu) {
        case (.peripheralAwaitsConfirmation(let session, let isRefresh), .startEncryptionResponse):
            state = .encrypted
            return [
                .transmit(session), .send(.startEncryptionResponse), report(.success, isRefresh), .release,
            ]
        case (.encrypted, .pauseEncryptionRequest):
            state = .peripheralPausing
            return [.hold, .send(.pauseEncryptionResponse), .receive(nil)]
        case (.peripheralPausing, .pauseEncryptionResponse):
            state = .peripheralPaused
            return [.transmit(nil)]
        case (.plain, .pauseEncryptionRequest):
            // There is nothing to pause.
            return [.send(.unknown(.init(.pauseEncReq)))]
        default:
            // An answer that nobody waits for.
            return []
        }
    }

    /// Without a key the link stays as it was before; after a pause it ends (5.1.3.1).
    private mutating func found(_ key: Key128?) -> [Action] {
        guard case .peripheralAwaitsHost(let request, let response, let isRefresh) = state else { return [] }
        guard let key else {
            state = .plain
            return isRefresh ? [.terminate(.pinOrKeyMissing)] : [.refuse(.pinOrKeyMissing), .release]
        }
        let session = EncryptionSession(longTermKey: key, request: request, response: response)
        state = .peripheralAwaitsConfirmation(session, isRefresh: isRefresh)
        return [.receive(session), .send(.startEncryptionRequest)]
    }

    private func report(_ status: HCIStatus, _ isRefresh: Bool) -> Action {
        isRefresh ? .reportRefresh(status) : .reportChange(status)
    }
}

// What may come.
extension EncryptionMachine {
    /// What becomes of a control PDU that has come.
    enum Verdict {
        case take
        /// Its turn comes when the procedure has ended: the peer could not know that one runs.
        case postpone
        /// The peer knows that it must not send this now.
        case violation
    }

    /// Whether a procedure runs.
    var isBusy: Bool { state != .plain && state != .encrypted }

    /// Whether the host of this peripheral owes a key, or an answer that it has none.
    var awaitsHost: Bool {
        if case .peripheralAwaitsHost = state { true } else { false }
    }

    /// Whether nothing but the next PDU of the procedure may come: not before the peer must know that one runs, which is
    /// as soon as it has answered (5.1.3.1, 5.1.3.2).
    var isStrict: Bool {
        switch state {
        case .plain, .encrypted, .centralPausing, .centralRequesting(_, isRefresh: false): false
        default: true
        }
    }

    /// What becomes of a control PDU; nil stands for one that is not understood.
    func verdict(on pdu: ControlPDU?) -> Verdict {
        guard isBusy else { return .take }
        if let pdu, isExpected(pdu) { return .take }
        return isStrict ? .violation : .postpone
    }

    private func isExpected(_ pdu: ControlPDU) -> Bool {
        switch (state, pdu) {
        case (_, .terminate), (.centralPausing, .pauseEncryptionResponse), (.centralRequesting, .encryptionResponse),
            (.centralAwaitsStart, .startEncryptionRequest), (.centralAwaitsConfirmation, .startEncryptionResponse),
            (.peripheralAwaitsConfirmation, .startEncryptionResponse), (.peripheralPausing, .pauseEncryptionResponse),
            (.peripheralPaused, .encryptionRequest):
            true
        default:
            refusal(by: pdu) != nil
        }
    }
}

extension ControlPDU {
    /// Why this refuses a PDU that was sent; nil when it does not.
    func refusal(of opcode: ControlOpcode) -> HCIStatus? {
        switch self {
        case .unknown(let body) where body.opcode == opcode: .unsupportedRemoteFeature
        case .reject(let body): body.error.asRefusal
        case .rejectExtended(let body) where body.opcode == opcode: body.error.asRefusal
        default: nil
        }
    }
}

extension HCIStatus {
    /// What the peer gave as a reason. Zero is none, and what is refused is refused all the same: no host is to take it
    /// for success (AB-L06).
    var asRefusal: HCIStatus { self == .success ? .unspecifiedError : self }
}
