import Foundation
import Synchronization

// The classes whose properties can be observed, and the names of their properties in Objective-C.

extension CBManager: KeyValueObserved {
    func startObserving(_ read: @escaping () -> Any, _ report: @escaping (_ old: Any, _ new: Any) -> Void) -> UInt64 {
        keyValues.made().add(read, report)
    }

    func stopObserving(_ number: UInt64) { keyValues.load()?.remove(number) }

    func value(named name: String) -> Any?? {
        switch (name, self) {
        case ("state", _): state.rawValue
        case ("authorization", _): authorization.rawValue
        case ("isScanning", let central as CBCentralManager): central.isScanning
        case ("isAdvertising", let peripheral as CBPeripheralManager): peripheral.isAdvertising
        default: nil
        }
    }
}

extension CBPeer: KeyValueObserved {
    func startObserving(_ read: @escaping () -> Any, _ report: @escaping (_ old: Any, _ new: Any) -> Void) -> UInt64 {
        keyValues.made().add(read, report)
    }

    func stopObserving(_ number: UInt64) { keyValues.load()?.remove(number) }

    func value(named name: String) -> Any?? {
        if name == "identifier" { return identifier }
        switch self {
        case let central as CBCentral where name == "maximumUpdateValueLength": return central.maximumUpdateValueLength
        case let peripheral as CBPeripheral: return peripheral.value(ofPeripheral: name)
        default: return nil
        }
    }
}

extension CBPeripheral {
    fileprivate func value(ofPeripheral name: String) -> Any?? {
        switch name {
        case "name": .some(self.name)
        case "RSSI": .some(rssi)
        case "state": state.rawValue
        case "services": .some(services)
        case "canSendWriteWithoutResponse": canSendWriteWithoutResponse
        case "ancsAuthorized": ancsAuthorized
        default: nil
        }
    }
}

extension CBAttribute: KeyValueObserved {
    func startObserving(_ read: @escaping () -> Any, _ report: @escaping (_ old: Any, _ new: Any) -> Void) -> UInt64 {
        keyValues.made().add(read, report)
    }

    func stopObserving(_ number: UInt64) { keyValues.load()?.remove(number) }

    func value(named name: String) -> Any?? {
        if name == "UUID" { return uuid }
        return switch (name, self) {
        case ("isPrimary", let service as CBService): service.isPrimary
        case ("peripheral", let service as CBService): .some(service.peripheral)
        case ("characteristics", let service as CBService): .some(service.characteristics)
        case ("includedServices", let service as CBService): .some(service.includedServices)
        case ("service", let characteristic as CBCharacteristic): .some(characteristic.service)
        case ("properties", let characteristic as CBCharacteristic): characteristic.properties.rawValue
        case ("value", let characteristic as CBCharacteristic): .some(characteristic.value)
        case ("descriptors", let characteristic as CBCharacteristic): .some(characteristic.descriptors)
        case ("isNotifying", let characteristic as CBCharacteristic): characteristic.isNotifying
        case ("characteristic", let descriptor as CBDescriptor): .some(descriptor.characteristic)
        case ("value", let descriptor as CBDescriptor): .some(descriptor.value)
        default: nil
        }
    }
}
