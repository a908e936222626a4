import ATT
import BluetoothTypes

/// Replaces what is private in the L2CAP PDUs of a link.
struct PDURedactor: Sendable {
    private static let channels = 64
    /// The type that Read By Type asks for, by the sender of the request.
    private var types: [Bool: PacketBuffer] = [:]
    /// The octets that are missing of the current SDU of a credit-based channel.
    private var missing: [UInt32: Int] = [:]

    /// Returns the PDU with replacements, of the same length.
    mutating func redacted(_ pdu: PacketBuffer, isSent: Bool, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        guard let channel = pdu.word(at: 2) else { return Array(repeating: 0, count: pdu.count) }
        let content = pdu.suffix(after: 4)
        let redacted: [UInt8] =
            switch channel {
            case 0x0004: attribute(content, isSent: isSent, pseudonyms)
            case 0x0001, 0x0005: signals(content)
            case 0x0006: security(content, &pseudonyms)
            case 0x0040...: frame(content, UInt32(channel) << 1 | (isSent ? 1 : 0), pseudonyms)
            default: pseudonyms.octets(content)
            }
        return Array(pdu.prefix(upTo: 4)) + redacted
    }

    // MARK: Attributes

    private mutating func attribute(_ pdu: PacketBuffer, isSent: Bool, _ pseudonyms: Pseudonyms) -> [UInt8] {
        guard let first = pdu.octet(at: 0) else { return [] }
        switch ATTOpcode(rawValue: first) {
        case .writeResponse, .executeWriteResponse, .handleValueConfirmation: return Self.kept(pdu, 1)
        case .executeWriteRequest: return Self.kept(pdu, 2)
        case .exchangeMTURequest, .exchangeMTUResponse, .readRequest: return Self.kept(pdu, 3)
        case .errorResponse, .findInformationRequest, .readBlobRequest: return Self.kept(pdu, 5)
        case .readByGroupTypeRequest: return Self.kept(pdu, 5 + Self.type(pdu, 5))
        case .readMultipleRequest, .readMultipleVariableRequest: return Self.kept(pdu, 1, elementsOf: 2)
        case .findByTypeValueResponse: return Self.kept(pdu, 1, elementsOf: 4)
        case .findInformationResponse: return Self.kept(pdu, 2, elementsOf: pdu.octet(at: 1) == 1 ? 4 : 18)
        case .readByGroupTypeResponse:
            guard let size = pdu.octet(at: 1).map(Int.init), [6, 20].contains(size) else {
                return value(pdu, from: 1, pseudonyms)
            }
            return Self.kept(pdu, 2, elementsOf: size)
        case .readByTypeRequest:
            types[isSent] = pdu.suffix(after: 5)
            return Self.kept(pdu, 5 + Self.type(pdu, 5))
        case .readByTypeResponse: return elements(pdu, type: types[!isSent], pseudonyms)
        case .findByTypeValueRequest:
            return Self.isDeclaration(pdu.slice(min(5, pdu.count)..<min(7, pdu.count)))
                ? Self.kept(pdu, 7 + Self.type(pdu, 7)) : value(pdu, from: 7, pseudonyms)
        case .writeRequest, .writeCommand, .signedWriteCommand, .handleValueNotification, .handleValueIndication:
            return value(pdu, from: 3, pseudonyms)
        case .prepareWriteRequest, .prepareWriteResponse: return value(pdu, from: 5, pseudonyms)
        case .readMultipleVariableResponse: return values(pdu, handle: 0, pseudonyms)
        case .multipleHandleValueNotification: return values(pdu, handle: 2, pseudonyms)
        default: return value(pdu, from: 1, pseudonyms)
        }
    }

    /// Returns a PDU with zeros after its known end (AB-F05).
    private static func kept(_ pdu: PacketBuffer, _ count: Int) -> [UInt8] {
        Array(KnownEnd.zeros(pdu, after: count))
    }

    /// The same of a PDU with a list of elements, the last of which may be cut.
    private static func kept(_ pdu: PacketBuffer, _ header: Int, elementsOf size: Int) -> [UInt8] {
        kept(pdu, header + max(0, pdu.count - header) / size * size)
    }

    /// The length of the type at the end of a PDU: of 16 octets if it has that many, and otherwise of two.
    private static func type(_ pdu: PacketBuffer, _ start: Int) -> Int { pdu.count >= start + 16 ? 16 : 2 }

    private func value(_ pdu: PacketBuffer, from start: Int, _ pseudonyms: Pseudonyms) -> [UInt8] {
        let value = pdu.suffix(after: start)
        return Array(pdu.prefix(upTo: start)) + (Self.isConfiguration(value) ? Array(value) : pseudonyms.value(value))
    }

