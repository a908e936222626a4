import BluetoothTypes
import Foundation

/// What becomes of a link, for those who hear of connections by anyone (behaviour 3.22).
enum ConnectionChange {
    case connected
    /// The services of the peer are known, for the first time on this link.
    case explored
    case disconnected
}

extension ConnectionWatch {
    /// Whether the change is to be told of: a connection once, as soon as it is known that the peer is one of those asked for.
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
