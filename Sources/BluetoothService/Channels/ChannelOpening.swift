import ATT
import BluetoothTypes
import L2CAP
import SMP

/// How a channel is opened for an app: in LE Credit Based Flow Control mode, as all peers know it, or in enhanced mode where one
/// knows only that; and when the link is not good enough for the peer, again once it is (behaviour 8.4).
struct ChannelOpening {
    enum Event {
        case begin
        case refused(ChannelOpenError)
        /// What came of it that the link was to be made more secure.
        case secured
        case notSecured(UnderlyingError?)
    }

    enum Action: Equatable {
        case open(ChannelMode)
        /// Makes the link as secure as it has to be after such a refusal.
        case secure(ATTErrorCode)
        /// It cannot be opened; what stood in the way of security, if that was asked for.
        case fail(ServiceError, because: UnderlyingError?)
    }

    /// How often the link is made more secure: encrypted, then with a better key. A peer that asks again has no end.
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
    /// What the attribute protocol says for the same: the link is not secure enough (Core Vol 3 Part C 10.3.1, where both
    /// have one table).
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
    /// Why a channel was not opened.
    init(_ error: ChannelOpenError) {
        switch error {
        case .refused(let result):
            let reason = "the peer refuses the channel: \(result)"
            if let code = result.securityRefusal {
                self.init(att: ATTStatus(rawValue: code.rawValue), reason: reason)
            } else {
                switch result {
                case .insufficientAuthorization:
                    self.init(att: ATTStatus(rawValue: ATTErrorCode.insufficientAuthorization.rawValue), reason: reason)
                case .insufficientResources: self.init(.outOfSpace, reason: reason)
                default: self.init(.connectionFailed, reason: reason)
                }
            }
        case .notUnderstood:
            self.init(.operationNotSupported, reason: "the peer knows no credit-based channels")
        case .timedOut: self.init(.connectionTimeout, reason: "the peer did not answer in time")
        case .invalidResponse:
            self.init(.unknown, reason: "the peer's answer contradicts the specification")
        case .noResources: self.init(.outOfSpace, reason: "the link has as many channels as it can have")
        case .notAllowed: self.init(.invalidParameters, reason: "no service can have this PSM")
        case .closed: self.init(.notConnected, reason: "the link is gone")
        }
    }
}
