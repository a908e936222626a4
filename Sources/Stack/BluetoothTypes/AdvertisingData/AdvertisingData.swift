/// One AD structure: a type and its payload (Core Vol 3 Part C 11).
package struct AdvertisingStructure: Hashable, Sendable {
    package var type: AdvertisingDataType
    /// The value, at most 254 octets.
    package var payload: PacketBuffer

    package init(_ type: AdvertisingDataType, _ payload: PacketBuffer) {
        self.type = type
        self.payload = payload
    }

    package var encodedLength: Int { AdvertisingData.headerLength + payload.count }
}

/// The data of an advertisement or a scan response: a sequence of AD structures (Core Vol 3 Part C 11).
///
/// Parsing never fails. It keeps every readable structure, in order, and stops at the first unreadable one (AB-G01).
package struct AdvertisingData: Hashable, Sendable {
    /// The length of a structure's header in octets: one for the length, one for the type.
    package static let headerLength = 2
    /// The maximum length of a legacy advertisement or scan response, in octets (Core Vol 6 Part B 2.3.1).
    package static let maximumLegacyLength = 31
    /// The maximum length of extended advertising data, in octets (Core Vol 4 Part E 7.8.54).
    package static let maximumLength = 1_650
    /// The longest payload that the length octet can express.
    package static let maximumPayload = 254

    /// The structures in wire order.
    package private(set) var structures: [AdvertisingStructure] = []

    package init() {}

    /// Creates data from `structures`, in this order. See ``append(_:)``.
    package init(_ structures: [AdvertisingStructure]) {
        for structure in structures { append(structure) }
    }

    /// Parses octets from outside.
    ///
    /// As the specification requires, a length of zero ends the data early. If a length reaches past the end, its
    /// structure and everything after it are dropped.
    package init(parsing octets: PacketBuffer) {
        var reader = ByteReader(octets.prefix(upTo: Self.maximumLength))
        while let length: UInt8 = try? reader.integer(at: "Length"), length > 0 {
            guard let type: UInt8 = try? reader.integer(at: "AD_Type"),
                let payload = try? reader.slice(Int(length) - 1, at: "AD_Data")
            else { return }
            structures.append(AdvertisingStructure(AdvertisingDataType(rawValue: type), payload))
        }
    }

    /// Appends a structure. A payload longer than ``maximumPayload`` is truncated.
    package mutating func append(_ structure: AdvertisingStructure) {
        structures.append(
            AdvertisingStructure(structure.type, structure.payload.prefix(upTo: Self.maximumPayload))
        )
    }

    package var encodedLength: Int {
        structures.reduce(0) { $0 + $1.encodedLength }
    }

    /// The octets on the air. The caller has to check that they fit into the packet.
    package var encoded: PacketBuffer {
        var buffer = PacketBuffer(headroom: 0, capacity: encodedLength)
        for structure in structures {
            buffer.append(UInt8(truncatingIfNeeded: structure.payload.count + 1))
            buffer.append(structure.type.rawValue)
            buffer.append(contentsOf: structure.payload)
        }
        return buffer
    }

    /// Returns these structures followed by those of a scan response to the same advertisement.
    package func merged(with scanResponse: AdvertisingData) -> AdvertisingData {
        var result = self
        result.structures += scanResponse.structures
        return result
    }

    /// Whether there are no readable structures.
    package var isEmpty: Bool { structures.isEmpty }
}

extension AdvertisingData: CustomStringConvertible {
    package var description: String {
        structures.map { "\($0.type) \($0.payload)" }.joined(separator: ", ")
    }
}
