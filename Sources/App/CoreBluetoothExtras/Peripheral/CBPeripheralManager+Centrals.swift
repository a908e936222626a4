import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// The connection or disconnection of a central.
public enum CentralConnectionEvent: Sendable {
    /// A central has connected to this system and can use its services.
    case connected(CBCentral)
    /// A central has disconnected. The error is nil if this system ended the link.
    case disconnected(CBCentral, (any Error)?)
}

extension CBPeripheralManager {
    /// A new stream of the centrals that connect to this system and disconnect, beginning with those that are connected
    /// (behaviour 15.15).
    ///
    /// Core Bluetooth reports centrals only when they subscribe or send requests (behaviour 7.41). The stream has the
    /// centrals whose links this system has accepted, not the peripherals that its central managers connect to. When
    /// Bluetooth is switched off all are disconnected. The stream ends with the manager and does not retain it.
    public var centralConnections: EventStream<CentralConnectionEvent> {
        begin(\.connections) { state in
            // Without power, it is requested when the power is back.
            if state.connections.isEmpty { _ = self.ask(.watchCentrals(true)) }
            return state.connected.sorted { $0.key.uuidString < $1.key.uuidString }.map { .connected($0.value) }
        } onEnd: { [weak self] state in
            guard state.connections.isEmpty else { return }
            state.connected = [:]
            _ = self?.ask(.watchCentrals(false))
        }
    }

    /// Ends the link to a central, whichever apps use it, and waits for its end (behaviour 15.15).
    ///
    /// The central may connect again as long as this system advertises.
    ///
    /// - Parameter central: The central.
    /// - Throws: `CBError.notConnected` if there is no such link, `CBError.operationNotSupported` if a central manager
    ///   of this system uses it, ``ExtrasError/notPoweredOn(_:)``, ``ExtrasError/overflow`` if too many calls wait, or
    ///   `CancellationError`.
    public func disconnect(_ central: CBCentral) async throws {
        let call = Wait<Void>()
        let extras = extras
        let identifier = central.identifier
        let hasRoom = extras.state.withLock { state in
            state.releases[identifier]?.removeAll { $0.isOver }
            guard state.releases[identifier, default: []].count < PeripheralExtras.maximumCalls else { return false }
            state.releases[identifier, default: []].append(call)
            return true
        }
        guard hasRoom else { throw ExtrasError.overflow }
        if !ask(.disconnectCentral(identifier)) {
            // Other calls for this central are still pending, and end with the event.
            extras.state.withLock { $0.releases[identifier]?.removeAll { $0 === call } }
            throw ExtrasError.notPoweredOn(state)
        }
        try await call.value()
    }
}
