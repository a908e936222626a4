import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Foundation
import SMP
import Security

extension Accessory {
    var published: [CBMutableService] {
        services.reduce(into: []) { all, service in
            let published = service.published
            let included = service.includes.compactMap { uuid in all.first { $0.uuid.uuid == uuid } }
            if !included.isEmpty { published.includedServices = included }
            all.append(published)
        }
    }
}

extension Accessory.Service {
    fileprivate var published: CBMutableService {
        let service = CBMutableService(type: CBUUID(uuid), primary: isPrimary)
        service.characteristics = characteristics.map(\.published)
        return service
    }
}

extension Accessory.Characteristic {
    /// The characteristic, as an app publishes it: without a value, so that each read asks the player.
    fileprivate var published: CBMutableCharacteristic {
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(uuid),
            properties: publishedProperties,
            value: nil,
            permissions: permissions
        )
        if !descriptors.isEmpty { characteristic.descriptors = descriptors.map(\.published) }
        return characteristic
    }

    private var publishedProperties: CBCharacteristicProperties {
        var result: CBCharacteristicProperties = []
        if properties.contains(.read) { result.insert(.read) }
        if properties.contains(.write) { result.insert(.write) }
        if properties.contains(.writeWithoutResponse) { result.insert(.writeWithoutResponse) }
        let isProtected = notifying != .plain
        if properties.contains(.notify) { result.insert(isProtected ? .notifyEncryptionRequired : .notify) }
        if properties.contains(.indicate) { result.insert(isProtected ? .indicateEncryptionRequired : .indicate) }
        return result
    }

    private var permissions: CBAttributePermissions {
        var result: CBAttributePermissions = []
        if properties.contains(.read) { result.insert(reading == .plain ? .readable : .readEncryptionRequired) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) {
            result.insert(writing == .plain ? .writeable : .writeEncryptionRequired)
        }
        return result
    }
}

extension Accessory.Descriptor {
    fileprivate var published: CBMutableDescriptor {
        let octets = value.octets()
        return CBMutableDescriptor(unchecked: CBUUID(uuid), octets: octets)
    }
}

extension CBManagerState {
    var word: String {
        switch self {
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "off"
        case .poweredOn: "on"
        default: "unknown"
        }
    }
}

extension Accessory {
    /// Configures a Bluetooth system as the accessory's: its name, and how it advertises and pairs.
    package func configure(_ configuration: inout SystemConfiguration) {
        configuration.deviceName = name
        configuration.address = security.hasFixedAddress ? .staticRandom : .resolvablePrivate
        if let lifetime = security.addressLifetime { configuration.privacyInterval = lifetime }
        configuration.publishesAnyDescriptor = true
        configuration.pairing.isPairable = security.allowsPairing
        configuration.pairing.ioCapability = security.inputOutput.capability
        // Whether an encryption requirement means MITM protection is a property of the system (behaviour 6.9).
        configuration.demandsAuthenticatedCentrals = characteristics.contains {
            [$0.reading, $0.writing, $0.notifying].contains(.authenticated)
        }
        configuration.advertising.isConnectable = advertising.isConnectable
        // In units of 625 µs. The format allows 20 ms to 10.24 s, the range of the command.
        configuration.advertising.interval = advertising.interval.map { UInt16($0 / .microseconds(625)) }
    }
}

extension Accessory.Security.InputOutput {
    fileprivate var capability: IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .displayAndButtons: .displayYesNo
        case .keyboard: .keyboardOnly
        case .displayAndKeyboard: .keyboardDisplay
        }
    }
}
