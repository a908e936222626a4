import BluetoothTypes
import EventLoops
import RandomPackets
import Testing

@testable import HCI

/// Collects the octets of the fields whose names suggest a key, independently of how the packet marks them.
private struct KeyCollector: FieldCoder {
    /// Names that contain "key" but denote no key, or a public one.
    private static let harmless = ["Key_X_Coordinate", "Key_Y_Coordinate", "Key_Type", "Encryption_Key_Size"]
    var keys: [PacketBuffer] = []
    var isReading: Bool { false }
    var remaining: Int { 0 }

    private mutating func record(_ name: String, _ value: PacketBuffer) {
        let marks = ["Key", "IRK", "CSRK", "PIN", "Random_Number", "Encrypted_Data", "Broadcast_Code"]
        guard !Self.harmless.contains(name), marks.contains(where: { name.contains($0) }) else { return }
        keys.append(value)
    }

    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) {}
    mutating func uint24(_ name: String, _ value: inout UInt32) {}
    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) { record(name, value) }
    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) { record(name, value) }
    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) { record(name, value) }
    mutating func rest(_ name: String, _ value: inout PacketBuffer) { record(name, value) }
    mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    mutating func begin(_ name: String) {}
    mutating func end() {}

    static func keys(of packet: some PacketFields) -> [PacketBuffer] {
        var (packet, collector) = (packet, KeyCollector())
        try? packet.code(&collector)
        return collector.keys
    }
}

/// Every text that Swift derives from a value by itself.
private func texts(of value: some Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(reflecting: value), "\(Optional(value) as Any)", "\([value])", dumped]
}

/// The texts of a packet in every form that may reach a log: whole, truncated, too long, framed.
private func texts(of packet: HCIPacket) -> [String] {
    var found = texts(of: packet as Any)
    for length in 0...packet.bytes.count {
        found.append(PacketPrinter.line(HCIPacket(packet.kind, packet.bytes.prefix(upTo: length)), .hostToController))
    }
    // More octets than the header says, then with a header to match.
    found += texts(of: HCIPacket(packet.kind, PacketBuffer(packet.bytes.bytes + [0])) as Any)
    var longer = packet.bytes.bytes + [0]
    longer[packet.kind == .command ? 2 : 1] += 1
    found += texts(of: HCIPacket(packet.kind, PacketBuffer(longer)) as Any)
    return found
}

/// Whether a text contains four consecutive octets of a key, in either order.
private func shows(_ text: String, _ keys: [PacketBuffer]) -> Bool {
    keys.flatMap { [$0, PacketBuffer($0.reversed())] }.contains { key in
        (0...key.count - 4).contains { start in
            let part = key.slice(start..<start + 4)
            let decimal = part.map { "\($0)" }.joined(separator: ", ")
            return text.contains("\(part)") || text.contains(decimal)
        }
    }
}

@Suite struct SecretTests {
    @Test func commands_show_no_key_in_any_way() throws {
        var found: Set<String> = []
        func check<C: HCICommand>(_ type: C.Type) throws {
            let command = RandomFields.value(type, RandomSource(seed: 7))
            let keys = KeyCollector.keys(of: command)
            guard !keys.isEmpty else { return }
            found.insert(type.name)
            let packet = HCIPacket(command)
            let frame = try CommandPacket(reading: packet.bytes)
            let texts = texts(of: command) + texts(of: frame) + texts(of: packet) + [frame.fieldDescription]
            for text in texts { #expect(!shows(text, keys), "\(type.name): \(text)") }
        }
        for type in HCICommandRegistry.all { try check(type) }
        #expect(
            found == [
                "LE Enable Encryption", "LE Long Term Key Request Reply", "LE Add Device To Resolving List",
                "LE Encrypt",
            ]
        )
    }

    @Test func responses_show_no_key_in_any_way() throws {
        var found: Set<String> = []
        func check<C: HCICommand>(_ type: C.Type) throws {
            var response = RandomFields.value(C.Response.self, RandomSource(seed: 7))
            response.status = .success
            let keys = KeyCollector.keys(of: response)
            guard !keys.isEmpty else { return }
            found.insert(type.name)
            let event = CommandComplete(type, response)
            let packet = HCIPacket(event)
            let frame = try EventPacket(reading: packet.bytes)
            var texts = texts(of: response) + texts(of: event) + texts(of: frame) + texts(of: packet)
            texts += [event.fieldDescription, frame.fieldDescription]
            for text in texts { #expect(!shows(text, keys), "\(type.name): \(text)") }
        }
        for type in HCICommandRegistry.all { try check(type) }
        #expect(found == ["LE Encrypt", "LE Rand"])
    }

    @Test func events_show_no_key_in_any_way() throws {
        var found: Set<String> = []
        func check<E: HCIEvent>(_ type: E.Type) throws {
            let event = RandomFields.value(type, RandomSource(seed: 7))
            let keys = KeyCollector.keys(of: event)
            guard !keys.isEmpty else { return }
            found.insert(type.name)
            let packet = HCIPacket(event)
            let frame = try EventPacket(reading: packet.bytes)
            let texts = texts(of: event) + texts(of: frame) + texts(of: packet) + [frame.fieldDescription]
            for text in texts { #expect(!shows(text, keys), "\(type.name): \(text)") }
        }
        for type in HCIEventRegistry.all { try check(type) }
        // The Random_Number of LE Long Term Key Request goes over the air in the clear.
        #expect(found == ["LE Generate DHKey Complete"])
    }

    /// Encryption Information of the Security Manager, in fragments of every length.
    @Test func keys_of_the_security_manager_are_not_shown_on_their_way() {
        let key = PacketBuffer((0..<16).map { 0xA0 + $0 })
        let pdu: [UInt8] = [17, 0, 6, 0, 0x06] + key.bytes
        for size in 1...pdu.count {
            for start in stride(from: 0, to: pdu.count, by: size) {
                let fragment = ACLPacket(
                    handle: ConnectionHandle(rawValue: 1),
                    boundary: start == 0 ? .start : .continuation,
                    payload: PacketBuffer(Array(pdu[start..<min(start + size, pdu.count)]))
                )
                for text in texts(of: fragment) + texts(of: HCIPacket(fragment)) {
                    #expect(!shows(text, [key]), "\(size): \(text)")
                }
            }
        }
    }

    @Test func fields_that_are_no_secret_are_still_shown() {
        let command = LEEnableEncryption(
            handle: ConnectionHandle(rawValue: 0x40),
            random: 0x1122,
            encryptedDiversifier: 0x33,
            longTermKey: PacketBuffer([UInt8](repeating: 0x5A, count: 16))
        )
        #expect(
            "\(command)"
                == """
                LEEnableEncryption(Connection_Handle: 0x40, Random_Number: 0x1122, Encrypted_Diversifier: 0x33, \
                Long_Term_Key: secret)
                """
        )
        #expect(HCIPacket(command).description.hasPrefix("LE Enable Encryption (0x2019): Connection_Handle: 0x40"))
    }
}
