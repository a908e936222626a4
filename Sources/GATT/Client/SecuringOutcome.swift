import BluetoothTypes

/// The outcome of an attempt to make a link more secure on behalf of a client.
package enum SecuringOutcome: Hashable, Sendable {
    /// The link is more secure.
    case secured
    /// No attempt was made: nothing would help, or no user can be asked.
    case untried
    /// The attempt failed with this error.
    case failed(UnderlyingError)
}
