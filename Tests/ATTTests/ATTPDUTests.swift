import BluetoothTypes
import Testing

@testable import ATT

/// A PDU as octets, with its prefixes that are still valid.
struct PDUSample: CustomTestStringConvertible, Sendable {
    var name: String
    var octets: [UInt8]
    /// The lengths of prefixes that are complete PDUs themselves.
    var wholeLengths: Set<Int>

    init(_ name: String, _ octets: [UInt8], whole: [Int] = []) {
        self.name = name
        self.octets = octets
        wholeLengths = Set(whole + [octets.count])
    }

    var testDescription: String { name }

    static let long = [UInt8](1...16)

    static let all: [PDUSample] = [
        PDUSample("error", [0x01, 0x0A, 3, 0, 0x0A]),
        PDUSample("exchange MTU request", [0x02, 185, 0]),
        PDUSample("exchange MTU response", [0x03, 5, 2]),
        PDUSample("find information request", [0x04, 1, 0, 0xFF, 0xFF]),
        PDUSample("find information response, 16 bits", [0x05, 1, 1, 0, 0, 0x28, 2, 0, 3, 0x28], whole: [6]),
        PDUSample("find information response, 128 bits", [0x05, 2, 1, 0] + long),
        PDUSample("find by type value request", [0x06, 1, 0, 9, 0, 0, 0x28, 0x0D, 0x18], whole: [7, 8]),
        PDUSample("find by type value response", [0x07, 1, 0, 3, 0, 7, 0, 9, 0], whole: [5]),
        PDUSample("read by type request, 16 bits", [0x08, 1, 0, 9, 0, 3, 0x28]),
        PDUSample("read by type request, 128 bits", [0x08, 1, 0, 9, 0] + long, whole: [7]),
        PDUSample("read by type response", [0x09, 4, 1, 0, 7, 8, 2, 0, 9, 9], whole: [6]),
        PDUSample("read request", [0x0A, 3, 0]),
        PDUSample("read response", [0x0B, 1, 2, 3], whole: [1, 2, 3]),
        PDUSample("read blob request", [0x0C, 3, 0, 22, 0]),
        PDUSample("read blob response", [0x0D, 1, 2], whole: [1, 2]),
        PDUSample("read multiple request", [0x0E, 3, 0, 4, 0, 5, 0], whole: [5]),
        PDUSample("read multiple response", [0x0F, 1, 2], whole: [1, 2]),
        PDUSample("read by group type request", [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]),
        PDUSample("read by group type response", [0x11, 6, 1, 0, 5, 0, 0, 0x18, 6, 0, 9, 0, 1, 0x18], whole: [8]),
        PDUSample("write request", [0x12, 3, 0, 1, 2], whole: [3, 4]),
        PDUSample("write response", [0x13]),
        PDUSample("prepare write request", [0x16, 3, 0, 5, 0, 1], whole: [5]),
        PDUSample("prepare write response", [0x17, 3, 0, 5, 0, 1], whole: [5]),
        PDUSample("execute write request", [0x18, 1]),
        PDUSample("execute write response", [0x19]),
        PDUSample("notification", [0x1B, 3, 0, 1, 2], whole: [3, 4]),
        PDUSample("indication", [0x1D, 3, 0, 1, 2], whole: [3, 4]),
        PDUSample("confirmation", [0x1E]),
        PDUSample("read multiple variable request", [0x20, 3, 0, 4, 0], whole: []),
        PDUSample(
            "read multiple variable response",
            [0x21, 2, 0, 1, 2, 3, 0, 9, 8, 7],
            whole: [3, 4, 5, 7, 8, 9]
        ),
        PDUSample("multiple notification", [0x23, 3, 0, 1, 0, 7, 4, 0, 2, 0, 8, 9], whole: [6]),
        PDUSample("write command", [0x52, 3, 0, 1, 2], whole: [3, 4]),
        PDUSample("signed write command", [0xD2, 3, 0, 1] + [UInt8](0..<12), whole: [15]),
    ]
}

@Suite struct ATTPDUTests {
    @Test(arguments: PDUSample.all)
    func everyPDUGoesBothWays(_ sample: PDUSample) throws {
        let pdu = try ATTPDU(reading: PacketBuffer(sample.octets))
        #expect(pdu.opcode.rawValue == sample.octets[0])
        #expect(pdu.encoded().bytes == sample.octets)
        #expect(pdu.packet.framed().bytes == sample.octets)
        #expect(pdu.description.contains(":") || sample.octets.count == 1)
        // A slice in the middle of a larger packet decodes the same.
        let within = PacketBuffer([9, 9] + sample.octets + [9]).slice(2..<(2 + sample.octets.count))
        #expect(try ATTPDU(reading: within) == pdu)
    }

    @Test(arguments: PDUSample.all)
    func truncatedAtEveryByte(_ sample: PDUSample) {
        for length in 0..<sample.octets.count {
            let cut = PacketBuffer(Array(sample.octets[..<length]))
            let isWhole = (try? ATTPDU(reading: cut)) != nil
            #expect(isWhole == sample.wholeLengths.contains(length), "\(length) octets")
        }
    }

    @Test func everyOpcodeHasASample() {
        let known = Set(PDUSample.all.map { $0.octets[0] })
        for opcode in UInt8.min...UInt8.max where !known.contains(opcode) {
            #expect(throws: ATTDecodingError.unknownOpcode(ATTOpcode(rawValue: opcode))) {
                try ATTPDU(reading: [opcode, 1, 0, 1, 0])
            }
        }
        #expect(throws: ATTDecodingError.empty) { try ATTPDU(reading: []) }
    }

    @Test(
        "AB-A08: PDUs of impossible lengths are refused",
        arguments: [
            [0x05, 0, 1, 0, 0, 0x28], [0x05, 3, 1, 0, 0, 0x28], [0x05, 1, 1, 0, 0], [0x09, 0, 1, 0], [0x09, 1, 1, 0],
            [0x09, 2], [0x09, 5, 1, 0, 7, 8], [0x11, 3, 1, 0, 2], [0x11, 0], [0x11, 6, 1, 0, 5, 0, 0], [0x07],
            [0x08, 1, 0, 9, 0, 3, 0x28, 0, 0], [0x0E, 1, 0], [0x0E, 1, 0, 2, 0, 3], [0x23, 1, 0, 5, 0, 1],
        ] as [[UInt8]]
    )
    func impossibleLengths(octets: [UInt8]) {
        #expect(throws: ATTDecodingError.self) { try ATTPDU(reading: PacketBuffer(octets)) }
    }

    @Test func aValueNobodyElseHoldsIsNotCopied() {
        var value = PacketBuffer(capacity: 20)
        value.append(contentsOf: [UInt8](repeating: 7, count: 20))
        let before = value.withUnsafeBytes { $0.baseAddress }
        let pdu = ATTPDU.frame(.handleValueNotification, 3, consume value)
        #expect(pdu.suffix(after: 3).withUnsafeBytes { $0.baseAddress } == before)
        #expect(pdu.headroom == PacketBuffer.defaultHeadroom - 3)
    }
}
