import ATT
import AssignedNumbers
import BluetoothTypes
import CaptureStory
import HCI
import ServiceEvents

/// One packet, layer by layer, with the places of its fields.
struct PacketDetails: Encodable {
    struct Part: Encodable {
        let layer: String
        let text: String
        /// The octets of the layer: where they begin in the packet, and how many.
        let start: Int
        let count: Int
        let fields: [FieldList.Field]
    }

    let number: UInt64
    /// The whole packet in hexadecimal.
    let octets: String
    let parts: [Part]

    /// - Parameter parts: The layers in words, from the lowest upwards.
    init(_ packet: MonitoredPacket, _ parts: [PacketPart]) {
        number = packet.number
        octets = hexadecimal(packet.octets)
        self.parts = parts.enumerated().map { index, part in
            let (start, fields) = Self.place(of: part.layer, index, in: packet)
            let place = min(start, packet.octets.count)
            return Part(
                layer: part.layer.rawValue,
                text: part.text,
                start: place,
                count: packet.octets.count - place,
                fields: fields
            )
        }
    }

    /// Where a layer begins in a packet, and the fields of the layer that are known.
    private static func place(of layer: PacketLayer, _ index: Int, in packet: MonitoredPacket) -> (
        Int, [FieldList.Field]
    ) {
        switch (layer, packet.kind) {
        case (.hci, HCIPacket.Kind.command.rawValue): (0, command(packet.octets))
        case (.hci, HCIPacket.Kind.event.rawValue): (0, event(packet.octets))
        case (.hci, _): (0, [])
        // The second part of a frame is its PDU; the first has how it was received.
        case (.air, _): index == 0 ? (0, []) : (PacketAdvertising.pdu, advertising(packet.octets))
        case (.l2cap, _) where index == 1: (4, isWhole(packet.octets) ? channel(packet.octets) : [])
        case (.att, _): (8, isWhole(packet.octets) ? attribute(packet.octets) : [])
        case (.l2cap, _), (.smp, _): (8, [])
        }
    }

    private static func command(_ octets: PacketBuffer) -> [FieldList.Field] {
        guard let packet = try? CommandPacket(reading: octets), let command = try? HCICommandRegistry.decode(packet)
        else { return [] }
        return FieldList.fields(of: command, at: 3)
    }

    private static func event(_ octets: PacketBuffer) -> [FieldList.Field] {
        guard let packet = try? EventPacket(reading: octets), let event = try? HCIEventRegistry.decode(packet) else {
            return []
        }
        let start = octets.count - packet.eventParameters.count
        // The return parameters follow the number of packets and the opcode (Core Vol 4 Part E 7.7.14).
        if let complete = event as? CommandComplete, let response = try? HCICommandRegistry.decodeResponse(complete) {
            return FieldList.fields(of: response, at: start + 3)
        }
        return FieldList.fields(of: event, at: start)
    }

    /// Whether a data packet has a whole PDU of L2CAP.
    private static func isWhole(_ octets: PacketBuffer) -> Bool {
        guard let head = octets.word(at: 0), let length = octets.word(at: 4) else { return false }
        return head >> 12 & 0b11 != 0b01 && Int(length) == octets.count - 8
    }

    private static func channel(_ octets: PacketBuffer) -> [FieldList.Field] {
        guard let length = octets.word(at: 4), let channel = octets.word(at: 6) else { return [] }
        return [
            FieldList.Field(name: "Length", text: "\(length)", start: 4, count: 2),
            FieldList.Field(name: "Channel ID", text: "0x" + String(channel, radix: 16), start: 6, count: 2),
        ]
    }

    private static func attribute(_ octets: PacketBuffer) -> [FieldList.Field] {
        guard let pdu = try? ATTPDU(reading: octets.suffix(after: 8)) else { return [] }
        return FieldList.fields(of: pdu.packet, at: 9)
    }

    /// The parts of legacy advertising data, in words.
    private static func advertising(_ octets: PacketBuffer) -> [FieldList.Field] {
        guard let data = PacketAdvertising.advertisingData(ofFrame: octets) else { return [] }
        var start = PacketAdvertising.data
        return AdvertisingData(parsing: data).structures.map { structure in
            let words = AdvertisementText.words(of: AdvertisingData([structure]), omitting: [])
            defer { start += structure.encodedLength }
            let text = words.isEmpty ? "\(structure.payload)" : words.joined(separator: ", ")
            let name = AssignedNumbers.advertisingType(structure.type.rawValue) ?? "type \(structure.type.rawValue)"
            return FieldList.Field(name: name, text: text, start: start, count: structure.encodedLength)
        }
    }
}

/// A coder that lists the fields of a packet with their values and their places.
struct FieldList: FieldCoder {
    struct Field: Encodable, Hashable {
        let name: String
        fileprivate(set) var text: String
        /// Where the field begins in the packet, and its length, in octets.
        let start: Int
        let count: Int
        /// The number of parts around it.
        var depth = 0
    }

    private var fields: [Field] = []
    private var offset: Int
    private var depth = 0

    /// Returns the fields of a packet.
    ///
    /// - Parameter start: Where the first of them begins.
    static func fields(of packet: some PacketFields, at start: Int) -> [Field] {
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
            Field(name: name, text: String(printer.text.dropFirst(2)), start: offset, count: count, depth: depth)
        )
        offset += count
    }
}
