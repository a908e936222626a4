import BluetoothTypes
import Testing

@testable import CaptureStory
@testable import HCI

/// Octets after the known end of a packet, of which a redacted copy has none.
@Suite struct KnownEndTests {
    /// Octets that no packet of these tests has for another reason.
    private static let secret: [UInt8] = [0xA7, 0x5B, 0xE3, 0x91, 0x6D]

    private func redacted(_ packets: [(HCIPacket, HCIDirection)]) -> [UInt8] {
        var redactor = CaptureRedactor(seed: Array(1...32), keys: RedactionKeys())
        let records = packets.enumerated().map { index, packet in
            CaptureRecord(offset: UInt64(index), unixMicroseconds: 1, content: .hci(packet.0, packet.1))
        }
        return (records.flatMap { redactor.receive($0) } + redactor.finish()).flatMap { record in
            record.packet.map { Array($0.bytes) } ?? []
        }
    }

    private func has(_ octets: [UInt8]) -> Bool {
        // Two octets in a row are too many: a replacement has them once in 65,536 places.
        octets.indices.contains { octets[$0...].starts(with: Self.secret.prefix(3)) }
    }

    /// A packet with further octets: beyond the length in its header, or within it.
    private func longer(_ packet: HCIPacket, length position: Int, isWithin: Bool) -> HCIPacket {
        var octets = Array(packet.bytes) + Self.secret
        if isWithin { octets[position] = UInt8(clamping: Int(octets[position]) + Self.secret.count) }
        return HCIPacket(packet.kind, PacketBuffer(octets))
    }

    @Test(
        "AB-F05: no octet after the known end of a command survives, nor one after its length",
        arguments: [false, true]
    )
    func commands(isWithin: Bool) {
        for type in HCICommandRegistry.all {
            let packet = HCIPacket(type.init())
            let result = redacted([(longer(packet, length: 2, isWithin: isWithin), .hostToController)])
            #expect(!has(result), "\(type.name)")
            #expect(result.count == packet.bytes.count + Self.secret.count)
        }
    }

