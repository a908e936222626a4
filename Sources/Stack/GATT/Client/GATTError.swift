import ATT
import BluetoothTypes

/// An error of a client procedure, by the layer that failed.
package enum GATTError: Error, Hashable, Sendable {
    case att(ATTErrorResponse)
    /// The bearer failed, for example because of a time-out, a lost link or a malformed response.
    case bearer(ATTBearerError)
    /// The server violated the specification. All results of the procedure are discarded.
    case server(GATTServerFault)
    /// The characteristic supports neither notifications nor indications, or has no Client Characteristic Configuration
    /// descriptor (behaviour 4.21).
    case noClientConfiguration
    /// The value is longer than 512 octets.
    case valueTooLong(Int)
    /// The server's database has changed, and the cached attributes were discarded. Discover again.
    case databaseOutOfSync
    /// The link did not reach the security required for this peer. No request was sent, or the response cannot be
    /// trusted.
    case insufficientSecurity(ATTErrorCode)
    /// The link was not secure enough, as the first error says, and securing it failed for the second reason.
    indirect case notSecured(GATTError, because: UnderlyingError)
    case noSigningKey
    case queueFull

    package var response: ATTErrorResponse? {
        switch self {
        case .att(let response): response
        case .notSecured(let error, _): error.response
        default: nil
        }
    }

    /// Whether the server has no Client Characteristic Configuration descriptor to write: the search found none, or the
    /// server answered that it has no such attribute (behaviour 4.21).
    package var lacksConfiguration: Bool { self == .noClientConfiguration || response?.code == .attributeNotFound }

    init(_ error: ATTBearerError) {
        if case .response(let response) = error { self = .att(response) } else { self = .bearer(error) }
    }

    func after(_ outcome: SecuringOutcome) -> GATTError {
        if case .failed(let reason) = outcome { .notSecured(self, because: reason) } else { self }
    }
}

/// A violation of the specification by a server that ends the procedure, because it would never end or its result could
/// not be trusted (AB-A07, AB-A08).
///
/// What discovery can work around is a ``TableFlaw``.
package enum GATTServerFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// No attribute of a response lies in the requested range, so the search might never end.
    case noProgress(at: UInt16)
    case malformedHash(at: UInt16)
    /// The server exceeds a limit of the client.
    case tooMany(limit: Int)
    case unexpectedResponse
    case wrongEcho(handle: UInt16, offset: Int)

    /// The fault in words: a clause that follows the server's name.
    package var description: String {
        switch self {
        case .noProgress(let handle):
            "it answers with attribute \(handleText(handle)) again and again, so that the search would not end"
        case .malformedHash(let handle): "its Database Hash at \(handleText(handle)) is not 16 octets long"
        case .tooMany(let limit): "its table has more entries of a kind than this client accepts, which is \(limit)"
        case .unexpectedResponse: "its response does not match the request"
        case .wrongEcho(let handle, let offset):
            "it echoes another value than the one written to \(handleText(handle)) at offset \(offset)"
        }
    }
}
