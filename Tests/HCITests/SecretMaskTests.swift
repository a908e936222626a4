import BluetoothTypes
import EventLoops
import RandomPackets
import Testing

@testable import HCI

/// Keys are masked in packets that are shown, and nothing else is.
@Suite struct SecretMaskTests {
    private func masked(_ packet: HCIPacket, _ direction: HCIDirection = .hostToController) -> PacketBuffer {
        var mask = SecretMask()
        return mask.masked(packet, direction).bytes
    }

    /// The packet's octets with zeros in place of its secret fields.
    private func expected<P: PacketFields>(_ packet: P, header: PacketBuffer, all: PacketBuffer) -> PacketBuffer {
        var (packet, writer) = (packet, ZeroingWriter(header))
        try? packet.code(&writer)
        return writer.buffer
    }

    @Test("in each command, response and event the secret fields become zeros, and all other octets stay")
    func allPackets() throws {
        var masks = 0
        func check(_ packet: HCIPacket, _ fields: some PacketFields, header: Int) {
            let wanted = expected(fields, header: packet.bytes.prefix(upTo: header), all: packet.bytes)
            #expect(masked(packet) == wanted, "\(fields)")
            if wanted != packet.bytes { masks += 1 }
        }
        func checkCommand<C: HCICommand>(_ type: C.Type) {
            let command = RandomFields.value(type, RandomSource(seed: 7))
            check(HCIPacket(command), command, header: 3)
            var response = RandomFields.value(C.Response.self, RandomSource(seed: 7))
            response.status = .success
            check(HCIPacket(CommandComplete(type, response)), response, header: 5)
        }
        func checkEvent<E: HCIEvent>(_ type: E.Type) {
            let event = RandomFields.value(type, RandomSource(seed: 7))
            guard type.subevent != nil else { return #expect(masked(HCIPacket(event)) == HCIPacket(event).bytes) }
            check(HCIPacket(event), event, header: 3)
        }
        for type in HCICommandRegistry.all { checkCommand(type) }
        for type in HCIEventRegistry.all { checkEvent(type) }
        #expect(masks == 7)
    }

    @Test("a packet that ends within a key shows none of it")
    func truncated() {
        let octets: [UInt8] = [0x19, 0x20, 28, 0x40, 0] + [UInt8](repeating: 1, count: 10) + [0xAA, 0xBB, 0xCC]
        #expect(masked(HCIPacket(.command, PacketBuffer(octets))).suffix(after: 15) == [0, 0, 0])
    }

    private func fragment(_ octets: [UInt8], isStart: Bool, handle: UInt16 = 1) -> HCIPacket {
        HCIPacket(
            ACLPacket(
                handle: ConnectionHandle(rawValue: handle),
                boundary: isStart ? .start : .continuation,
                payload: PacketBuffer(octets)
            )
        )
    }

    @Test("of the Security Manager's PDUs with keys, only the code stays, in fragments of every length")
    func fragments() {
        let key = [UInt8](repeating: 0xA5, count: 16)
        for code in [0x03, 0x04, 0x06, 0x07, 0x08, 0x0A, 0x0C, 0x0D, 0x7F] as [UInt8] {
            let pdu: [UInt8] = [17, 0, 6, 0, code] + key
            for size in 1...pdu.count {
                var mask = SecretMask()
                for start in stride(from: 0, to: pdu.count, by: size) {
                    let part = Array(pdu[start..<min(start + size, pdu.count)])
                    let shown = mask.masked(fragment(part, isStart: start == 0), .controllerToHost)
                    #expect(!shown.bytes.suffix(after: 4).contains(0xA5), "\(code) in \(size)")
                    #expect(shown.bytes.count == part.count + 4)
                }
            }
        }
    }

    @Test("a PDU without keys stays, with its continuations; of one that began before, the rest is masked")
    func harmlessPDUs() {
        var mask = SecretMask()
        let first = fragment([9, 0, 4, 0, 0x1B, 3], isStart: true)
        let rest = fragment([0, 1, 2, 3], isStart: false)
        #expect(mask.masked(rest, .controllerToHost).bytes.suffix(after: 4) == [0, 0, 0, 0])
        #expect(mask.masked(first, .controllerToHost) == first)
        #expect(mask.masked(rest, .controllerToHost) == rest)
        // The other direction and another link are others.
        #expect(mask.masked(rest, .hostToController) != rest)
        #expect(mask.masked(fragment([7], isStart: false, handle: 2), .controllerToHost).bytes.last == 0)
        let features = fragment([7, 0, 6, 0, 0x01, 4, 0, 13, 16, 3, 3], isStart: true)
        #expect(mask.masked(features, .controllerToHost) == features)
        let random = fragment([17, 0, 6, 0, 0x04, 9], isStart: true)
        #expect(mask.masked(random, .controllerToHost) != random)
        #expect(mask.masked(rest, .controllerToHost) != rest)
    }

    @Test("a packet is told by its link or its address")
    func peers() {
        let link = PacketPeer.link(ConnectionHandle(rawValue: 0x40))
        let address = BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice)
        let octets: [UInt8] = [1, 1, 0, 0, 0xEE, 0xFF, 0xC0]
        func packet(_ kind: HCIPacket.Kind, _ octets: [UInt8]) -> HCIPacket { HCIPacket(kind, PacketBuffer(octets)) }
        #expect(fragment([], isStart: true, handle: 0x40).peer == link)
        #expect(packet(.command, [0x06, 0x04, 3, 0x40, 0, 0x13]).peer == link)
        #expect(packet(.command, [0x11, 0x20, 7] + octets).peer == .address(address))
        #expect(packet(.event, [0x05, 4, 0, 0x40, 0, 0x13]).peer == link)
        #expect(packet(.event, [0x3E, 12, 0x02, 1, 0] + octets + [0, 0xC0]).peer == .address(address))
        #expect(packet(.event, [0x3E, 26, 0x0D, 1, 0x13, 0] + octets).peer == .address(address))
        #expect(packet(.event, [0x3E, 19, 0x01, 0, 0x40, 0, 0] + octets).peer == .address(address))
        #expect(packet(.event, [0x0E, 4, 1, 3, 0x0C, 0]).peer == nil)
        for length in 0..<12 {
            for kind in HCIPacket.Kind.allCases {
                for first in [0x05, 0x3E, 0x11, 0x57] as [UInt8] {
                    _ = packet(kind, Array(([first, 0x20] + octets + octets).prefix(length))).peer
                }
            }
        }
    }
}

/// Writes zeros for secret fields.
private struct ZeroingWriter: FieldCoder {
    private var writer: FieldWriter
    var buffer: PacketBuffer { writer.buffer }
    var isReading: Bool { false }
    var remaining: Int { 0 }

    init(_ buffer: PacketBuffer) { writer = FieldWriter(buffer) }

    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        try writer.field(name, &value)
    }

    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        try writer.uint24(name, &value)
    }

    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try writer.bytes(name, &value, count: count)
    }

    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try writer.countedBytes(name, &value)
    }

    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        var zeros = PacketBuffer([UInt8](repeating: 0, count: count))
        try writer.bytes(name, &zeros, count: count)
    }

    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try writer.rest(name, &value)
    }

    mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    mutating func begin(_ name: String) {}
    mutating func end() {}
}
