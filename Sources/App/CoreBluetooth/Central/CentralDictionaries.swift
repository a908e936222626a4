import BluetoothTypes
import Foundation
import ServiceMessages

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
    /// The options of the scan, by the keys of the API.
    var options: [String: Any] {
        var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: allowsDuplicates)]
        if !solicitedServices.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
        }
        return options
    }
}
