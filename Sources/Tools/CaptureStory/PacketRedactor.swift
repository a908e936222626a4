import BluetoothTypes
import HCI

/// Replaces what is private in commands and events.
///
/// Each known packet with private fields has a list of them. Packets of HCI's registries without such a list have none
/// and stay. The parameters of all others become zeros.
struct PacketRedactor: Sendable {
    /// A private field, by its position in the parameters.
    private enum Field {
        case address(Int)
        case secret(Int, count: Int)
    }

    var pseudonyms: Pseudonyms
    private var advertising = AdvertisingRedactor()

    init(_ pseudonyms: Pseudonyms) { self.pseudonyms = pseudonyms }

    /// Returns zeros in place of all octets after the header of an L2CAP PDU.
    func zeros(_ octets: [UInt8]) -> [UInt8] {
        Array(octets.prefix(4)) + [UInt8](repeating: 0, count: max(0, octets.count - 4))
    }

    /// Returns a packet with nothing but its header.
    func emptied(_ packet: HCIPacket) -> HCIPacket {
        let header =
            switch packet.kind {
            case .command: 3
            case .event: 2
            case .acl, .isochronous: 4
            case .synchronous: 3
            }
        return HCIPacket(packet.kind, KnownEnd.zeros(packet.bytes, after: header))
    }

    /// Returns a command or an event with replacements, of the same length.
    mutating func redacted(_ packet: HCIPacket, adapter: UInt32) -> HCIPacket {
        switch packet.kind {
        case .command:
            let end = KnownEnd.end(ofCommand: packet.bytes)
            return HCIPacket(.command, KnownEnd.zeros(command(packet.bytes, adapter), after: end))
        case .event:
            let end = KnownEnd.end(ofEvent: packet.bytes)
            return HCIPacket(.event, KnownEnd.zeros(event(packet.bytes, adapter), after: end))
        // Audio and other data of unknown contents.
        case .acl, .synchronous, .isochronous: return emptied(packet)
        }
    }

    // MARK: Commands

    private mutating func command(_ octets: PacketBuffer, _ adapter: UInt32) -> PacketBuffer {
        guard let number = octets.word(at: 0), octets.count >= 3 else { return KnownEnd.zeros(octets, after: 2) }
        let header = 3
        switch number {
        // LE Set Advertising Data, LE Set Scan Response Data.
        case 0x2008, 0x2009:
            return advertisingData(octets, length: header, key: .command(number, 0, adapter), isLast: true)
        // The same of an advertising set, whose operation says whether more follows.
        case 0x2037, 0x2038, 0x203F:
            let set = octets.octet(at: header) ?? 0
            let isLast = [2, 3].contains(octets.octet(at: header + 1) ?? 3)
            let length = header + (number == 0x203F ? 2 : 3)
            return advertisingData(octets, length: length, key: .command(number, set, adapter), isLast: isLast)
        // Subevents and responses of periodic advertising.
        case 0x2082, 0x2083: return KnownEnd.zeros(octets, after: header + 2)
        default: break
        }
        if let fields = Self.commandFields[number] { return replace(octets, fields, from: header) }
        let isKnown = HCICommandRegistry.type(for: Opcode(rawValue: number)) != nil
        return isKnown ? octets : KnownEnd.zeros(octets, after: header)
    }

    /// The private fields of commands, by opcode (Core Vol 4 Part E 7.8).
    private static let commandFields: [UInt16: [Field]] = [
        0x2005: [.address(0)], 0x2006: [.address(7)], 0x200D: [.address(6)], 0x2011: [.address(1)],
        0x2012: [.address(1)], 0x2017: [.secret(0, count: 32)],
        0x2019: [.secret(2, count: 8), .secret(10, count: 2), .secret(12, count: 16)], 0x201A: [.secret(2, count: 16)],
        0x2026: [.secret(0, count: 64)], 0x205E: [.secret(0, count: 64)],
        0x2027: [.address(1), .secret(7, count: 16), .secret(23, count: 16)], 0x2028: [.address(1)],
        0x202B: [.address(1)], 0x202C: [.address(1)], 0x204E: [.address(1)], 0x2035: [.address(1)],
        0x2036: [.address(12)], 0x207F: [.address(12)], 0x2043: [.address(3)], 0x2085: [.address(5)],
        0x2044: [.address(3)], 0x2047: [.address(1)], 0x2048: [.address(1)],
    ]

    /// The private fields of return parameters, by opcode.
    private static let responseFields: [UInt16: [Field]] = [
        0x1009: [.address(1)], 0x2017: [.secret(1, count: 16)], 0x2018: [.secret(1, count: 8)],
        0x202B: [.address(1)], 0x202C: [.address(1)],
    ]

    // MARK: Events

    private mutating func event(_ octets: PacketBuffer, _ adapter: UInt32) -> PacketBuffer {
        guard let code = octets.octet(at: 0), octets.count >= 3 else { return KnownEnd.zeros(octets, after: 2) }
        switch code {
        case 0x0E:
            guard let number = octets.word(at: 3) else { return KnownEnd.zeros(octets, after: 3) }
            if let fields = Self.responseFields[number] { return replace(octets, fields, from: 5) }
            let isKnown = number == 0 || HCICommandRegistry.type(for: Opcode(rawValue: number)) != nil
            return isKnown ? octets : KnownEnd.zeros(octets, after: 6)
        case 0x3E: return leEvent(octets, adapter)
        default:
            let isKnown = HCIEventRegistry.type(for: EventCode(rawValue: code)) != nil
            return isKnown ? octets : KnownEnd.zeros(octets, after: 2)
        }
    }

