import CoreBluetooth
import Foundation

/// The end of a connection.
public struct Disconnection: Sendable {
    /// The cause of a disconnection.
    public enum Cause: Sendable {
        /// This app cancelled the connection.
        case asked
        /// The peer ended the link, or it was lost. The error says which (behaviour 3.12).
        case lost(any Error)
        /// The manager's new state, which ended all its connections. Delegates receive the state alone
        /// (behaviour 1.11).
        case state(CBManagerState)
    }

    /// The cause of the disconnection.
    public var cause: Cause
    /// Whether the system connects again by itself (behaviour 3.17).
    public var isReconnecting: Bool
    /// The time of the disconnection.
    public var date: Date

    init(_ end: ConnectionEnd) {
        cause = end.state.map { .state($0) } ?? end.error.map { .lost($0) } ?? .asked
        isReconnecting = end.isReconnecting
        date = Date(timeIntervalSinceReferenceDate: end.time)
    }
}
