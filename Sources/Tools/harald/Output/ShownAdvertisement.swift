import AssignedNumbers
import BluetoothTypes
import Demos
import Foundation

/// An advertisement for display, however it was received.
struct ShownAdvertisement: Hashable, Sendable {
    /// Details that only a command with a controller of its own receives.
    struct Packet: Hashable, Sendable {
        var isAnonymous = false
        /// The PHYs of an extended packet, such as `1M/2M`.
        var phys: String?
        var set: UInt8?
        var isTruncated = false
        /// All data of the packet, undecoded.
        var data: PacketBuffer
    }

    struct ServiceData: Hashable, Sendable {
        var service: BluetoothUUID
        var data: PacketBuffer
    }

    var sender: DeviceCandidate
    var rssi: Int?
    var isConnectable = false
    var name: String?
    var services: [BluetoothUUID] = []
    var solicitedServices: [BluetoothUUID] = []
    var serviceData: [ServiceData] = []
    var manufacturerData: PacketBuffer?
    var txPower: Int?
    var packet: Packet?

    /// Whether the contents are those of another advertisement. The signal strength does not count. Of packets, only
    /// the data counts.
    func says(theSameAs other: ShownAdvertisement?) -> Bool {
        guard var other else { return false }
        if let packet, let otherPacket = other.packet { return packet.data == otherPacket.data }
        other.rssi = rssi
        return self == other
    }

    /// A line for people, with the undecoded data if `isRaw` is set.
    func line(isRaw: Bool) -> String {
        var words = [senderText] + (rssi.map { ["\($0) dBm"] } ?? [])
        if let phys = packet?.phys { words.append("extended \(phys)") }
        if let set = packet?.set { words.append("set \(set)") }
        if isConnectable { words.append("connectable") }
        if packet?.isTruncated == true { words.append("truncated") }
        if let name { words.append(name.quotedName) }
        if !services.isEmpty { words.append(Self.list("service", services)) }
        if !solicitedServices.isEmpty { words.append(Self.list("looks for service", solicitedServices)) }
        words += serviceData.map { "data of \(nameOf($0.service)) \(shown($0.data))" }
        if let manufacturerData { words.append("manufacturer \(Self.manufacturer(manufacturerData))") }
        if let txPower { words.append("sent with \(txPower) dBm") }
        guard isRaw, let data = packet?.data else { return words.joined(separator: ", ") }
        return words.joined(separator: ", ") + ", \(count(data.count, "octet")): \(data)"
    }

    private var senderText: String {
        if packet?.isAnonymous == true { return "anonymous" }
        if let address = sender.address { return "\(address) (\(address.kind))" }
        return sender.identifier?.uuidString ?? "unknown"
    }

    private static func list(_ thing: String, _ uuids: [BluetoothUUID]) -> String {
        thing + (uuids.count == 1 ? " " : "s ") + uuids.map { nameOf($0) }.joined(separator: " and ")
    }

    /// Formats manufacturer data, company first (Supplement Part A 1.4).
    private static func manufacturer(_ data: PacketBuffer) -> String {
        guard let company = company(of: data) else { return "\(data)" }
        return "\(companyName(company)) \(data.suffix(after: 2))"
    }

    fileprivate static func company(of data: PacketBuffer) -> UInt16? {
        data.count < 2 ? nil : UInt16(data[0]) | UInt16(data[1]) << 8
    }
}

extension ShownAdvertisement: ReportDocument {
    static let event = "advertisement"

    private enum Key: CodingKey {
        case identifier, address, addressType, isAnonymous, name, rssi, isConnectable, services, solicitedServices
        case serviceData, company, companyName, manufacturerData, txPower, phys, set, isTruncated, data
    }

    private struct DataOfService: Encodable {
        let service: UUIDDocument
        let data: String
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(sender.identifier?.uuidString, forKey: .identifier)
        if packet?.isAnonymous != true, let address = sender.address {
            try container.encode("\(address)", forKey: .address)
            try container.encode("\(address.kind)", forKey: .addressType)
        }
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(rssi, forKey: .rssi)
        try container.encode(isConnectable, forKey: .isConnectable)
        try container.encode(services.map { UUIDDocument($0) }, forKey: .services)
        try container.encode(solicitedServices.map { UUIDDocument($0) }, forKey: .solicitedServices)
        let ofServices = serviceData.map { DataOfService(service: UUIDDocument($0.service), data: "\($0.data)") }
        try container.encode(ofServices, forKey: .serviceData)
        if let manufacturerData {
            if let company = Self.company(of: manufacturerData) {
                try container.encode(company, forKey: .company)
                try container.encodeIfPresent(AssignedNumbers.company(company), forKey: .companyName)
            }
            try container.encode("\(manufacturerData)", forKey: .manufacturerData)
        }
        try container.encodeIfPresent(txPower, forKey: .txPower)
        try encode(packet, &container)
    }

    private func encode(_ packet: Packet?, _ container: inout KeyedEncodingContainer<Key>) throws {
        guard let packet else { return }
        try container.encode(packet.isAnonymous, forKey: .isAnonymous)
        try container.encodeIfPresent(packet.phys, forKey: .phys)
        try container.encodeIfPresent(packet.set, forKey: .set)
        try container.encode(packet.isTruncated, forKey: .isTruncated)
        try container.encode("\(packet.data)", forKey: .data)
    }
}

/// A UUID in a document, with its name in the assigned numbers if there is one.
struct UUIDDocument: Encodable, Hashable, Sendable {
    let uuid: String
    let name: String?

    init(_ uuid: BluetoothUUID) {
        self.uuid = uuid.attributeForm.description
        name = assignedName(self.uuid)
    }
}