    /// Keeps the declarations of services and characteristics, and replaces the values of other types.
    private func elements(_ pdu: PacketBuffer, type: PacketBuffer?, _ pseudonyms: Pseudonyms) -> [UInt8] {
        guard let size = pdu.octet(at: 1).map(Int.init), size >= 2 else { return value(pdu, from: 1, pseudonyms) }
        if let type, let sizes = Self.declarationSizes(type), sizes.contains(size) {
            return Self.kept(pdu, 2, elementsOf: size)
        }
        var result = Array(pdu.prefix(upTo: 2))
        var rest = pdu.suffix(after: 2)
        while !rest.isEmpty {
            result += value(rest.prefix(upTo: size), from: 2, pseudonyms)
            rest = rest.suffix(after: size)
        }
        return result
    }

    /// Replaces values that have a length each, after a handle or not.
    private func values(_ pdu: PacketBuffer, handle: Int, _ pseudonyms: Pseudonyms) -> [UInt8] {
        var result = Array(pdu.prefix(upTo: 1))
        var rest = pdu.suffix(after: 1)
        while let length = rest.word(at: handle) {
            let header = handle + 2
            result += value(rest.prefix(upTo: header + Int(length)), from: header, pseudonyms)
            rest = rest.suffix(after: header + Int(length))
        }
        return result + pseudonyms.octets(rest)
    }

    /// Whether a type is that of a declaration, which tells nothing but the structure of a table.
    private static func isDeclaration(_ type: PacketBuffer) -> Bool {
        guard type.count == 2, let number = type.word(at: 0) else { return false }
        return (0x2800...0x2803).contains(number)
    }

    /// The lengths that elements with a declaration have: a handle and the value (Core Vol 3 Part G 3.1 to 3.3).
    private static func declarationSizes(_ type: PacketBuffer) -> [Int]? {
        guard isDeclaration(type), let number = type.word(at: 0) else { return nil }
        return switch number {
        case 0x2802: [6, 8]
        case 0x2803: [7, 21]
        default: [4, 18]
        }
    }

    /// Whether a value is one that subscribes to another value, or unsubscribes (Core Vol 3 Part G 3.3.3.3).
    private static func isConfiguration(_ value: PacketBuffer) -> Bool {
        value.count == 2 && value[0] <= 3 && value[1] == 0
    }

    // MARK: Other channels

    /// The longest data of signalling commands that contain nothing private (Core Vol 3 Part A 4). Echoes do, and
    /// options of channels that LE does not have may.
    private static let signals: [UInt8: Int] = [
        0x01: 6, 0x02: 4, 0x03: 8, 0x06: 4, 0x07: 4, 0x0A: 2, 0x0B: 4, 0x12: 8, 0x13: 2, 0x14: 10, 0x15: 10, 0x16: 4,
        0x17: 18, 0x18: 18, 0x19: 14, 0x1A: 2,
    ]

    /// Keeps signalling commands, except for what follows their data.
    private func signals(_ pdu: PacketBuffer) -> [UInt8] {
        let known = pdu.octet(at: 0).flatMap { Self.signals[$0] } ?? 0
        return Self.kept(pdu, 4 + min(known, pdu.word(at: 2).map(Int.init) ?? 0))
    }

    private func security(_ pdu: PacketBuffer, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        guard let code = pdu.octet(at: 0) else { return [] }
        switch code {
        // The features, the failure, the Security Request and keypresses.
        case 0x01, 0x02: return Self.kept(pdu, 7)
        case 0x05, 0x0B, 0x0E: return Self.kept(pdu, 2)
        case 0x09:
            guard let address = pdu.address(at: 2, isRandom: true) else {
                return [code] + pseudonyms.octets(pdu.suffix(after: 1))
            }
            return Array(pdu.prefix(upTo: 2)) + pseudonyms.octets(of: address) + pseudonyms.octets(pdu.suffix(after: 8))
        default: return [code] + pseudonyms.octets(pdu.suffix(after: 1))
        }
    }

    /// Replaces the data of a credit-based channel, and keeps the length of an SDU (Core Vol 3 Part A 3.4.3).
    private mutating func frame(_ pdu: PacketBuffer, _ key: UInt32, _ pseudonyms: Pseudonyms) -> [UInt8] {
        if missing[key] == nil, missing.count >= Self.channels { missing.removeAll() }
        let rest = missing[key] ?? 0
        if rest > 0 {
            missing[key] = max(0, rest - pdu.count)
            return pseudonyms.value(pdu)
        }
        guard let length = pdu.word(at: 0) else { return pseudonyms.octets(pdu) }
        missing[key] = max(0, Int(length) - (pdu.count - 2))
        return Array(pdu.prefix(upTo: 2)) + pseudonyms.value(pdu.suffix(after: 2))
    }
}
