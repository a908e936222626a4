import Foundation

/// Hears what becomes of the requests of a central manager, on its queue. Only
/// ``centralManagerDidUpdateState(_:)`` has to be there.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state is new. Below `poweredOn`, scanning has ended and every peripheral is disconnected; below
    /// `poweredOff`, the peripherals are of no use any longer and have to be retrieved or discovered again.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// A peripheral was heard. Keep it to use it: the manager does not.
    ///
    /// - Parameters:
    ///   - advertisementData: What it advertises, by the `CBAdvertisementData` keys.
    ///   - RSSI: The signal strength in dBm; 127 when it is not known.
    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    )

    /// A peripheral is connected, also when it was reconnected.
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

    /// An attempt to connect failed.
    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

    /// A peripheral is no longer connected; without an error when the app asked for that.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    )

    /// A peripheral is no longer connected. A delegate with this method hears of it here alone, without it there.
    ///
    /// - Parameters:
    ///   - timestamp: When it happened, maybe seconds ago.
    ///   - isReconnecting: The system is connecting again.
    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    )
}

/// What a delegate does that leaves a method out.
extension CBCentralManagerDelegate {
    /// Nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {}

    /// Nothing.
    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

    /// Nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {}

    /// Calls the method without a time (behaviour 3.18).
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }
}
