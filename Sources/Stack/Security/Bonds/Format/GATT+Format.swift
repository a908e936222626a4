import BluetoothTypes
import GATT

/// The optional fields of a client record or an attribute cache.
private struct GATTFlags: OptionSet {
    let rawValue: UInt8
    static let hash = GATTFlags(rawValue: 1)
    /// For a record: the client is change-aware.
    static let isChangeAware = GATTFlags(rawValue: 2)
    /// For a cache: the services have been discovered.
    static let services = GATTFlags(rawValue: 2)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(reading reader: inout ByteReader) throws(PacketError) {
        rawValue = try reader.integer(at: "flags")
        guard rawValue < 4 else { throw PacketError(.value(UInt64(rawValue)), at: "flags") }
    }

    func hash(reading reader: inout ByteReader) throws(PacketError) -> DatabaseHash? {
        contains(.hash) ? DatabaseHash(try reader.slice(16, at: "database hash")) : nil
    }
}

extension ClientRecord {
    func write(to buffer: inout PacketBuffer) {
        var flags: GATTFlags = databaseHash == nil ? [] : .hash
        if isChangeAware { flags.insert(.isChangeAware) }
        buffer.append(flags.rawValue)
        if let databaseHash { buffer.append(contentsOf: databaseHash.octets) }
        buffer.append(features.rawValue)
        buffer.append(table: configurations) { buffer, value in buffer.append(integer: value.rawValue) }
        buffer.append(count: missedChanges.count)
        for handles in missedChanges { buffer.append(handles: handles) }
    }

    init(reading reader: inout ByteReader) throws(PacketError) {
        let flags = try GATTFlags(reading: &reader)
        let hash = try flags.hash(reading: &reader)
        let features = ClientFeatures(rawValue: try reader.integer(at: "client features"))
        let configurations = try reader.table(at: "configurations") { reader throws(PacketError) in
            ClientConfiguration(rawValue: try reader.integer(at: "configuration"))
        }
        let missed = try reader.list(at: "missed changes") { reader throws(PacketError) in
            try reader.handles(at: "missed change")
        }
        self.init(
            configurations: configurations,
            features: features,
            databaseHash: hash,
            isChangeAware: flags.contains(.isChangeAware),
            missedChanges: missed
        )
        // Ranges that had to be merged differ from what was read.
        guard missedChanges == missed else { throw PacketError(.length(missed.count), at: "missed changes") }
    }
}

extension AttributeCache {
    package var octets: PacketBuffer {
        var buffer = PacketBuffer([])
        write(to: &buffer)
        return buffer
    }

    /// Decodes a cache from all of `octets`.
    package init(octets: PacketBuffer) throws(PacketError) {
        var reader = ByteReader(octets)
        try self.init(reading: &reader)
        try reader.end(at: "cache")
    }

    func write(to buffer: inout PacketBuffer) {
        var flags: GATTFlags = hash == nil ? [] : .hash
        if services != nil { flags.insert(.services) }
        buffer.append(flags.rawValue)
        if let hash { buffer.append(contentsOf: hash.octets) }
        if let services { buffer.append(list: services) { buffer, service in buffer.append(service: service) } }
        buffer.append(table: includes) { buffer, services in
            buffer.append(list: services) { buffer, service in buffer.append(service: service) }
        }
        buffer.append(table: characteristics) { buffer, characteristics in
            buffer.append(list: characteristics) { $0.append(characteristic: $1) }
        }
        buffer.append(table: descriptors) { buffer, descriptors in
            buffer.append(list: descriptors) { buffer, descriptor in
                buffer.append(integer: descriptor.handle)
                buffer.append(uuid: descriptor.uuid)
            }
        }
    }

    init(reading reader: inout ByteReader) throws(PacketError) {
        let flags = try GATTFlags(reading: &reader)
        self.init(hash: try flags.hash(reading: &reader))
        services = flags.contains(.services) ? try reader.services() : nil
        includes = try reader.table(at: "included services") { reader throws(PacketError) in try reader.services() }
        characteristics = try reader.table(at: "characteristics") { reader throws(PacketError) in
            try reader.list(at: "characteristics") { reader throws(PacketError) in try reader.characteristic() }
        }
        descriptors = try reader.table(at: "descriptors") { reader throws(PacketError) in
            try reader.list(at: "descriptors") { reader throws(PacketError) in
                DiscoveredDescriptor(
                    handle: try reader.integer(at: "descriptor"),
                    uuid: try reader.uuid(at: "descriptor")
                )
            }
        }
    }
}

extension PacketBuffer {
    fileprivate mutating func append<Element>(list: [Element], _ write: (inout PacketBuffer, Element) -> Void) {
        append(count: list.count)
        for element in list { write(&self, element) }
    }

    fileprivate mutating func append<Element>(
        table: [UInt16: Element],
        _ write: (inout PacketBuffer, Element) -> Void
    ) {
        append(count: table.count)
        for (handle, element) in table.sorted(by: { $0.key < $1.key }) {
            append(integer: handle)
            write(&self, element)
        }
    }

    fileprivate mutating func append(handles: ClosedRange<UInt16>) {
        append(integer: handles.lowerBound)
        append(integer: handles.upperBound)
    }

    fileprivate mutating func append(uuid: BluetoothUUID) {
        append(UInt8(uuid.width.octets))
        append(contentsOf: uuid.littleEndianBytes)
    }

    fileprivate mutating func append(service: DiscoveredService) {
        append(handles: service.handles)
        append(uuid: service.uuid)
    }

    fileprivate mutating func append(characteristic: DiscoveredCharacteristic) {
        append(integer: characteristic.declaration)
        append(integer: characteristic.value)
        append(integer: characteristic.end)
        append(characteristic.properties.rawValue)
        append(uuid: characteristic.uuid)
    }
}

extension ByteReader {
    fileprivate mutating func services() throws(PacketError) -> [DiscoveredService] {
        try list(at: "services") { reader throws(PacketError) in
            DiscoveredService(handles: try reader.handles(at: "service"), uuid: try reader.uuid(at: "service"))
        }
    }

    fileprivate mutating func characteristic() throws(PacketError) -> DiscoveredCharacteristic {
        let field = "characteristic"
        return DiscoveredCharacteristic(
            declaration: try integer(at: field),
            value: try integer(at: field),
            end: try integer(at: field),
            properties: CharacteristicProperties(rawValue: try integer(at: field)),
            uuid: try uuid(at: field)
        )
    }
}
