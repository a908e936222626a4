/// The values of the structures that every stack supports (Core Specification Supplement Part A).
///
/// If a type that is allowed once occurs several times, the first occurrence counts. A value of the wrong length counts
/// as absent.
extension AdvertisingData {
    /// A local name, complete or shortened.
    package struct LocalName: Hashable, Sendable {
        /// The name. Invalid UTF-8 is replaced with U+FFFD.
        package var text: String
        /// Whether the name was cut to fit.
        package var isShortened: Bool

        package init(_ text: String, isShortened: Bool = false) {
            self.text = text
            self.isShortened = isShortened
        }
    }

    /// The flags; nil if there are none.
    package var flags: AdvertisingFlags? {
        first(.flags)?.first.map { AdvertisingFlags(rawValue: $0) }
    }

    /// The local name. A complete name takes precedence over a shortened one.
    package var localName: LocalName? {
        if let octets = first(.completeLocalName) { return LocalName(String(decoding: octets, as: UTF8.self)) }
        return first(.shortenedLocalName).map { LocalName(String(decoding: $0, as: UTF8.self), isShortened: true) }
    }

    /// The service UUIDs of all lists, complete or not, without duplicates and in order of first appearance.
    package var serviceUUIDs: [BluetoothUUID] {
        uuids { type in
            switch type {
            case .incompleteServices16, .completeServices16: 2
            case .incompleteServices32, .completeServices32: 4
            case .incompleteServices128, .completeServices128: 16
            default: nil
            }
        }
    }

    package var solicitedServiceUUIDs: [BluetoothUUID] {
        uuids { type in
            switch type {
            case .solicitedServices16: 2
            case .solicitedServices32: 4
            case .solicitedServices128: 16
            default: nil
            }
        }
    }

    /// The service data in order. If a service occurs several times, the first occurrence counts.
    package var serviceData: [(service: BluetoothUUID, data: PacketBuffer)] {
        func width(_ type: AdvertisingDataType) -> Int? {
            switch type {
            case .serviceData16: 2
            case .serviceData32: 4
            case .serviceData128: 16
            default: nil
            }
        }
        var result: [(service: BluetoothUUID, data: PacketBuffer)] = []
        for structure in structures {
            guard let width = width(structure.type), structure.payload.count >= width,
                let uuid = BluetoothUUID(littleEndian: structure.payload.prefix(upTo: width)),
                !result.contains(where: { $0.service == uuid })
            else { continue }
            result.append((uuid, structure.payload.suffix(after: width)))
        }
        return result
    }

    /// The manufacturer data, including the company identifier. See ``manufacturerData(of:)``.
    package var manufacturerData: PacketBuffer? {
        structures.first { $0.type == .manufacturerData && $0.payload.count >= 2 }?.payload
    }

    /// Returns the manufacturer data of one company, a buffer for each structure, without the company identifier.
    package func manufacturerData(of company: CompanyIdentifier) -> [PacketBuffer] {
        let identifier = [UInt8(truncatingIfNeeded: company.rawValue), UInt8(company.rawValue >> 8)]
        return structures.compactMap { structure in
            guard structure.type == .manufacturerData, structure.payload.starts(with: identifier) else { return nil }
            return structure.payload.suffix(after: 2)
        }
    }

    /// The transmit power, in dBm.
    package var txPowerLevel: Int? {
        guard let octets = first(.txPowerLevel), octets.count == 1 else { return nil }
        return Int(Int8(bitPattern: octets[0]))
    }

    /// The appearance, a number from Bluetooth Assigned Numbers 2.6.
    package var appearance: UInt16? {
        guard let octets = first(.appearance), octets.count == 2 else { return nil }
        return UInt16(octets[0]) | UInt16(octets[1]) << 8
    }

    func first(_ type: AdvertisingDataType) -> PacketBuffer? {
        structures.first { $0.type == type }?.payload
    }

