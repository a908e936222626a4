import Foundation
import ServiceMessages
import Synchronization

/// The attributes that an app has discovered on a peripheral.
///
/// Discovery adds to the tree and never replaces an object (behaviour 4.2), until the peripheral's services change or
/// the connection ends.
struct AttributeTree {
    /// The discovered services. Nil until a discovery has succeeded (behaviour 4.3).
    private(set) var primary: [CBService]?
    private var services: [AttributeHandle: CBService] = [:]
    private var characteristics: [AttributeHandle: CBCharacteristic] = [:]
    private var descriptors: [AttributeHandle: CBDescriptor] = [:]

    func service(_ handle: AttributeHandle) -> CBService? { services[handle] }
    func characteristic(_ handle: AttributeHandle) -> CBCharacteristic? { characteristics[handle] }
    func descriptor(_ handle: AttributeHandle) -> CBDescriptor? { descriptors[handle] }

    var observable: [CBAttribute] {
        services.values.map { $0 as CBAttribute } + characteristics.values.map { $0 as CBAttribute }
    }

    func contains(_ attribute: CBAttribute) -> Bool {
        let known: CBAttribute? =
            switch attribute {
            case is CBService: services[attribute.handle]
            case is CBCharacteristic: characteristics[attribute.handle]
            default: descriptors[attribute.handle]
            }
        return known === attribute
    }

    mutating func add(services found: [RemoteService], of peripheral: CBPeripheral) {
        primary = (primary ?? []).adding(found.map { object(for: $0, of: peripheral) })
    }

    mutating func add(includedServices found: [RemoteService], to service: CBService, of peripheral: CBPeripheral) {
        let objects = found.map { object(for: $0, of: peripheral) }
        service.add(includedServices: objects)
    }

    private mutating func object(for found: RemoteService, of peripheral: CBPeripheral) -> CBService {
        if let known = services[found.handle] { return known }
        let new = CBService(
            uuid: CBUUID(found.uuid),
            handle: found.handle,
            isPrimary: found.isPrimary,
            peripheral: peripheral
        )
        services[found.handle] = new
        return new
    }

    mutating func add(characteristics found: [RemoteCharacteristic], to service: CBService) {
        let objects = found.map { found in
            if let known = characteristics[found.handle] { return known }
            let new = CBCharacteristic(
                uuid: CBUUID(found.uuid),
                handle: found.handle,
                properties: CBCharacteristicProperties(rawValue: UInt(found.properties)),
                value: found.value.map { Data($0) },
                service: service
            )
            characteristics[found.handle] = new
            return new
        }
        service.add(characteristics: objects)
    }

    mutating func add(descriptors found: [RemoteDescriptor], to characteristic: CBCharacteristic) {
        let objects = found.map { found in
            if let known = descriptors[found.handle] { return known }
            let new = CBDescriptor(
                uuid: CBUUID(found.uuid),
                handle: found.handle,
                octets: nil,
                characteristic: characteristic
            )
            descriptors[found.handle] = new
            return new
        }
        characteristic.add(descriptors: objects)
    }

    /// Adds the attributes that were known when the app ended.
    mutating func restore(_ found: [RestoredService], of peripheral: CBPeripheral) {
        add(services: found.map(\.service), of: peripheral)
        for found in found {
            guard let service = service(found.service.handle) else { continue }
            if !found.includedServices.isEmpty {
                add(includedServices: found.includedServices, to: service, of: peripheral)
            }
            guard !found.characteristics.isEmpty else { continue }
            add(characteristics: found.characteristics.map(\.characteristic), to: service)
            for found in found.characteristics {
                guard let characteristic = characteristic(found.characteristic.handle) else { continue }
                characteristic.setNotifying(found.isNotifying)
                if !found.descriptors.isEmpty { add(descriptors: found.descriptors, to: characteristic) }
            }
        }
    }

    /// Removes services and everything that belongs to them. Returns those that were known (behaviour 4.13).
    mutating func invalidate(_ handles: [AttributeHandle]) -> [CBService] {
        let dead = handles.compactMap { services.removeValue(forKey: $0) }
        for service in dead {
            for characteristic in service.characteristics ?? [] {
                characteristic.setNotifying(false)
                characteristics[characteristic.handle] = nil
                for descriptor in characteristic.descriptors ?? [] { descriptors[descriptor.handle] = nil }
            }
        }
        primary?.removeAll { dead.contains($0) }
        for service in services.values {
            service.remove(includedServices: dead)
        }
        return dead
    }

    /// Removes everything (behaviour 3.14).
    mutating func removeAll() {
        for characteristic in characteristics.values { characteristic.setNotifying(false) }
        // Services may include each other, which would be a reference cycle.
        for service in services.values { service.setIncludedServices(nil) }
        self = AttributeTree()
    }
}

extension Array where Element: NSObject {
    /// Returns the array with those elements of `others` appended that it lacks.
    func adding(_ others: [Element]) -> [Element] {
        var known = Set(map(ObjectIdentifier.init))
        return self + others.filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}
