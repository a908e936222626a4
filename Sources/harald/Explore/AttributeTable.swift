import BluetoothTypes
import GATT

/// A peer's attributes with their values, for display.
struct AttributeTable {
    enum Value {
        case notReadable
        case known(PacketBuffer)
        case refused(String)
    }

    struct Service {
        var service: DiscoveredService
        var isPrimary: Bool
        var includes: [DiscoveredService] = []
        var characteristics: [Characteristic] = []
    }

    struct Characteristic {
        var characteristic: DiscoveredCharacteristic
        var value = Value.notReadable
        var descriptors: [Descriptor] = []
    }

    struct Descriptor {
        var descriptor: DiscoveredDescriptor
        var value = Value.notReadable
    }

    /// The number of characteristics that ``doesNotNotify(_:)`` lists.
    private static let maximumAlternatives = 8

    var services: [Service] = []

    /// The characteristic to follow by default: the heart rate if there is one, else the first that notifies or
    /// indicates outside the Generic Attribute service.
    var followed: DiscoveredCharacteristic? {
        followable.first { $0.uuid == 0x2A37 } ?? followable.first
    }

    /// The characteristics that notify or indicate, except those of the Generic Attribute service.
    var followable: [DiscoveredCharacteristic] {
        services.filter { $0.service.uuid != GATTUUID.genericAttribute }
            .flatMap(\.characteristics).map(\.characteristic)
            .filter(\.canNotify)
    }

    /// Returns the first characteristic with this UUID.
    func characteristic(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
        services.flatMap(\.characteristics).map(\.characteristic).first { $0.uuid == uuid }
    }

    /// Returns the characteristic with this UUID to follow: the first that notifies or indicates, or else the first.
    func toFollow(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
        followable.first { $0.uuid == uuid } ?? characteristic(uuid)
    }

    /// Returns why `uuid` cannot be followed, and what can be followed instead.
    func doesNotNotify(_ uuid: BluetoothUUID) -> String {
        let others = followable.map(\.uuid).filter { $0 != uuid }
        let shown = others.prefix(Self.maximumAlternatives).map { nameOf($0) }.joined(separator: ", ")
        let instead = others.isEmpty ? "no other characteristic does" : "these do: \(shown)"
        return "\(nameOf(uuid)) does not notify; " + instead + (others.count > Self.maximumAlternatives ? ", ..." : "")
    }

    /// The table for display, one line per attribute, ordered by handle within each service.
    var lines: [String] {
        services.sorted { $0.service.handles.lowerBound < $1.service.handles.lowerBound }.flatMap(lines(of:))
    }

    private func lines(of entry: Service) -> [String] {
        let kind = entry.isPrimary ? "service" : "secondary service"
        var lines = ["\(hex(entry.service.handles.lowerBound))  \(kind) \(nameOf(entry.service.uuid))"]
        lines += entry.includes.map { "          includes \(nameOf($0.uuid)) at \(hex($0.handles.lowerBound))" }
        for characteristic in entry.characteristics {
            let found = characteristic.characteristic
            lines.append(
                "\(hex(found.value))    characteristic \(nameOf(found.uuid)) [\(propertyNames(found.properties.rawValue))]"
                    + shown(characteristic.value)
            )
            for descriptor in characteristic.descriptors {
                lines.append(
                    "\(hex(descriptor.descriptor.handle))      descriptor \(nameOf(descriptor.descriptor.uuid))"
                        + shown(descriptor.value)
                )
            }
        }
        return lines
    }

    private func shown(_ value: Value) -> String {
        switch value {
        case .notReadable: ""
        case .known(let value): " = " + harald.shown(value)
        case .refused(let reason): " (not readable: \(reason))"
        }
    }
}

extension DiscoveredCharacteristic {
    /// Whether the peer sends the value as notification or indication.
    var canNotify: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
}

/// Formats a handle, such as `0x002a`.
func hex(_ handle: UInt16) -> String {
    let digits = String(handle, radix: 16)
    return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
}

/// Formats a UUID, with its name in the assigned numbers if there is one.
func nameOf(_ uuid: BluetoothUUID) -> String {
    let text = uuid.attributeForm.description
    return assignedName(text).map { "\(text) \($0)" } ?? text
}

/// Formats octets as hexadecimal, and also as text if they are printable UTF-8.
func shown(_ value: PacketBuffer) -> String {
    guard !value.isEmpty else { return "(empty)" }
    guard let text = String(validating: value, as: UTF8.self), text.visible == text else { return "\(value)" }
    return "\(value) \"\(text)\""
}
