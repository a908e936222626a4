import BluetoothService
import Foundation

/// The end of a connection, or of an attempt that the app gave up.
package struct ConnectionEnd: Sendable {
    /// Why; nil when the app asked for it.
    package var error: (any Error)?
    /// Whether the system connects again by itself (behaviour 3.17).
    package var isReconnecting = false
    /// When, in seconds since the beginning of 2001, UTC.
    package var time: CFAbsoluteTime
    /// The state of the manager that took it along, when no delegate is told of it (behaviour 1.11).
    package var state: CBManagerState?
}

/// What comes to a peripheral.
package enum PeripheralHappening: Sendable {
    /// It is connected.
    case connected
    /// It could not be connected.
    case connectionFailed(any Error)
    /// It is no longer connected, or is not to be any more.
    case disconnected(ConnectionEnd)
    /// Services are no longer what they were.
    case servicesModified([CBService])
    /// Anything else that the service tells, answers to numbered requests included.
    case told(PeerEvent)
}

/// What comes to a central manager.
package enum CentralHappening: Sendable {
    /// It has another state.
    case state(CBManagerState)
    /// A device was heard.
    case discovered(CBPeripheral, Advertisement, rssi: Int)
    /// A device was not heard for as long as the scan says.
    case lost(CBPeripheral)
    /// The scan with this number has ended, and why.
    case scanEnded(UInt64, ScanEnd)
    /// A device was connected to this system by anyone, or is not any more.
    case connectionChanged(CBPeripheral, isConnected: Bool)
}

/// Why a scan is over.
package enum ScanEnd: Sendable {
    /// The app stopped it.
    case stopped
    /// The app began another one.
    case replaced
    /// The manager is not powered on any more.
    case lostPower(CBManagerState)
    /// The manager is gone.
    case managerGone
}
