import BluetoothTypes
import GATT
import ServiceMessages

/// The attributes of a peer discovered while the link is up, shared by all apps. What it contains is not requested from
/// the peer again (behaviour 4.8).
struct RemoteDatabase {
    /// All primary services; nil until they have been discovered.
    var services: [RemoteService]?
    private var secondary: [RemoteService] = []
    /// The services that each service includes, by its handle, as far as they have been discovered.
    private(set) var included: [AttributeHandle: [RemoteService]] = [:]
    /// The characteristics of each service, by its handle, as far as they have been discovered.
    var characteristics: [AttributeHandle: [Characteristic]] = [:]
    /// The descriptors of each characteristic, by the handle of its value, as far as they have been discovered.
    var descriptors: [AttributeHandle: [RemoteDescriptor]] = [:]
    /// The values last read, by the handle of the value (behaviour 4.9).
    var values: [AttributeHandle: PacketBuffer] = [:]
    static let maximumValues = 256

    typealias Characteristic = DiscoveredCharacteristic

    /// All services that have been discovered, primary ones and others.
    var allServices: [RemoteService] { (services ?? []) + secondary }

    func service(at handle: AttributeHandle) -> RemoteService? {
        services?.first { $0.handle == handle } ?? secondary.first { $0.handle == handle }
    }

    func characteristic(at handle: AttributeHandle) -> Characteristic? {
        characteristic(at: handle, in: services ?? []) ?? characteristic(at: handle, in: secondary)
    }

    private func characteristic(at handle: AttributeHandle, in services: [RemoteService]) -> Characteristic? {
        for service in services where (service.handle...service.endHandle).contains(handle) {
            if let found = characteristics[service.handle]?.first(where: { $0.value == handle }) { return found }
        }
        return nil
    }

    /// The descriptor at `handle`, if the descriptors of its characteristic have been discovered.
    func descriptor(at handle: AttributeHandle) -> RemoteDescriptor? {
        descriptors.values.lazy.joined().first { $0.handle == handle }
    }

    /// Stores included services, and returns those for which there is room: they might nest without end (AB-A07).
    mutating func setIncludedServices(_ found: [RemoteService], of handle: AttributeHandle) -> [RemoteService] {
        var kept: [RemoteService] = []
        for service in found {
            if self.service(at: service.handle) == nil {
                guard secondary.count < ServiceLimits.remoteServices else { continue }
                secondary.append(service)
            }
            kept.append(service)
        }
        included[handle] = kept
        return kept
    }

    /// Stores a value that was read, if there is room.
    mutating func remember(_ value: PacketBuffer, of handle: AttributeHandle) {
        if values[handle] != nil || values.count < Self.maximumValues { values[handle] = value }
    }

    /// Removes everything in `range`, and the list of services, which is discovered again as a whole (behaviour 4.13).
    mutating func invalidate(_ range: ClosedRange<AttributeHandle>) {
        let touched = allServices.filter { range.overlaps($0.handle...$0.endHandle) }
        for service in touched {
            included[service.handle] = nil
            characteristics[service.handle] = nil
            descriptors = descriptors.filter { !(service.handle...service.endHandle).contains($0.key) }
        }
        // Another service may now include one that changed.
        included = included.filter { entry in !entry.value.contains { touched.contains($0) } }
        secondary.removeAll { touched.contains($0) }
        values = values.filter { !range.contains($0.key) }
        services = nil
    }
}

/// The services of a peer that are hidden from apps because the system uses them itself (behaviour 4.5).
enum HiddenServices {
    static let humanInterfaceDevice: BluetoothUUID = 0x1812

    private static let all: Set<BluetoothUUID> = [
        0x1800, 0x1801, humanInterfaceDevice,
        // Apple Notification Center Service.
        BluetoothUUID(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0),
    ]

    static func contains(_ service: BluetoothUUID) -> Bool { all.contains(service) }
}
