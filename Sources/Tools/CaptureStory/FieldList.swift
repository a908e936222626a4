import AssignedNumbers
import BluetoothTypes

/// A field of a packet with its value in words.
package struct PacketField: Encodable, Hashable, Sendable {
    package let name: String
    package fileprivate(set) var text: String
    /// Where the field begins in the packet, in octets.
    package let start: Int
    /// The length of the field, in octets.
    package let count: Int
    /// The number of parts around it.
    package var depth = 0

    /// Returns the structures of advertising data as fields, in words.
    static func structures(of data: PacketBuffer, at start: Int, depth: Int = 0) -> [PacketField] {
        var place = start
        return AdvertisingData(parsing: data).structures.map { structure in
            defer { place += structure.encodedLength }
            let words = AdvertisementText.words(of: AdvertisingData([structure]), omitting: [])
            let text = words.isEmpty ? "\(structure.payload)" : words.joined(separator: ", ")
            let name = AssignedNumbers.advertisingType(structure.type.rawValue) ?? "type \(structure.type.rawValue)"
            return PacketField(name: name, text: text, start: place, count: structure.encodedLength, depth: depth)
        }
    }
}

/// A coder that lists the fields of a packet with their values and their places.
struct FieldList: FieldCoder {
    private var fields: [PacketField] = []
    private var offset: Int
    private var depth = 0

    /// Returns the fields of a packet.
    ///
    /// - Parameter start: Where the first of them begins.
    static func fields(of packet: some PacketFields, at start: Int) -> [PacketField] {
        var (list, packet) = (FieldList(offset: start), packet)
        try? packet.code(&list)
        return list.fields
    }

    private init(offset: Int) { self.offset = offset }

    var isReading: Bool { false }
    var remaining: Int { 0 }

    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        var printer = FieldPrinter()
        try printer.field("", &value)
        add(name, printer, T.bitWidth / 8)
    }

    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        var printer = FieldPrinter()
        try printer.uint24("", &value)
        add(name, printer, 3)
    }

    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        var printer = FieldPrinter()
        try printer.bytes("", &value, count: count)
        add(name, printer, count)
    }

    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        var printer = FieldPrinter()
        try printer.secret("", &value, count: count)
        add(name, printer, count)
    }

    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        var printer = FieldPrinter()
        try printer.countedBytes("", &value)
        add(name, printer, 1 + value.count)
    }

    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        var printer = FieldPrinter()
        try printer.rest("", &value)
        add(name, printer, value.count)
    }

    mutating func note(_ name: String, _ text: @autoclosure () -> String) {
        guard !fields.isEmpty else { return }
        fields[fields.count - 1].text = text()
    }

    mutating func begin(_ name: String) { depth += 1 }
    mutating func end() { depth -= 1 }

    /// Adds a field with its value as it is printed without a name.
    private mutating func add(_ name: String, _ printer: FieldPrinter, _ count: Int) {
        fields.append(
            PacketField(name: name, text: String(printer.text.dropFirst(2)), start: offset, count: count, depth: depth)
        )
        offset += count
    }
}
