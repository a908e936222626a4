import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import ServiceMessages

extension ServiceError {
    /// The error for a request that its link does not queue, because too many are pending.
    static let linkIsFull = ServiceError(.outOfSpace, reason: "too many requests are pending on this link")

    /// Creates the error for a link that was lost without this host ending it (behaviour 3.12).
    ///
    /// A link whose peer missed the connection request counts as a failed connection only if managers have not been
    /// notified of the connection, that is, if `wasConnected` is false (behaviour 3.38).
    init(disconnection reason: HCIStatus, wasConnected: Bool = true) {
        let code: CoreCode =
            switch reason {
            case .connectionTimeout, .linkLayerResponseTimeout: .connectionTimeout
            case .connectionFailedToBeEstablished where !wasConnected: .connectionFailed
            case .pinOrKeyMissing: .peerRemovedPairingInformation
            default: .peripheralDisconnected
            }
        self.init(code, reported: reason)
    }

    /// Creates the error for an operation that the controller ended with this status.
    private init(_ code: CoreCode, reported status: HCIStatus) {
        self.init(code, reason: "the controller reported \(status)", cause: Cause(.hci, status.rawValue))
    }

    init(att code: ATTErrorCode, reason: String, cause: Cause? = nil) {
        self.init(att: ATTStatus(rawValue: code.rawValue), reason: reason, cause: cause)
    }

    init(connecting status: HCIStatus) {
        switch status {
        case .connectionLimitExceeded, .memoryCapacityExceeded, .rejectedForLimitedResources:
            self.init(.connectionLimitReached, reported: status)
        default: self.init(.connectionFailed, reported: status)
        }
    }

    /// Creates the error for a link that is not as secure as required (behaviours 6.12, 6.13).
    init(_ error: SecurityError) {
        let code: CoreCode =
            switch error {
            case .peerLostKey: .peerRemovedPairingInformation
            case .encryptionTimedOut: .encryptionTimedOut
            default: .connectionFailed
            }
        self.init(code, reason: "\(error)", cause: Cause(error))
    }

    /// Creates the error for a failed ATT request (behaviour 5.4).
    init(_ error: ATTBearerError) {
        switch error {
        case .response(let response):
            let cause = Cause(.att, response.code.rawValue)
            self.init(att: response.code, reason: "the peer returned \(response.code)", cause: cause)
        case .malformedResponse(let opcode, let cause):
            self.init(.unknown, reason: "the peer's response \(opcode) is malformed: \(cause)")
        case .oversizedResponse(let opcode, let length):
            self.init(.unknown, reason: "the peer's response \(opcode) of \(length) octets exceeds the MTU")
        case .requestTooLong(let length):
            self.init(.invalidParameters, reason: "the request of \(length) octets exceeds the MTU")
        case .queueFull:
            self = .linkIsFull
        case .closed(.requestTimeout), .closed(.indicationTimeout):
            self.init(.connectionTimeout, reason: "the peer did not answer within 30 seconds")
        case .closed:
            self.init(.notConnected, reason: "the link is gone")
        }
    }

    /// Creates the error for a failed GATT procedure that may have waited for the link to be secured. If securing
    /// failed, the error is the reason for that, where the API has a code for it, or else the peer's refusal
    /// (behaviours 6.5, 6.6).
    init(_ error: GATTError, _ peers: Peers) {
        self.init(error)
        if case .notSecured(_, let reason) = error { self = ServiceError(reason, otherwise: self, peers) }
    }

    /// Creates the error for an operation that waited in vain for a secured link; `refusal` is the peer's refusal.
    init(_ reason: UnderlyingError, otherwise refusal: ServiceError, _ peers: Peers) {
        self = refusal
        let version = peers.version
        guard let security = reason.error as? SecurityError else { return }
        switch security {
        case .pairing(.timedOut):
            self = ServiceError(att: .insufficientEncryption, reason: "\(security)", cause: refusal.cause)
        case .keysRefused where peers.isFull && version.has(.pairedDeviceLimitCode):
            self = ServiceError(.tooManyLEPairedDevices, reason: "\(security)")
        case .peerLostKey where version.has(.lostBondsRefused): self = ServiceError(security)
        case .encryptionTimedOut where version.has(.encryptionTimeoutCode): self = ServiceError(security)
        default: break
        }
    }

    /// The error for a handle that is unknown, or no longer valid (behaviour 4.16).
    static func unknown(_ handle: AttributeHandle) -> ServiceError {
        ServiceError(.invalidHandle, reason: "no attribute with the handle \(handle) has been discovered")
    }

    package init(_ error: GATTError) {
        switch error {
        case .att(let response): self.init(ATTBearerError.response(response))
        case .bearer(let error): self.init(error)
        case .server(let fault):
            self.init(.unknown, reason: "the peer's attribute server breaks the specification: \(fault)")
        case .noClientConfiguration:
            // Behaviour 4.21.
            self.init(att: .attributeNotFound, reason: "the characteristic has no client configuration")
        case .valueTooLong(let length):
            let reason = "a value of \(length) octets is longer than any attribute can be, which is 512"
            self.init(att: .invalidAttributeValueLength, reason: reason)
        case .databaseOutOfSync:
            // Behaviour 4.16.
            self.init(.invalidHandle, reason: "the peer's services have changed")
        case .insufficientSecurity(let cause):
            self.init(att: cause, reason: "the link could not be secured")
        case .notSecured(let error, because: let reason):
            self.init(error)
            self.reason = "\(reason)"
            if let security = reason.error as? SecurityError, let known = Cause(security) { cause = known }
        case .noSigningKey:
            self.init(.unknown, reason: "there is no signing key for the peer")
        case .queueFull:
            self = .linkIsFull
        }
    }
}

extension ServiceError.Cause {
    /// Creates the code that explains an insecure link, or nil if there is none.
    init?(_ error: SecurityError) {
        switch error {
        case .pairing(.refused(let failure)), .pairing(.refusedByPeer(let failure)): self.init(.smp, failure.rawValue)
        case .peerLostKey: self.init(.hci, HCIStatus.pinOrKeyMissing.rawValue)
        default: return nil
        }
    }
}
