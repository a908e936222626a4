import BluetoothTypes
import Demos
import Foundation

/// A peer's attributes with their values, for display, however they were read.
struct AttributeListing: Sendable {
    enum Value: Sendable {
        case notReadable
        case known(PacketBuffer)
        case refused(String)
    }

    struct Service: Sendable {
        var uuid: BluetoothUUID
        var handle: UInt16
        var isPrimary = true
        var includes: [Included] = []
        var characteristics: [Characteristic] = []
    }

    struct Included: Sendable {
        var uuid: BluetoothUUID
        var handle: UInt16
    }

    struct Characteristic: Sendable {
        var uuid: BluetoothUUID
        /// The handle of the value.
        var handle: UInt16
        /// The bits of the declaration (Core Vol 3 Part G 3.3.1.1).
        var properties: UInt8
        var value = Value.notReadable
        var descriptors: [Descriptor] = []

        var canNotify: Bool { properties & 0x30 != 0 }
        var canBeRead: Bool { properties & 0x02 != 0 }
        var canBeWritten: Bool { properties & 0x0C != 0 }
    }

    struct Descriptor: Sendable {
        var uuid: BluetoothUUID
        var handle: UInt16
        var value = Value.notReadable
    }

    private static let maximumAlternatives = 8
    /// The Generic Attribute service, whose Service Changed is not for users.
    private static let genericAttribute = BluetoothUUID(0x1801)

    var device = DeviceDocument()
    var services: [Service] = []
    /// The flaws of the table, as clauses.
    var flaws: [String] = []
    /// Whether ``lines`` has values in hexadecimal rather than in words.
    var isRaw = false

    /// The characteristics that notify or indicate, except those of the Generic Attribute service.
    var followable: [Characteristic] {
        services.filter { $0.uuid != Self.genericAttribute }.flatMap(\.characteristics).filter(\.canNotify)
    }

    func doesNotNotify(_ uuid: BluetoothUUID) -> String {
        "\(nameOf(uuid)) does not notify; \(others(followable, than: uuid, do: "do"))"
    }

    func cannotBeRead(_ uuid: BluetoothUUID, notifies: Bool) -> String {
        let readable = services.flatMap(\.characteristics).filter(\.canBeRead)
        return "\(nameOf(uuid)) is not readable; " + (notifies ? "it notifies: `harald follow`; " : "")
            + others(readable, than: uuid, do: "are readable")
    }

    func cannotBeWritten(_ uuid: BluetoothUUID) -> String {
        let writable = services.flatMap(\.characteristics).filter(\.canBeWritten)
        return "\(nameOf(uuid)) is not writable; \(others(writable, than: uuid, do: "are writable"))"
    }

    private func others(_ fitting: [Characteristic], than uuid: BluetoothUUID, do verb: String) -> String {
        let others = fitting.map(\.uuid).filter { $0 != uuid }
        let shown = others.prefix(Self.maximumAlternatives).map { nameOf($0) }.joined(separator: ", ")
        guard !others.isEmpty else { return "no other characteristic is suitable" }
        return "these \(verb): \(shown)" + (others.count > Self.maximumAlternatives ? ", ..." : "")
    }

    /// One line per attribute, ordered by handle within each service, and one for each flaw of the table.
    var lines: [String] {
        services.sorted { $0.handle < $1.handle }.flatMap(lines(of:)) + flaws.map { "flaw: \($0)" }
    }

    private func lines(of service: Service) -> [String] {
        let kind = service.isPrimary ? "service" : "secondary service"
        var lines = ["\(hex(service.handle))  \(kind) \(nameOf(service.uuid))"]
        lines += service.includes.map { "          includes \(nameOf($0.uuid)) at \(hex($0.handle))" }
        for found in service.characteristics {
            lines.append(
                "\(hex(found.handle))    characteristic \(nameOf(found.uuid)) [\(propertyNames(found.properties))]"
                    + text(of: found.value, found.uuid)
            )
            lines += found.descriptors.map {
                "\(hex($0.handle))      descriptor \(nameOf($0.uuid))" + text(of: $0.value, $0.uuid)
            }
        }
        return lines
    }

    private func text(of value: Value, _ uuid: BluetoothUUID) -> String {
        switch value {
        case .notReadable: ""
        case .known(let value): " = " + shown(value, of: uuid, raw: isRaw)
        case .refused(let reason): " (not readable: \(reason.clause))"
        }
    }
}

/// The fields of a listing and its parts in JSON.
private enum ListingKey: CodingKey {
    case device, services, flaws
    case uuid, name, handle, isPrimary, includes, characteristics, properties, value, text, error, descriptors
}

extension KeyedEncodingContainer<ListingKey> {
    fileprivate mutating func encode(_ uuid: BluetoothUUID, _ handle: UInt16) throws {
        let names = UUIDDocument(uuid)
        try encode(names.uuid, forKey: .uuid)
        try encodeIfPresent(names.name, forKey: .name)
        try encode(handle, forKey: .handle)
    }

    fileprivate mutating func encode(_ value: AttributeListing.Value, of uuid: BluetoothUUID) throws {
        switch value {
        case .notReadable: break
        case .known(let value):
            try encode("\(value)", forKey: .value)
            try encodeIfPresent(words(for: value, of: uuid), forKey: .text)
        case .refused(let reason): try encode(reason, forKey: .error)
        }
    }
}

extension AttributeListing: ReportDocument {
    static let event = "table"

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ListingKey.self)
        try container.encode(device, forKey: .device)
        try container.encode(services.sorted { $0.handle < $1.handle }, forKey: .services)
        if !flaws.isEmpty { try container.encode(flaws, forKey: .flaws) }
    }
}

extension AttributeListing.Service: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ListingKey.self)
        try container.encode(uuid, handle)
        try container.encode(isPrimary, forKey: .isPrimary)
        try container.encode(includes, forKey: .includes)
        try container.encode(characteristics, forKey: .characteristics)
    }
}

extension AttributeListing.Included: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ListingKey.self)
        try container.encode(uuid, handle)
    }
}

extension AttributeListing.Characteristic: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ListingKey.self)
        try container.encode(uuid, handle)
        try container.encode(listOfProperties(properties), forKey: .properties)
        try container.encode(value, of: uuid)
        try container.encode(descriptors, forKey: .descriptors)
    }
}

extension AttributeListing.Descriptor: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ListingKey.self)
        try container.encode(uuid, handle)
        try container.encode(value, of: uuid)
    }
}

/// Formats a handle, such as `0x002a`.
func hex(_ handle: UInt16) -> String {
    String(format: "0x%04x", handle)
}

/// A value that was read, or that the peer sent.
struct ValueDocument: ReportDocument {
    static let event = "value"

    let device: DeviceDocument
    let characteristic: UUIDDocument
    let value: String
    /// The value in words, where the tool can decode it.
    let text: String?

    init(_ value: PacketBuffer, of uuid: BluetoothUUID, _ device: DeviceDocument) {
        self.device = device
        characteristic = UUIDDocument(uuid)
        self.value = "\(value)"
        text = words(for: value, of: uuid)
    }
}

/// A value that was written.
struct WriteDocument: ReportDocument {
    static let event = "written"

    let device: DeviceDocument
    let characteristic: UUIDDocument
    let octets: Int
    let isConfirmed: Bool
}

/// A step towards or away from a link: `found`, `connected` or `disconnected`.
struct LinkDocument: ReportDocument {
    static let event = "link"

    let device: DeviceDocument
    let state: String
    var reason: String?
}
