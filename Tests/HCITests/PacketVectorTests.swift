import BluetoothTypes
import Testing

@testable import HCI

/// Decodes fields and records the octets of each.
private struct FieldCollector: FieldCoder {
    var reader: FieldReader
    let whole: PacketBuffer
    var fields: [String] = []

    init(_ bytes: PacketBuffer) {
        whole = bytes
        reader = FieldReader(bytes)
    }

    var isReading: Bool { true }
    var remaining: Int { reader.remaining }

    private mutating func note(
        _ read: (inout FieldReader) throws(PacketError) -> Void
    ) throws(PacketError) {
        let start = reader.bytes.position
        try read(&reader)
        fields.append("\(whole.slice(start..<reader.bytes.position))")
    }

    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.field(name, &value) }
    }

    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.uint24(name, &value) }
    }

    mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.uint48(name, &value) }
    }

    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.bytes(name, &value, count: count) }
    }

    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.secret(name, &value, count: count) }
    }

    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.countedBytes(name, &value) }
    }

    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try note { reader throws(PacketError) in try reader.rest(name, &value) }
    }

    mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    mutating func begin(_ name: String) {}
    mutating func end() {}
}

@Suite struct PacketVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var kind: String
        var name: String
        var fields: String

        init(_ line: Substring) {
            let parts = line.split(separator: " | ").map(String.init)
            (kind, name, fields) = (parts[0], parts[1], parts[2])
        }

        var testDescription: String { "\(kind) \(name)" }

        var bytes: PacketBuffer {
            let digits = fields.filter { $0 != " " }
            return PacketBuffer(
                stride(from: 0, to: digits.count, by: 2).map { offset in
                    let start = digits.index(digits.startIndex, offsetBy: offset)
                    return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
                }
            )
        }
    }

    static let vectors = [PacketVectors.bumble, PacketVectors.rootcanal, PacketVectors.zephyr].flatMap {
        $0.split(separator: "\n").map(Vector.init)
    }

    @Test(arguments: vectors) func fieldsAreWhereOthersPutThem(vector: Vector) throws {
        func check<P: PacketFields>(_ type: P.Type) throws {
            var collector = FieldCollector(vector.bytes)
            var packet = P()
            try packet.code(&collector)
            #expect(collector.fields.joined(separator: " ") == vector.fields)
            #expect(collector.remaining == 0)
            #expect(packet.encoded() == vector.bytes)
        }
        func checkResponse<C: HCICommand>(_ type: C.Type) throws { try check(C.Response.self) }
        switch vector.kind {
        case "command": try check(CommandCodecTests.type(vector.name))
        case "response": try checkResponse(CommandCodecTests.type(vector.name))
        default: try check(EventCodecTests.type(vector.name))
        }
    }

    @Test func commandsHaveTheNumbersAndPlacesThatOthersGiveThem() {
        let table = PacketVectors.commands.split(separator: "\n").map { $0.split(separator: " | ").map(String.init) }
        #expect(table.count == HCICommandRegistry.all.filter { $0.supportBit != nil }.count)
        for row in table {
            let command = try? CommandCodecTests.type(row[0])
            #expect(command?.opcode.rawValue == UInt16(row[1], radix: 16), "\(row[0])")
            #expect(command?.supportBit.map { 10 * $0.octet + $0.bit } == Int(row[2]), "\(row[0])")
        }
    }

    @Test func everyPacketWithParametersHasAVector() {
        func names(_ kind: String) -> Set<String> { Set(Self.vectors.filter { $0.kind == kind }.map(\.name)) }
        let commands = HCICommandRegistry.all.filter { !Self.isEmpty($0) }.map { $0.name }
        #expect(Set(commands).subtracting(names("command")) == [])
        let responses = HCICommandRegistry.all.filter { !Self.hasPlainResponse($0) }.map { $0.name }
        #expect(Set(responses).subtracting(names("response")) == [])
        let events = HCIEventRegistry.all.filter { !Self.isEmpty($0) }.map { $0.name }
        // Its parameters are those of another packet.
        #expect(Set(events).subtracting(names("event")) == ["Command Complete"])
    }

    private static func isEmpty<P: PacketFields>(_ type: P.Type) -> Bool { P().encoded().isEmpty }

    private static func hasPlainResponse<C: HCICommand>(_ type: C.Type) -> Bool { C.Response.self == StatusOnly.self }
}
