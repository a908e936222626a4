import ATT
import BluetoothTypes
import L2CAP
import SMP
import ServiceMessages

/// The steps of opening a channel for an app. LE Credit Based Flow Control mode, which all peers support, comes first;
/// enhanced mode is for peers that support only that. If the peer requires a more secure link, opening is repeated on
/// the secured link (behaviour 8.4).
struct ChannelOpening {
    enum Event {
        case begin
        case refused(ChannelOpenError)
        /// The link was secured; below, it could not be.
        case secured
        case notSecured(UnderlyingError?)
    }

    enum Action: Equatable {
        case open(ChannelMode)
        /// Secures the link as this refusal requires.
        case secure(ATTErrorCode)
        /// The channel cannot be opened. `because` is why the link could not be secured, if that was tried.
        case fail(ServiceError, because: UnderlyingError?)
    }

    /// How often the link is secured: encrypted, then with a better key. The limit is for peers that never accept.
    static let maximumAttempts = 2

    private var mode = ChannelMode.creditBased
    private var attempts = 0
    private var refusal: ChannelResult?

    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .begin, .secured: return .open(mode)
        case .notSecured(let reason): return .fail(ServiceError(.refused(refusal ?? .success)), because: reason)
        case .refused(.notUnderstood) where mode == .creditBased:
            mode = .enhanced
            return .open(mode)
        case .refused(.refused(let result)):
            guard let code = result.securityRefusal, attempts < Self.maximumAttempts else { break }
            attempts += 1
            refusal = result
            return .secure(code)
        case .refused: break
        }
        guard case .refused(let error) = event else { return .fail(ServiceError(.unknown), because: nil) }
        return .fail(ServiceError(error), because: nil)
    }
}

extension ChannelResult {
    /// The ATT error with the same meaning, for results that require a more secure link (Core Vol 3 Part C 10.3.1 has
    /// one table for both).
    var securityRefusal: ATTErrorCode? {
        switch self {
        case .insufficientAuthentication: .insufficientAuthentication
        case .insufficientEncryption: .insufficientEncryption
        case .encryptionKeySizeTooShort: .encryptionKeySizeTooShort
        default: nil
        }
    }
}

extension ServiceError {
    init(_ error: ChannelOpenError) {
        switch error {
        case .refused(let result):
            let reason = "the peer refused the channel: \(result)"
            if let code = result == .insufficientAuthorization ? .insufficientAuthorization : result.securityRefusal {
                self.init(att: code, reason: reason)
            } else {
                self.init(result == .insufficientResources ? .outOfSpace : .connectionFailed, reason: reason)
            }
        case .notUnderstood:
            self.init(.operationNotSupported, reason: "the peer does not support credit-based channels")
        case .timedOut: self.init(.connectionTimeout, reason: "the peer did not answer in time")
        case .invalidResponse:
            self.init(.unknown, reason: "the peer's response violates the specification")
        case .noResources: self.init(.outOfSpace, reason: "the link has the maximum number of channels")
        case .notAllowed: self.init(.invalidParameters, reason: "this PSM cannot belong to a service")
        case .closed: self.init(.notConnected, reason: "the link is gone")
        }
    }
}
