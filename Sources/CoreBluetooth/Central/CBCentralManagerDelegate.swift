import Foundation

/// Hears what becomes of the requests of a central manager, on its queue. Only
/// ``centralManagerDidUpdateState(_:)`` has to be there.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
    /// The manager's state is new. Below `poweredOn`, scanning has ended and every peripheral is disconnected; below
    /// `poweredOff`, the peripherals are of no use any longer and have to be retrieved or discovered again.
    func centralManagerDidUpdateState(_ central: CBCentralManager)

    /// The manager goes on where one with the same restore identifier was when its app ended; it comes before all else, and
    /// nothing can be asked for yet.
    ///
    /// - Parameter dict: By the `CBCentralManagerRestoredState` keys.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

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

    /// A peripheral is no longer connected. A delegate that has the method without a time too hears of it there alone.
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

    /// A device that the app has registered for was connected to this system or is not any more, whoever uses it.
    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    )

    /// Whether a peripheral may have this system's notifications has changed; ``CBPeripheral/ancsAuthorized`` says which.
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

/// What a delegate does that leaves a method out.
extension CBCentralManagerDelegate {
    /// Nothing.
    public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}

    /// Nothing.
    public func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {}

    /// Nothing.
    public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}

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

    /// Nothing: the method with a time is called (behaviour 3.18).
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        LeftOutMethod.say()
    }

    /// Nothing.
    public func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: (any Error)?
    ) {}
}
