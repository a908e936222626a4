import Foundation
import ServiceMessages

/// The end of a connection, or of an attempt that the app cancelled.
package struct ConnectionEnd: Sendable {
    /// The reason, or nil if the app asked for it.
    package var error: (any Error)?
    /// Whether the system connects again by itself (behaviour 3.17).
    package var isReconnecting = false
    /// The time, in seconds since the beginning of 2001, UTC.
    package var time: CFAbsoluteTime
    /// The manager's state that ended the connection without a callback of the delegate (behaviour 1.11).
    package var state: CBManagerState?
}

/// An event of a peripheral.
package enum PeripheralUpdate: Sendable {
    /// The peripheral is connected.
    case connected
    /// The attempt to connect failed.
    case connectionFailed(any Error)
    /// The peripheral is disconnected, or a pending attempt was cancelled.
    case disconnected(ConnectionEnd)
    /// Services were removed or changed.
    case servicesModified([CBService])
    /// Any other event of the service, responses to numbered requests included.
    case told(PeerEvent)
}

/// An event of a central manager.
package enum CentralUpdate: Sendable {
    /// The state of the manager has changed to this one.
    case state(CBManagerState)
    /// The scan has found a device.
    case discovered(CBPeripheral, Advertisement, rssi: Int)
    /// A device has been silent for as long as the scan allows.
    case lost(CBPeripheral)
    /// The scan with this number has ended.
    case scanEnded(UInt64, ScanEnd)
    /// A device was connected to this system or disconnected from it, by any app.
    case connectionChanged(CBPeripheral, isConnected: Bool)
}

/// The reason why a scan has ended.
package enum ScanEnd: Sendable {
    /// The app stopped it.
    case stopped
    /// The app started another scan.
    case replaced
    /// The manager is no longer powered on.
    case lostPower(CBManagerState)
    /// The manager was released.
    case managerGone
}
