import ATT
import BluetoothTypes

/// Why a procedure of the client failed, by the layer that it failed at.
package enum GATTError: Error, Hashable, Sendable {
    /// The server answered with an error: its code, and the attribute.
    case att(ATTErrorResponse)
    /// The bearer failed: a timeout, a lost link, an answer that is no PDU.
    case bearer(ATTBearerError)
    /// The server's answer contradicts the specification; nothing of the procedure is kept.
    case server(GATTServerFault)
    /// The characteristic tells nobody of its value, or has no Client Characteristic Configuration descriptor
    /// (behaviour 4.21).
    case noClientConfiguration
    /// The value has more than 512 octets.
    case valueTooLong(Int)
    /// The server's database has changed, and what was known of it is forgotten: discover again.
    case databaseOutOfSync
    /// The link did not get as secure as it has to be before anything is asked of this peer: nothing was sent, or the
    /// answer is not to be believed.
    case insufficientSecurity(ATTErrorCode)
    /// The link had to be more secure, for the first reason, and could not be made so, for the second.
    indirect case notSecured(GATTError, because: UnderlyingError)
    /// There is no key to sign with.
    case noSigningKey
    /// Too many procedures wait.
    case queueFull

    /// What the server answered.
    package var response: ATTErrorResponse? {
        switch self {
        case .att(let response): response
        case .notSecured(let error, _): error.response
        default: nil
        }
    }

    init(_ error: ATTBearerError) {
        if case .response(let response) = error { self = .att(response) } else { self = .bearer(error) }
    }

    /// This error, after what was tried against it.
    func after(_ outcome: SecuringOutcome) -> GATTError {
        if case .failed(let reason) = outcome { .notSecured(self, because: reason) } else { self }
    }
}

/// What a server did that no server may do (AB-A07, AB-A08).
package enum GATTServerFault: Error, Hashable, Sendable {
    /// A handle outside of the range asked for, or not behind the one before: going on might never end.
    case handleOutOfOrder(UInt16)
    /// A group that ends before it begins.
    case endBeforeStart(UInt16)
    /// A declaration whose length or contents are impossible.
    case malformedDeclaration(at: UInt16)
    /// A service that includes itself.
    case selfInclusion(UInt16)
    /// More than there may be.
    case tooMany(limit: Int)
    /// A response that does not belong to the request.
    case unexpectedResponse
    /// The echo of a prepared write differs from what was sent.
    case wrongEcho(handle: UInt16, offset: Int)
}
