import Foundation

/// The events of a ``CBCentralManager``: changes of its state, discoveries, and the outcome of connection attempts.
///
/// Methods are called on the manager's queue, one after the other in the order of events if the queue is serial
/// (behaviours 13.1, 13.3). The callback for a request never comes before the method that made the request has returned
/// (behaviour 13.2). Only ``centralManagerDidUpdateState(_:)`` is required (behaviour 1.2).
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// Tells the delegate that the manager's state has changed.
    ///
    /// Below `poweredOn`, the scan has stopped and all peripherals are disconnected (behaviour 1.9);
    /// ``centralManager(_:didDisconnectPeripheral:error:)`` is not called (behaviour 1.11). Below `poweredOff`,
    /// peripheral objects are invalid as well and have to be retrieved or discovered again (behaviour 1.10).
    ///
    /// - Parameter central: The manager; ``CBManager/state`` has the new state.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// Tells the delegate that the manager continues in place of one with the same restore identifier whose app has
    /// ended.
    ///
    /// This is the first callback of such a manager (behaviours 10.7, 13.9). Keep the peripherals and set their
    /// delegates here (behaviour 10.9). Commands are misuse until the state is `poweredOn` (behaviour 10.11).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - dict: The preserved state, by the `CBCentralManagerRestoredState` keys, any of which may be missing
    ///     (behaviour 10.8).
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

    /// Tells the delegate that a scan has found a peripheral.
    ///
    /// A scan reports each peripheral once, and again with the data of its scan response (behaviours 2.2, 2.15). With
    /// ``CBCentralManagerScanOptionAllowDuplicatesKey`` it reports every packet (behaviour 2.3). The manager does not
    /// keep the peripheral, so keep it to use it (behaviour 2.20).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The peripheral, the same object for the same device (behaviour 2.21).
    ///   - advertisementData: The contents of the advertisement, by the `CBAdvertisementData` keys. What the packet
    ///     lacks has no key (behaviour 2.9).
    ///   - RSSI: The signal strength in dBm; 127 if it is not known (behaviour 2.13).
    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    )

    /// Tells the delegate that a peripheral is connected, for the first time or by reconnecting.
    ///
    /// Set the peripheral's delegate and start to discover services here (behaviour 3.40).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The peripheral.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// Tells the delegate that an attempt to connect has failed.
    ///
    /// This is rare, since attempts do not time out (behaviours 3.1, 3.2).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The peripheral.
    ///   - error: The reason.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// Tells the delegate that a peripheral is disconnected, or that a pending attempt was cancelled.
    ///
    /// The peripheral's delegate is not called any more, and ``CBPeripheral/services`` is nil (behaviours 3.13, 3.14).
    /// If the delegate implements this method,
    /// ``centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)`` is not called (behaviour 3.18).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The peripheral.
    ///   - error: The reason: ``CBError/peripheralDisconnected`` if the peer ended the link,
    ///     ``CBError/connectionTimeout`` if it was lost (behaviour 3.12). Nil if the app cancelled the connection
    ///     (behaviours 3.6, 3.7).
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    )

    /// Tells the delegate that a peripheral is disconnected, with the time and whether the system reconnects.
    ///
    /// The method is called only if the delegate leaves out ``centralManager(_:didDisconnectPeripheral:error:)``
    /// (behaviour 3.18).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The peripheral, whose state is `connecting` if the system reconnects.
    ///   - timestamp: The time of the disconnection, which may be seconds ago (behaviour 3.17).
    ///   - isReconnecting: Whether the system connects again by itself, which
    ///     ``CBConnectPeripheralOptionEnableAutoReconnect`` asks for (behaviour 3.17).
    ///   - error: The reason, as for ``centralManager(_:didDisconnectPeripheral:error:)``.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    )

    /// Tells the delegate that a device was connected to this system, or disconnected from it, by any app or by the
    /// system.
    ///
    /// ``CBCentralManager/registerForConnectionEvents(options:)`` selects the devices (behaviour 3.22).
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - event: Whether the device was connected or disconnected.
    ///   - peripheral: The device. This app has to connect to it before use.
    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    )

    /// Tells the delegate that a peripheral's access to this system's notifications was granted or denied.
    ///
    /// - Parameters:
    ///   - central: The manager.
    ///   - peripheral: The peripheral; ``CBPeripheral/ancsAuthorized`` has the outcome (behaviour 3.19).
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

/// Default implementations, so that every method but ``centralManagerDidUpdateState(_:)`` is optional.
extension CBCentralManagerDelegate {
    /// Ignores the preserved state. The restored peripherals are released, and their connections cancelled
    /// (behaviour 3.5).
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        OmittedMethod.noteDefaultCall()
    }

    /// Ignores the event, for which the app has registered.
    public func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {}

    /// Ignores the change; ``CBPeripheral/ancsAuthorized`` has the current value.
    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}

    /// Ignores the discovery. The scan continues until it is stopped.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    /// Ignores the event; ``CBPeripheral/state`` shows the connection.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

    /// Ignores the failure; ``CBPeripheral/state`` shows that there is no connection.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Passes the disconnection on to the method with a timestamp (behaviour 3.18).
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        OmittedMethod.noteDefaultCall()
    }

    /// Ignores the disconnection; ``CBPeripheral/state`` shows it.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {}
}
