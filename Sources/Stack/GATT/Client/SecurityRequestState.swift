import BluetoothTypes

/// The state of a client's request for a more secure link.
///
/// The owner is asked once for everything that waits. Procedures wait in their own queues. Commands keep waiting even
/// if the owner fails: the link may become secure for another reason, and then there is room for them.
struct SecurityRequestState: OptionSet, Hashable {
    let rawValue: UInt8

    /// The owner was asked and has not answered yet. An answer counts once.
    static let asked = SecurityRequestState(rawValue: 1)
    static let commandsWait = SecurityRequestState(rawValue: 2)
}

/// The outcome of an attempt to make a link more secure on behalf of a client.
package enum SecuringOutcome: Hashable, Sendable {
    case secured
    /// No attempt was made: nothing would help, or no user can be asked.
    case untried
    case failed(UnderlyingError)
}
