import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// The services that a peripheral manager has published: the app's objects, retained, by their numbers at the service.
///
/// A number is derived from UUIDs and from how many attributes with the same UUID were published before. Therefore an
/// app that publishes the same services after a relaunch gives them the same numbers, whatever the order, and finds
/// what the service has kept for them meanwhile.
struct PublishedServices {
    /// A published service. Later changes to the objects have no effect on it (behaviour 7.2).
    private struct Publication {
        let service: CBMutableService
        let characteristics: [LocalAttributeID]
    }

    private var services: [LocalAttributeID: Publication] = [:]
    private var characteristics: [LocalAttributeID: CBMutableCharacteristic] = [:]
    private var ids: [ObjectIdentifier: LocalAttributeID] = [:]
    private var awaited: [LocalAttributeID: CBMutableService] = [:]
    /// How often each UUID was published so far. The count never decreases, so that numbers are not reused: late events
    /// may refer to old ones.
    private var publicationCounts: [BluetoothUUID: UInt32] = [:]

    func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? { characteristics[id] }

    func id(of attribute: CBAttribute) -> LocalAttributeID? { ids[ObjectIdentifier(attribute)] }

    var allCharacteristics: [CBMutableCharacteristic] { Array(characteristics.values) }

    mutating func add(_ service: CBMutableService) -> LocalService {
        let id = number(of: service)
        ids[ObjectIdentifier(service)] = id
        var counts: [BluetoothUUID: UInt32] = [:]
        let published = (service.characteristics ?? []).map { characteristic in
            let ordinal = counts[characteristic.uuid.uuid, default: 0]
            counts[characteristic.uuid.uuid] = ordinal + 1
            return add(characteristic, number(characteristic.uuid.uuid, ordinal, in: id.rawValue))
        }
        awaited[id] = service
        services[id] = Publication(service: service, characteristics: published.map(\.id))
        // A service that is not published has no number. It gets one that the service does not know and therefore
        // refuses.
        let included = (service.includedServices ?? []).map { ids[ObjectIdentifier($0)] ?? number(of: $0) }
        return LocalService(
            id: id,
            uuid: service.uuid.uuid,
            isPrimary: service.isPrimary,
            includedServices: included,
            characteristics: published
        )
    }

    private mutating func add(_ characteristic: CBCharacteristic, _ id: LocalAttributeID) -> LocalCharacteristic {
        guard let characteristic = characteristic as? CBMutableCharacteristic else {
            preconditionFailure(
                "\(characteristic) cannot be published: the characteristics of a local service are CBMutableCharacteristics"
            )
        }
        ids[ObjectIdentifier(characteristic)] = id
        characteristics[id] = characteristic
        characteristic.removeSubscribers()
        return characteristic.published(as: id)
    }

