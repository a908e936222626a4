import BluetoothService
import CoreBluetooth
import Foundation
import Synchronization

/// A central has connected, or is gone.
public enum CentralConnectionEvent: Sendable {
    /// It has made a link to this system, and can use what is published.
    case connected(CBCentral)
    /// It is gone; no error when this system ended the link.
    case disconnected(CBCentral, (any Error)?)
}

extension CBPeripheralManager {
    /// Centrals that connect to this system and leave, beginning with those that are connected; Core Bluetooth tells of those that
    /// subscribe alone (behaviours 7.41, 15.15). All are disconnected when the power goes.
    ///
    /// They are those whose link this system has accepted: not the peripherals that its central managers connect to.
    public var centralConnections: EventStream<CentralConnectionEvent> {
        begin(\.connections) { state in
            // Without power it is asked for when there is some.
            if state.connections.isEmpty { _ = self.ask(.watchCentrals(true)) }
            return state.connected.sorted { $0.key.uuidString < $1.key.uuidString }.map { .connected($0.value) }
        } onEnd: { [weak self] state in
            guard state.connections.isEmpty else { return }
            state.connected = [:]
            _ = self?.ask(.watchCentrals(false))
        }
    }

    /// Ends the link to a central, whoever uses it, and waits until it is over. The central may come back as long as this system
    /// advertises.
    ///
    /// It fails with `CBError.notConnected` where there is no such link, and with `CBError.operationNotSupported` where a central
    /// manager of this system uses it.
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
            extras.state.withLock { _ = $0.releases.removeValue(forKey: identifier) }
            throw ExtrasError.notPoweredOn(state)
        }
        try await call.value()
    }
}
