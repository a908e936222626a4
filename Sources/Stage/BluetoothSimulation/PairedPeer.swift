import BluetoothService
import EventLoops
import Foundation
import ServiceMessages

/// A device that a ``SimulatedDevice`` is paired with, as its settings show it.
public struct PairedPeer: Hashable, Sendable {
    /// The identifier by which the apps of the device refer to the peer.
    public let identifier: UUID
    /// The name of the peer, or nil if it is not known.
    public let name: String?
}

extension SimulatedDevice {
    /// The devices that this device is paired with, the oldest first, as its settings show them. May be read from any
    /// thread.
    public var pairedPeers: [PairedPeer] {
        withSystem { system in system.bondedPeers.map { PairedPeer(identifier: $0.identifier, name: $0.name) } }
    }

    /// Forgets a paired device, as the person does in the settings.
    ///
    /// May be called from any thread.
    ///
    /// - Parameter peer: The identifier of the device. If it is not paired the call has no effect.
    /// - Returns: Whether it was paired.
    @discardableResult
    public func forget(_ peer: UUID) -> Bool {
        withSystem { [self] system in
            guard let known = system.bondedPeers.first(where: { $0.identifier == peer }) else {
                ignored("forget(_:): there is no bond with \(peer)")
                return false
            }
            note("the user forgets \(known.name ?? "a device")")
            // The bonds of a simulated device are in memory, which does not fail.
            try? system.forget(peer)
            return true
        }
    }
}