    private mutating func leEvent(_ octets: PacketBuffer, _ adapter: UInt32) -> PacketBuffer {
        let subevent = octets[2]
        switch subevent {
        case 0x02: return reports(octets, adapter)
        case 0x0B: return directedReports(octets)
        case 0x0D: return extendedReports(octets, adapter)
        // Data of periodic advertising, whose parts have no device address.
        case 0x0F: return KnownEnd.zeros(octets, after: 10)
        case 0x25: return KnownEnd.zeros(octets, after: 13)
        case 0x28: return KnownEnd.zeros(octets, after: 6)
        default: break
        }
        if let fields = Self.eventFields[subevent] { return replace(octets, fields, from: 2) }
        let isKnown = HCIEventRegistry.type(for: .leMeta, subevent: LESubevent(rawValue: subevent)) != nil
        return isKnown ? octets : KnownEnd.zeros(octets, after: 3)
    }

    /// The private fields of LE events, by subevent code, which is the parameter at position 0 (Core Vol 4 Part E
    /// 7.7.65).
    private static let eventFields: [UInt8: [Field]] = [
        0x01: [.address(6)], 0x05: [.secret(3, count: 8), .secret(11, count: 2)], 0x08: [.secret(2, count: 64)],
        0x09: [.secret(2, count: 32)], 0x0A: [.address(6), .address(12), .address(18)],
        0x29: [.address(6), .address(12), .address(18)], 0x0E: [.address(6)], 0x24: [.address(6)], 0x13: [.address(3)],
        0x18: [.address(10)], 0x26: [.address(10)],
    ]

    private mutating func reports(_ octets: PacketBuffer, _ adapter: UInt32) -> PacketBuffer {
        var (result, position) = (octets, 4)
        for _ in 0..<(octets.octet(at: 3) ?? 0) {
            guard let length = octets.octet(at: position + 8).map(Int.init), octets.count >= position + 10 + length
            else {
                return KnownEnd.zeros(octets, after: 4)
            }
            replace(&result, .address(2), from: position)
            let data = octets.slice((position + 9)..<(position + 9 + length))
            put(advertising.redacted(data, .none, isLast: true, &pseudonyms), at: position + 9, &result)
            position += 10 + length
        }
        return KnownEnd.zeros(result, after: position)
    }

    private mutating func directedReports(_ octets: PacketBuffer) -> PacketBuffer {
        let size = 16
        var result = octets
        for index in 0..<Int(octets.octet(at: 3) ?? 0) where octets.count >= 4 + (index + 1) * size {
            replace(&result, .address(2), from: 4 + index * size)
            replace(&result, .address(9), from: 4 + index * size)
        }
        return KnownEnd.zeros(result, after: 4 + Int(octets.octet(at: 3) ?? 0) * size)
    }

    private mutating func extendedReports(_ octets: PacketBuffer, _ adapter: UInt32) -> PacketBuffer {
        var (result, position) = (octets, 4)
        for _ in 0..<(octets.octet(at: 3) ?? 0) {
            guard let length = octets.octet(at: position + 23).map(Int.init), octets.count >= position + 24 + length,
                let address = octets.address(at: position + 3, isRandom: true)
            else { return KnownEnd.zeros(octets, after: 4) }
            replace(&result, .address(3), from: position)
            replace(&result, .address(17), from: position)
            let isMore = octets[position] >> 5 & 0b11 == 1
            let data = octets.slice((position + 24)..<(position + 24 + length))
            let redacted = advertising.redacted(data, .report(address.value, adapter), isLast: !isMore, &pseudonyms)
            put(redacted, at: position + 24, &result)
            position += 24 + length
        }
        return KnownEnd.zeros(result, after: position)
    }

    // MARK: Fields

    private mutating func replace(_ octets: PacketBuffer, _ fields: [Field], from start: Int) -> PacketBuffer {
        var result = octets
        for field in fields { replace(&result, field, from: start) }
        return result
    }

    private mutating func replace(_ octets: inout PacketBuffer, _ field: Field, from start: Int) {
        switch field {
        case .address(let position):
            guard let address = octets.address(at: start + position, isRandom: true) else {
                return octets = KnownEnd.zeros(octets, after: start + position)
            }
            put(pseudonyms.octets(of: address), at: start + position, &octets)
        case .secret(let position, let count):
            guard octets.count >= start + position + count else {
                return octets = KnownEnd.zeros(octets, after: start + position)
            }
            let source = octets.slice((start + position)..<(start + position + count))
            put(pseudonyms.octets(source), at: start + position, &octets)
        }
    }

    private func put(_ replacement: [UInt8], at position: Int, _ octets: inout PacketBuffer) {
        for (offset, octet) in replacement.enumerated() where position + offset < octets.count {
            octets[position + offset] = octet
        }
    }

    /// Replaces advertising data that follow their length.
    private mutating func advertisingData(
        _ octets: PacketBuffer,
        length position: Int,
        key: AdvertisingRedactor.Key,
        isLast: Bool
    ) -> PacketBuffer {
        guard let length = octets.octet(at: position).map(Int.init), octets.count >= position + 1 + length else {
            return KnownEnd.zeros(octets, after: position)
        }
        // What follows the data is padding, which hosts may leave full of old contents.
        var result = KnownEnd.zeros(octets, after: position + 1)
        let data = octets.slice((position + 1)..<(position + 1 + length))
        put(advertising.redacted(data, key, isLast: isLast, &pseudonyms), at: position + 1, &result)
        return result
    }
}
