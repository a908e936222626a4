import BluetoothTypes
import HCI

/// Where the known fields of a packet end.
///
/// Newer controllers add parameters, and broken or hostile stacks leave other memory behind the last one. A redacted
/// copy has zeros there: an octet that no field describes may be private (AB-F05).
enum KnownEnd {
    /// Returns the end of what a command of the registry defines.
    static func end(ofCommand octets: PacketBuffer) -> Int {
        let header = 3
        guard let number = octets.word(at: 0), let length = octets.octet(at: 2) else { return octets.count }
        let end = min(octets.count, header + Int(length))
        guard let type = HCICommandRegistry.type(for: Opcode(rawValue: number)) else { return end }
        return header + count(type, in: octets.slice(header..<end))
    }

    /// Returns the end of what an event of the registry defines.
    static func end(ofEvent octets: PacketBuffer) -> Int {
        guard let code = octets.octet(at: 0), let length = octets.octet(at: 1) else { return octets.count }
        let end = min(octets.count, 2 + Int(length))
        if code == 0x0E { return self.end(ofResponse: octets, end) }
        let isOfLE = code == EventCode.leMeta.rawValue
        let header = isOfLE ? 3 : 2
        let subevent = isOfLE ? octets.octet(at: 2).map { LESubevent(rawValue: $0) } : nil
        let type = HCIEventRegistry.type(for: EventCode(rawValue: code), subevent: subevent)
        guard let type, end >= header else { return end }
        return header + count(type, in: octets.slice(header..<end))
    }

    /// The same of Command Complete, whose return parameters belong to a command.
    private static func end(ofResponse octets: PacketBuffer, _ end: Int) -> Int {
        let header = 5
        guard let number = octets.word(at: 3), end >= header else { return end }
        guard let type = HCICommandRegistry.type(for: Opcode(rawValue: number)) else {
            return number == 0 ? header : end
        }
        return header + count(response(of: type), in: octets.slice(header..<end))
    }

    private static func response<C: HCICommand>(of command: C.Type) -> any PacketFields.Type { C.Response.self }

    /// The octets that the fields of a packet take, up to the first one that is not as it should be.
    private static func count(_ type: any PacketFields.Type, in octets: PacketBuffer) -> Int {
        var (packet, reader) = (type.init(), FieldReader(octets))
        try? packet.read(from: &reader)
        return octets.count - reader.remaining
    }

    /// Returns the octets with zeros from `start` on.
    static func zeros(_ octets: PacketBuffer, after start: Int) -> PacketBuffer {
        guard start < octets.count else { return octets }
        return PacketBuffer(octets.enumerated().map { $0.offset < start ? $0.element : 0 })
    }
}
