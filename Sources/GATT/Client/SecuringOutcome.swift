import BluetoothTypes

/// What came of making a link more secure, for the client that asked for it.
package enum SecuringOutcome: Hashable, Sendable {
    /// The link is more secure.
    case secured
    /// Nothing was tried: there is nothing that would help, or nobody to ask.
    case untried
    /// It was tried and did not work.
    case failed(UnderlyingError)
}
