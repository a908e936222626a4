import BluetoothTypes
import Foundation
import ServiceMessages

/// A peripheral manager, as its messages show it. Detectors use it, so that each need not follow the messages by
/// itself.
struct PeripheralPicture: Sendable {
    /// A characteristic that is published.
    struct Characteristic: Sendable {
        let uuid: BluetoothUUID
        let properties: UInt16
        let service: LocalAttributeID
        /// The place of the call that publishes it.
        let site: CallSite?
        var subscribers: Set<UUID> = []

        /// Notify or Indicate, with or without required encryption: the bits of `CBCharacteristicProperties`.
        var canNotify: Bool { properties & 0x330 != 0 }
    }

    /// The maximum number of characteristics and of centrals that are remembered.
    static let maximum = 512

    private(set) var services: [(id: LocalAttributeID, uuid: BluetoothUUID)] = []
    private(set) var characteristics: [LocalAttributeID: Characteristic] = [:]
    /// The maximum length of an update, in octets, by central.
    private(set) var maximumUpdates: [UUID: Int] = [:]

    /// A characteristic for a reader.
    func words(_ id: LocalAttributeID) -> String { characteristics[id]?.uuid.words ?? "a characteristic" }

    /// Whether a central is subscribed to another characteristic than this one.
    func isSubscribed(_ central: UUID, besides id: LocalAttributeID) -> Bool {
        characteristics.contains { $0.key != id && $0.value.subscribers.contains(central) }
    }

    mutating func accept(_ request: PeripheralRequest, from site: CallSite? = nil) {
        switch request {
        case .addService(let service): add(service, from: site)
        case .removeService(let id): remove(id)
        case .removeAllServices: (services, characteristics) = ([], [:])
        default: break
        }
    }

    mutating func accept(_ event: PeripheralEvent) {
        switch event {
        case .subscribed(let central, let id):
            learn(central)
            characteristics[id]?.subscribers.insert(central.identifier)
        case .unsubscribed(let central, let id): characteristics[id]?.subscribers.remove(central.identifier)
        case .centralChanged(let central): learn(central)
        case .serviceAdded(let id, _?): remove(id)
        case .willRestore(let state):
            state.services.forEach { add($0, from: nil) }
            for each in state.subscriptions {
                learn(each.central)
                characteristics[each.characteristic]?.subscribers.insert(each.central.identifier)
            }
        default: break
        }
    }

    /// Subscriptions end with the radio.
    mutating func accept(_ state: ManagerState) {
        guard state != .poweredOn else { return }
        for id in characteristics.keys { characteristics[id]?.subscribers = [] }
    }

    private mutating func add(_ service: LocalService, from site: CallSite?) {
        guard services.count < Self.maximum else { return }
        services.append((service.id, service.uuid))
        for each in service.characteristics where characteristics.count < Self.maximum {
            characteristics[each.id] = Characteristic(
                uuid: each.uuid,
                properties: each.properties,
                service: service.id,
                site: site
            )
        }
    }

    private mutating func remove(_ id: LocalAttributeID) {
        services.removeAll { $0.id == id }
        characteristics = characteristics.filter { $0.value.service != id }
    }

    private mutating func learn(_ central: CentralInfo) {
        if maximumUpdates[central.identifier] == nil, maximumUpdates.count >= Self.maximum { maximumUpdates = [:] }
        maximumUpdates[central.identifier] = central.maximumUpdateLength
    }
}