    /// The UUIDs in the structures for whose type `width` returns the length of a UUID, in octets.
    private func uuids(_ width: (AdvertisingDataType) -> Int?) -> [BluetoothUUID] {
        var result: [BluetoothUUID] = []
        var seen: Set<BluetoothUUID> = []
        for structure in structures {
            guard let width = width(structure.type) else { continue }
            var octets = structure.payload
            // A list that ends in the middle of a UUID keeps the UUIDs before it.
            while octets.count >= width {
                if let uuid = BluetoothUUID(littleEndian: octets.prefix(upTo: width)), seen.insert(uuid).inserted {
                    result.append(uuid)
                }
                octets = octets.suffix(after: width)
            }
        }
        return result
    }
}

// MARK: Encoding

extension AdvertisingStructure {
    package static func flags(_ flags: AdvertisingFlags) -> AdvertisingStructure {
        AdvertisingStructure(.flags, [flags.rawValue])
    }

    package static func localName(_ name: AdvertisingData.LocalName) -> AdvertisingStructure {
        AdvertisingStructure(
            name.isShortened ? .shortenedLocalName : .completeLocalName,
            PacketBuffer(Array(name.text.utf8))
        )
    }

    /// Returns a list of the UUIDs of the given width. UUIDs of another width are left out.
    package static func services(
        _ uuids: [BluetoothUUID],
        width: BluetoothUUID.Width,
        isComplete: Bool
    ) -> AdvertisingStructure {
        let type: AdvertisingDataType =
            switch width {
            case .bits16: isComplete ? .completeServices16 : .incompleteServices16
            case .bits32: isComplete ? .completeServices32 : .incompleteServices32
            case .bits128: isComplete ? .completeServices128 : .incompleteServices128
            }
        return AdvertisingStructure(type, octets(of: uuids, width: width))
    }

    /// Returns a list of the solicited UUIDs of the given width. UUIDs of another width are left out.
    package static func solicitedServices(_ uuids: [BluetoothUUID], width: BluetoothUUID.Width) -> AdvertisingStructure
    {
        let type: AdvertisingDataType =
            switch width {
            case .bits16: .solicitedServices16
            case .bits32: .solicitedServices32
            case .bits128: .solicitedServices128
            }
        return AdvertisingStructure(type, octets(of: uuids, width: width))
    }

    /// Returns the service data structure of the UUID's width.
    package static func serviceData(_ service: BluetoothUUID, _ data: PacketBuffer) -> AdvertisingStructure {
        let type: AdvertisingDataType =
            switch service.width {
            case .bits16: .serviceData16
            case .bits32: .serviceData32
            case .bits128: .serviceData128
            }
        var payload = PacketBuffer(copying: service.littleEndianBytes, headroom: 0)
        payload.append(contentsOf: data)
        return AdvertisingStructure(type, payload)
    }

    /// Returns the manufacturer data structure: the company identifier, then `data`.
    package static func manufacturerData(_ company: CompanyIdentifier, _ data: PacketBuffer) -> AdvertisingStructure {
        var payload = PacketBuffer(headroom: 0)
        payload.append(integer: company.rawValue)
        payload.append(contentsOf: data)
        return AdvertisingStructure(.manufacturerData, payload)
    }

    /// Returns the structure for a transmit power in dBm, clamped to -127 to 127.
    package static func txPowerLevel(_ dBm: Int) -> AdvertisingStructure {
        AdvertisingStructure(.txPowerLevel, [UInt8(bitPattern: Int8(max(-127, min(127, dBm))))])
    }

    /// Returns the structure for an appearance, a number from Bluetooth Assigned Numbers 2.6.
    package static func appearance(_ appearance: UInt16) -> AdvertisingStructure {
        var payload = PacketBuffer(headroom: 0)
        payload.append(integer: appearance)
        return AdvertisingStructure(.appearance, payload)
    }

    private static func octets(of uuids: [BluetoothUUID], width: BluetoothUUID.Width) -> PacketBuffer {
        PacketBuffer(uuids.filter { $0.width == width }.flatMap(\.littleEndianBytes))
    }
}
