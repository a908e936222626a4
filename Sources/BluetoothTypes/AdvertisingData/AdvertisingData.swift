/// One structure of advertising data: a type and what belongs to it (Core Vol 3 Part C 11).
package struct AdvertisingStructure: Hashable, Sendable {
    /// What the payload is.
    package var type: AdvertisingDataType
    /// At most 254 octets.
    package var payload: PacketBuffer

    /// A structure.
    package init(_ type: AdvertisingDataType, _ payload: PacketBuffer) {
        self.type = type
        self.payload = payload
    }

    /// Octets on the air, with the two of the header.
    package var encodedLength: Int { AdvertisingData.headerLength + payload.count }
}

/// The data of an advertisement or a scan response: a sequence of structures (Core Vol 3 Part C 11).
///
/// Reading never fails: what can be read is kept in order, and the first structure that cannot be ends it (AB-G01).
package struct AdvertisingData: Hashable, Sendable {
    /// Octets in front of each payload: length and type.
    package static let headerLength = 2
    /// The most that a legacy advertisement or a scan response holds (Core Vol 6 Part B 2.3.1).
    package static let maximumLegacyLength = 31
    /// The most that extended advertising carries (Core Vol 4 Part E 7.8.54).
    package static let maximumLength = 1_650
    /// The longest payload that a length octet can tell.
    package static let maximumPayload = 254

    /// The structures in the order of the octets.
    package private(set) var structures: [AdvertisingStructure] = []

    /// No structure.
    package init() {}

    /// Structures in this order; see ``append(_:)``.
    package init(_ structures: [AdvertisingStructure]) {
        for structure in structures { append(structure) }
    }

    /// Reads octets from outside. A length of zero ends the data early, as the specification has it; a length beyond the
    /// end makes its structure and all behind it unreadable, and they are left out.
    package init(parsing octets: PacketBuffer) {
        var reader = ByteReader(octets.prefix(upTo: Self.maximumLength))
        while let length: UInt8 = try? reader.integer(at: "Length"), length > 0 {
            guard let type: UInt8 = try? reader.integer(at: "AD_Type"),
                let payload = try? reader.slice(Int(length) - 1, at: "AD_Data")
            else { return }
            structures.append(AdvertisingStructure(AdvertisingDataType(rawValue: type), payload))
        }
    }

    /// Adds a structure behind. A payload longer than ``maximumPayload`` is cut there.
    package mutating func append(_ structure: AdvertisingStructure) {
        structures.append(
            AdvertisingStructure(structure.type, structure.payload.prefix(upTo: Self.maximumPayload))
        )
    }

    /// Octets on the air.
    package var encodedLength: Int {
        structures.reduce(0) { $0 + $1.encodedLength }
    }

    /// The octets on the air. How many a packet takes is for the caller to know.
    package var encoded: PacketBuffer {
        var buffer = PacketBuffer(headroom: 0, capacity: encodedLength)
        for structure in structures {
            buffer.append(UInt8(truncatingIfNeeded: structure.payload.count + 1))
            buffer.append(structure.type.rawValue)
            buffer.append(contentsOf: structure.payload)
        }
        return buffer
    }

    /// These structures and then those of a scan response to the same advertisement.
    package func merged(with scanResponse: AdvertisingData) -> AdvertisingData {
        var result = self
        result.structures += scanResponse.structures
        return result
    }

    /// Whether there is nothing to read in it.
    package var isEmpty: Bool { structures.isEmpty }
}

extension AdvertisingData: CustomStringConvertible {
    /// The structures for a log.
    package var description: String {
        structures.map { "\($0.type) \($0.payload)" }.joined(separator: ", ")
    }
}
