import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Foundation
import Synchronization

// Calls that wait, beside those whose outcome the delegate hears. It hears of these as well, before they go on; they go on from the
// manager's queue. All end in any case: at the latest with the power, with `ExtrasError.notPoweredOn`; and at once, with
// `CancellationError`, when their task is cancelled.
extension CBPeripheralManager {
    /// Waits until the manager is powered on, through all other states: ended by cancellation alone.
    public func poweredOn() async throws {
        let call = Wait<Void>()
        let number = extras.state.withLock { state in
            let number = state.nextNumber()
            state.powerWaits[number] = call
            return number
        }
        // After it was noted, so that a change at this moment does not go unseen.
        if state == .poweredOn { call.end(nil) }
        defer { extras.state.withLock { _ = $0.powerWaits.removeValue(forKey: number) } }
        try await call.value()
    }

    /// Publishes a service as it is now, and waits until it is. What would trap in `add(_:)`, and what is published already, is
    /// an error (``CoreBluetooth/CBMutableService/validate()``).
    ///
    /// Cancellation does not take it back. In code that may wait, the name means this method; the one without a result is for the rest.
    public func add(_ service: CBMutableService) async throws {
        if let fault = service.fault { throw ExtrasError.invalid(fault) }
        guard !publishes(service) else { throw ExtrasError.invalid(.publishedAlready) }
        let call = Wait<Void>()
        let extras = extras
        var registered: LocalAttributeID?
        let isSent = publish(service) { id in
            registered = id
            extras.state.withLock { $0.additions[id] = call }
        }
        if !isSent {
            if let registered { extras.state.withLock { _ = $0.additions.removeValue(forKey: registered) } }
            throw ExtrasError.notPoweredOn(state)
        }
        try await call.value()
    }

    /// Takes L2CAP channels of centrals from now on, which come in ``channels``.
    ///
    /// - Parameter encryptionRequired: Whether a central has to be paired.
    /// - Returns: The number that centrals have to be told. Where the call is cancelled nothing stays published.
    public func publishChannel(withEncryption encryptionRequired: Bool) async throws -> CBL2CAPPSM {
        let call = Wait<CBL2CAPPSM>()
        let extras = extras
        let number = extras.state.withLock { state in
            let number = state.nextNumber()
            state.publications[number] = call
            return number
        }
        if !ask(.publishChannel(needsEncryption: encryptionRequired, number: number)) {
            extras.state.withLock { _ = $0.publications.removeValue(forKey: number) }
            throw ExtrasError.notPoweredOn(state)
        }
        return try await call.value()
    }

    /// Sends a new value to subscribers as soon as there is room, after those that were to be sent before; it is neither lost nor
    /// cut. It has been handed on, not received, when the call returns. A cancelled call that throws has sent nothing.
    ///
    /// - Parameter centrals: Who gets it; nil means all. Those that have not subscribed are passed over.
    public func update(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribed centrals: [CBCentral]? = nil
    ) async throws {
        try Task.checkCancellation()
        let updates = extras.updates
        let entry = UpdateQueue.Entry(value: value, characteristic: characteristic, centrals: centrals)
        guard updates.add(entry) else { throw ExtrasError.overflow }
        updates.send(by: self)
        try await entry.call.value()
    }

    /// Updates, of delegate style and of this, that have not been handed to the controller (behaviour 15.26).
    public var pendingUpdates: Int { updatesUnderWay(for: nil) + extras.updates.count }

    /// Those of the updates under way that are for this central: 0 says that all it was to get is on its way to it.
    public func pendingUpdates(for central: CBCentral) -> Int { updatesUnderWay(for: central) }
}
