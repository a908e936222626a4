import Cryptography
import HCI

/// The state machine of the encryption start and encryption pause procedures (Core Vol 6 Part B 5.1.3).
///
/// Each step determines which PDU may follow. Once the peer has taken part, any other PDU ends the link as a forged PDU
/// would (AB-L06, AB-L07).
struct EncryptionMachine {
    /// The central's key, and the request from which the peripheral determines the same key.
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
        /// The central has received LL_ENC_RSP.
        case centralAwaitsStart(EncryptionSession, isRefresh: Bool)
        /// The central has sent LL_START_ENC_RSP.
        case centralAwaitsConfirmation(isRefresh: Bool)
        /// The peripheral has received LL_ENC_REQ and asked its host for the key.
        case peripheralAwaitsHost(EncryptionRequest, EncryptionResponse, isRefresh: Bool)
        /// The peripheral has sent LL_START_ENC_REQ.
        case peripheralAwaitsConfirmation(EncryptionSession, isRefresh: Bool)
        /// The peripheral has sent LL_PAUSE_ENC_RSP.
        case peripheralPausing
        /// The peripheral has received the central's LL_PAUSE_ENC_RSP.
        case peripheralPaused
    }

    enum Event {
        /// The central's host has requested encryption or a key refresh.
        case start(Start)
        /// The peer has requested encryption; the second value is the response to send.
        case requested(EncryptionRequest, EncryptionResponse)
        /// Another PDU of the procedures has been received.
        case received(ControlPDU)
        /// The peripheral's host has supplied the key; nil if it has none.
        case key(Key128?)
    }

    enum Action: Hashable {
        /// Send only PDUs of the encryption procedures from now on.
        case hold
        /// Resume sending all PDUs, after ``hold``.
        case release
        case send(ControlPDU)
        /// Reject LL_ENC_REQ with this error.
        case refuse(HCIStatus)
        /// Encrypt transmissions with this session from now on; nil to stop encrypting.
        case transmit(EncryptionSession?)
        /// Decrypt received PDUs with this session from now on; nil to stop decrypting.
        case receive(EncryptionSession?)
        /// Terminate the link with this reason, notifying the peer.
        case terminate(HCIStatus)
        /// End the link without notifying the peer.
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

    // MARK: Central

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

    /// Returns the reason if a PDU rejects what this central has requested; otherwise nil.
    private func refusal(by pdu: ControlPDU) -> HCIStatus? {
        switch state {
        case .centralPausing: pdu.refusal(of: .pauseEncReq)
        case .centralRequesting, .centralAwaitsStart: pdu.refusal(of: .encReq)
        default: nil
        }
    }

    /// Returns to the state before the procedure. After a pause that is not possible: the peer must not be able to
    /// choose an unencrypted link (AB-L07).
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

    // MARK: Peripheral

    private mutating func requested(_ request: EncryptionRequest, _ response: EncryptionResponse) -> [Action] {
        switch state {
        case .plain, .peripheralPaused:
            let isRefresh = state == .peripheralPaused
            state = .peripheralAwaitsHost(request, response, isRefresh: isRefresh)
            return [.hold, .send(.encryptionResponse(response)), .askForKey(request)]
        default:
            // The key of an encrypted link can be changed only after a pause.
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
            // The link is not encrypted.
            return [.send(.unknown(.init(.pauseEncReq)))]
        default:
            // An unexpected response is ignored.
            return []
        }
    }

    /// Continues with the key. Without one the link stays as before; after a pause it ends (5.1.3.1).
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

// The PDUs allowed in each state.
extension EncryptionMachine {
    /// The handling of a received control PDU in the current state.
    enum Verdict {
        case handle
        /// Handle it when the procedure has ended: the peer sent it before it could know of the procedure.
        case postpone
        /// End the link: the peer is not allowed to send this PDU now.
        case violation
    }

    /// Whether a procedure is in progress.
    var isBusy: Bool { state != .plain && state != .encrypted }

    /// Whether the host of this peripheral has been asked for the key.
    var awaitsHost: Bool {
        if case .peripheralAwaitsHost = state { true } else { false }
    }

    /// Whether only the next PDU of the procedure is allowed. This begins as soon as the peer has responded, and so
    /// must know of the procedure (5.1.3.1, 5.1.3.2).
    var isStrict: Bool {
        switch state {
        case .plain, .encrypted, .centralPausing, .centralRequesting(_, isRefresh: false): false
        default: true
        }
    }

    /// Returns what to do with a received control PDU; nil stands for one that is not understood.
    func verdict(on pdu: ControlPDU?) -> Verdict {
        guard isBusy else { return .handle }
        if let pdu, isExpected(pdu) { return .handle }
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
    /// Returns the reason if this PDU rejects one with the given opcode; otherwise nil.
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
    /// The status as the reason of a rejection. A reason of 0 becomes an unspecified error, lest a host mistake the
    /// rejection for success (AB-L06).
    var asRefusal: HCIStatus { self == .success ? .unspecifiedError : self }
}
