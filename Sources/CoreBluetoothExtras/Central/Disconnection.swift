import CoreBluetooth
import Foundation

/// The end of a connection.
public struct Disconnection: Sendable {
    /// Who or what has brought it about.
    public enum Cause: Sendable {
        /// This app.
        case asked
        /// The other device, or the radio between, and how.
        case lost(any Error)
        /// The manager came to this state, which takes all connections along. Delegates are told of the state alone.
        case state(CBManagerState)
    }

    /// Who or what has brought it about.
    public var cause: Cause
    /// Whether the system connects again by itself.
    public var isReconnecting: Bool
    /// When it was.
    public var date: Date

    init(_ end: ConnectionEnd) {
        cause = end.state.map { .state($0) } ?? end.error.map { .lost($0) } ?? .asked
        isReconnecting = end.isReconnecting
        date = Date(timeIntervalSinceReferenceDate: end.time)
    }
}
