import BluetoothService
import EventLoops
import Foundation

/// A peer in the settings of a ``SimulatedDevice``.
public struct PairedPeer: Hashable, Sendable {
    /// What the apps of the device call it.
    public let identifier: UUID
    /// Its name, if it is known.
    public let name: String?
}

extension SimulatedDevice {
    /// The peers that the device is paired with, the oldest first: what its settings show.
    public var pairedPeers: [PairedPeer] {
        parts.with { parts in
            parts.system.bondedPeers.map { PairedPeer(identifier: $0.identifier, name: $0.name) }
        }
    }

    /// Forgets a paired peer, as the person does in the settings. Nothing happens when there is none with this identifier.
    public func forget(_ peer: UUID) {
        parts.with { parts in
            // The bonds of a simulated device are in memory, which does not fail.
            try? parts.system.forget(peer)
        }
    }
}
