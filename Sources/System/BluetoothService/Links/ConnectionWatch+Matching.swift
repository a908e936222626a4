import BluetoothTypes
import Foundation
import ServiceMessages

/// A change of a link, for managers that watch the connections of all apps (behaviour 3.22).
enum ConnectionChange {
    case connected
    /// The peer's services have been discovered for the first time on this link.
    case explored
    case disconnected
}

extension ConnectionWatch {
    /// Whether to report `change`. A connection is reported once, as soon as the peer is known to be watched.
    func wants(_ change: ConnectionChange, of peer: UUID, with services: Set<BluetoothUUID>) -> Bool {
        let isNamed = peers.contains(peer)
        let isService = self.services.contains { services.contains($0) }
        return switch change {
        case .connected: isNamed
        case .explored: isService && !isNamed
        case .disconnected: isNamed || isService
        }
    }
}