    /// Creates the object for a service that is published already, under its numbers.
    mutating func adopt(_ published: LocalService) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(published.uuid), primary: published.isPrimary)
        service.characteristics = published.characteristics.map { published in
            let characteristic = CBMutableCharacteristic(published)
            ids[ObjectIdentifier(characteristic)] = published.id
            characteristics[published.id] = characteristic
            characteristic.removeSubscribers()
            return characteristic
        }
        let included = published.includedServices.compactMap { services[$0]?.service }
        if !included.isEmpty { service.includedServices = included }
        ids[ObjectIdentifier(service)] = published.id
        services[published.id] = Publication(service: service, characteristics: published.characteristics.map(\.id))
        publicationCounts[published.uuid, default: 0] &+= 1
        return service
    }

    /// Returns the service that the result of an addition is about, once, even if it was removed meanwhile
    /// (behaviour 7.1).
    mutating func takeAwaited(_ id: LocalAttributeID) -> CBMutableService? {
        awaited.removeValue(forKey: id)
    }

    /// Removes a service and returns its number, or nil if it is not published.
    mutating func remove(_ service: CBMutableService) -> LocalAttributeID? {
        guard let id = ids[ObjectIdentifier(service)] else { return nil }
        remove(id)
        return id
    }

    /// Removes a service with its characteristics. Does nothing if it is not published.
    mutating func remove(_ id: LocalAttributeID) {
        guard let publication = services.removeValue(forKey: id) else { return }
        forget(publication.service, id)
        for id in publication.characteristics {
            if let characteristic = characteristics.removeValue(forKey: id) { forget(characteristic, id) }
        }
    }

    mutating func removeAll() {
        services = [:]
        characteristics = [:]
        ids = [:]
    }

    private mutating func forget(_ attribute: CBAttribute, _ id: LocalAttributeID) {
        if ids[ObjectIdentifier(attribute)] == id { ids[ObjectIdentifier(attribute)] = nil }
    }

    private mutating func number(of service: CBService) -> LocalAttributeID {
        let ordinal = publicationCounts[service.uuid.uuid, default: 0]
        publicationCounts[service.uuid.uuid] = ordinal &+ 1
        return number(service.uuid.uuid, ordinal, in: 0)
    }

    /// The number of the attribute with this UUID that follows `ordinal` others in the service, or among services: the
    /// FNV-1a hash of the three or, in the rare case that it is in use, the next free number.
    private func number(_ uuid: BluetoothUUID, _ ordinal: UInt32, in service: UInt32) -> LocalAttributeID {
        var hash: UInt32 = 2_166_136_261
        for octet in uuid.expanded.littleEndianBytes + ordinal.octets + service.octets {
            hash = (hash ^ UInt32(octet)) &* 16_777_619
        }
        while isUsed(LocalAttributeID(hash)) { hash &+= 1 }
        return LocalAttributeID(hash)
    }

    private func isUsed(_ id: LocalAttributeID) -> Bool {
        services[id] != nil || characteristics[id] != nil || awaited[id] != nil
    }
}

extension CBMutableCharacteristic {
    fileprivate convenience init(_ published: LocalCharacteristic) {
        self.init(
            type: CBUUID(published.uuid),
            properties: CBCharacteristicProperties(rawValue: UInt(published.properties)),
            value: published.value.map { Data($0) },
            permissions: CBAttributePermissions(rawValue: UInt(published.permissions))
        )
        let known = published.descriptors.compactMap { CBMutableDescriptor($0) }
        if !known.isEmpty { descriptors = known }
    }

    /// The characteristic in its present state, as the service represents it.
    ///
    /// - Precondition: With a value it is read-only (behaviours 7.3, 7.4).
    fileprivate func published(as id: LocalAttributeID) -> LocalCharacteristic {
        let notAllowed: CBCharacteristicProperties = [.broadcast, .extendedProperties]
        if !properties.isDisjoint(with: notAllowed) {
            Misuse.report("\(self): broadcast and extendedProperties are not allowed for local characteristics")
        }
        var properties = properties.subtracting(notAllowed)
        var permissions = permissions
        if hasCachedValue {
            precondition(
                properties.isSubset(of: .read) && permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]),
                "Characteristics with cached values must be read-only: \(self). Create it with value nil, and answer reads "
                    + "and writes in the delegate."
            )
            properties = .read
            if !permissions.contains(.readEncryptionRequired) { permissions = .readable }
        }
        return LocalCharacteristic(
            id: id,
            uuid: uuid.uuid,
            properties: UInt16(properties.rawValue & 0x3FF),
            permissions: UInt8(permissions.rawValue & 0xF),
            value: value.map { PacketBuffer(copying: $0) },
            descriptors: (descriptors ?? []).map(\.published)
        )
    }
}

extension CBMutableDescriptor {
    /// Creates the object for a published descriptor, a User Description or a Presentation Format. There are no others
    /// (behaviour 7.8).
    fileprivate convenience init?(_ published: LocalDescriptor) {
        let octets = Data(published.value)
        switch published.uuid {
        case 0x2901: self.init(type: CBUUID(published.uuid), value: String(decoding: octets, as: UTF8.self))
        case 0x2904: self.init(type: CBUUID(published.uuid), value: octets)
        default: return nil
        }
    }
}

extension CBDescriptor {
    fileprivate var published: LocalDescriptor {
        let octets = octets ?? Data()
        return LocalDescriptor(uuid: uuid.uuid, value: PacketBuffer(copying: octets))
    }
}

extension UInt32 {
    fileprivate var octets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
