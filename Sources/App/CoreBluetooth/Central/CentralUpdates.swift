import BluetoothTypes
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
    case event(PeerEvent)
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

extension Advertisement {
    /// The contents by the keys of the API, numbers as `NSNumber`. What the packet lacks has no key (behaviour 2.9).
    var dictionary: [String: Any] {
        var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable)]
        data[CBAdvertisementDataLocalNameKey] = localName
        data[CBAdvertisementDataManufacturerDataKey] = manufacturerData.map { Data($0) }
        data[CBAdvertisementDataTxPowerLevelKey] = txPowerLevel.map { NSNumber(value: $0) }
        if !serviceData.isEmpty {
            let pairs = serviceData.map { (CBUUID($0), Data($1)) }
            data[CBAdvertisementDataServiceDataKey] = Dictionary(uniqueKeysWithValues: pairs)
        }
        func set(_ key: String, _ uuids: [BluetoothUUID]) {
            if !uuids.isEmpty { data[key] = uuids.map { CBUUID($0) } }
        }
        set(CBAdvertisementDataServiceUUIDsKey, serviceUUIDs)
        set(CBAdvertisementDataOverflowServiceUUIDsKey, overflowServiceUUIDs)
        set(CBAdvertisementDataSolicitedServiceUUIDsKey, solicitedServiceUUIDs)
        // Undocumented keys that apps use (behaviour 2.11).
        data["kCBAdvDataRxPrimaryPHY"] = NSNumber(value: primaryPHY)
        data["kCBAdvDataRxSecondaryPHY"] = NSNumber(value: secondaryPHY)
        data["kCBAdvDataTimestamp"] = timestamp.map { NSNumber(value: $0) }
        return data
    }
}

extension ScanRequest {
    var options: [String: Any] {
        var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: allowsDuplicates)]
        if !solicitedServices.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
        }
        return options
    }
}