    @Test(
        "AB-F05: no octet after the known end of an event survives, nor one after its length",
        arguments: [false, true]
    )
    func events(isWithin: Bool) {
        for type in HCIEventRegistry.all where type.eventCode.rawValue != 0x0E {
            let packet = HCIPacket(type.init())
            #expect(
                !has(redacted([(longer(packet, length: 1, isWithin: isWithin), .controllerToHost)])),
                "\(type.name)"
            )
        }
    }

    @Test("AB-F05: no octet after the return parameters of a command survives", arguments: [false, true])
    func responses(isWithin: Bool) {
        func response<C: HCICommand>(of type: C.Type) -> HCIPacket { HCIPacket(CommandComplete(type, C.Response())) }
        for type in HCICommandRegistry.all {
            let packet = longer(response(of: type), length: 1, isWithin: isWithin)
            #expect(!has(redacted([(packet, .controllerToHost)])), "\(type.name)")
        }
    }

    @Test("AB-F05: the fields themselves stay where they contain nothing private")
    func fields() {
        let packets = [
            HCIPacket(Disconnect(handle: ConnectionHandle(rawValue: 0x40), reason: .remoteUserTerminated)),
            HCIPacket(Reset()),
        ]
        for packet in packets { #expect(redacted([(packet, .hostToController)]) == Array(packet.bytes)) }
        let event = HCIPacket(
            EncryptionChange(handle: ConnectionHandle(rawValue: 0x40), state: EncryptionState(rawValue: 1))
        )
        #expect(redacted([(event, .controllerToHost)]) == Array(event.bytes))
    }

    /// PDUs of channels whose fields stay, each with its known length.
    private static let pdus: [(channel: UInt16, pdu: [UInt8])] = [
        (4, [0x01, 0x0A, 3, 0, 0x05]), (4, [0x02, 23, 0]), (4, [0x03, 185, 0]), (4, [0x04, 1, 0, 0xFF, 0xFF]),
        (4, [0x0A, 3, 0]), (4, [0x0C, 3, 0, 22, 0]), (4, [0x13]), (4, [0x18, 1]), (4, [0x19]), (4, [0x1E]),
        (4, [0x08, 1, 0, 9, 0, 0x03, 0x28]), (4, [0x10, 1, 0, 9, 0, 0x00, 0x28]),
        (5, [0x12, 1, 8, 0, 6, 0, 12, 0, 0, 0, 200, 0]), (5, [0x13, 1, 2, 0, 0, 0]), (5, [0x06, 1, 4, 0, 1, 0, 2, 0]),
        (5, [0x14, 1, 10, 0, 0x80, 0, 0x40, 0, 64, 0, 64, 0, 1, 0]), (5, [0x16, 1, 4, 0, 0x40, 0, 1, 0]),
        (6, [0x01, 4, 0, 0x0D, 16, 3, 3]), (6, [0x02, 4, 0, 0x0D, 16, 3, 3]), (6, [0x05, 3]), (6, [0x0B, 5]),
        (6, [0x0E, 2]),
    ]

    @Test("AB-F05: no octet after the known end of a PDU survives, and the PDU does", arguments: pdus)
    func protocols(channel: UInt16, pdu: [UInt8]) {
        for tail in [[], Self.secret] {
            var bench = CaptureBench()
            bench.pdu(channel, pdu + tail, isSent: true)
            let packets = bench.records.compactMap { $0.packet.map { ($0, HCIDirection.hostToController) } }
            let result = redacted(packets)
            #expect(!has(result))
            #expect(Array(result.suffix(pdu.count + tail.count).prefix(pdu.count)) == pdu)
        }
    }

    @Test("AB-F05: lists of attributes end with their last whole element")
    func lists() {
        let cut = Array(Self.secret.prefix(3))
        for pdu in [
            [0x05, 1, 3, 0, 0x00, 0x2A] + cut, [0x07, 1, 0, 5, 0] + cut, [0x11, 6, 1, 0, 5, 0, 0x0D, 0x18] + cut,
            [0x11, 9, 1, 0, 5, 0] + Self.secret, [0x0E, 3, 0, 4, 0, 5],
        ] as [[UInt8]] {
            var bench = CaptureBench()
            bench.pdu(4, pdu, isSent: false)
            #expect(!has(redacted(bench.records.compactMap { $0.packet.map { ($0, .controllerToHost) } })), "\(pdu)")
        }
        var bench = CaptureBench()
        bench.request([0x08, 1, 0, 9, 0, 0x03, 0x28], [0x09, 12, 2, 0, 0x12, 3, 0, 0x37, 0x2A] + Self.secret)
        #expect(!has(redacted(bench.records.compactMap { $0.packet.map { ($0, .controllerToHost) } })))
    }

    @Test("AB-F05: structures of advertising data end where their type does")
    func advertisingData() {
        var redactor = AdvertisingRedactor()
        var pseudonyms = Pseudonyms(seed: Array(1...32), keys: [])
        for (type, count) in [(1, 1), (0x0A, 1), (0x12, 4), (0x19, 2), (0x1A, 2), (0x2F, 4), (3, 2), (5, 4), (7, 16)] {
            let known = (0..<count).map { UInt8($0 + 1) }
            let data = [UInt8(1 + count + 3), UInt8(type)] + known + Self.secret.prefix(3)
            let result = redactor.redacted(PacketBuffer(data), .none, isLast: true, &pseudonyms)
            #expect(Array(result.prefix(2 + count)) == Array(data.prefix(2 + count)))
            #expect(!has(result), "type \(type)")
        }
    }

    @Test("AB-F05: control PDUs of the link layer end where their opcode does")
    func controlPDUs() {
        var pseudonyms = Pseudonyms(seed: Array(1...32), keys: [])
        let known: [UInt8: Int] = [
            0x00: 11, 0x02: 1, 0x05: 0, 0x07: 1, 0x08: 8, 0x0C: 5, 0x0F: 23, 0x12: 0, 0x14: 8, 0x16: 2, 0x18: 4,
            0x26: 10,
        ]
        for opcode in 0...0x2A as ClosedRange<UInt8> {
            let count = known[opcode] ?? 25
            let pdu = [opcode] + [UInt8](repeating: 1, count: count) + Self.secret
            let result = ControlRedactor.redacted(PacketBuffer(pdu), isDoubtful: false, &pseudonyms)
            #expect(result.count == pdu.count)
            guard known[opcode] != nil else { continue }
            #expect(!has(result), "opcode \(opcode)")
            #expect(Array(result.prefix(1 + count)) == Array(pdu.prefix(1 + count)))
        }
    }
}
