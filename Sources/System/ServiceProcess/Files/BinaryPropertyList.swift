/// The binary form, version 00: objects, a table of their offsets, and a trailer that locates the table and gives the
/// width of its numbers.
struct BinaryPropertyList {
    static let mark = Array("bplist00".utf8)

    private static let trailerSize = 32

    private let octets: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    private let table: Int
    private var budget = PropertyList.Budget()

    init(_ octets: [UInt8]) throws(PropertyList.Fault) {
        guard octets.count >= Self.mark.count + Self.trailerSize else { throw PropertyList.Fault("it is truncated") }
        self.octets = octets
        let trailer = octets.count - Self.trailerSize
        (offsetSize, referenceSize) = (Int(octets[trailer + 6]), Int(octets[trailer + 7]))
        count = try Self.number(octets, at: trailer + 8, 8)
        top = try Self.number(octets, at: trailer + 16, 8)
        table = try Self.number(octets, at: trailer + 24, 8)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count <= octets.count, table < trailer,
            count * offsetSize <= trailer - table
        else { throw PropertyList.Fault("its object table is invalid") }
    }

    mutating func root() throws(PropertyList.Fault) -> Any { try value(top, depth: 0) }

    /// Reads a big-endian number of `size` octets.
    private static func number(_ octets: [UInt8], at place: Int, _ size: Int) throws(PropertyList.Fault) -> Int {
        guard place >= 0, size >= 0, place <= octets.count - size else { throw PropertyList.Fault("it is truncated") }
        let value = octets[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let number = Int(exactly: value) else {
            throw PropertyList.Fault("it contains a number that is too large")
        }
        return number
    }

    private mutating func value(_ index: Int, depth: Int) throws(PropertyList.Fault) -> Any {
        try budget.spend(depth: depth)
        guard index < count else { throw PropertyList.Fault("it refers to an object that does not exist") }
        let place = try Self.number(octets, at: table + index * offsetSize, offsetSize)
        guard place < table else { throw PropertyList.Fault("the offset of an object is out of range") }
        let (kind, low) = (octets[place] >> 4, octets[place] & 15)
        switch kind {
        case 0x0 where low == 8 || low == 9: return low == 9
        case 0x1 where low <= 3: return try Self.number(octets, at: place + 1, 1 << Int(low))
        case 0x5, 0x6: return try text(at: place, isWide: kind == 0x6, depth: depth)
        case 0xA: return try array(at: place, depth: depth)
        case 0xD: return try dictionary(at: place, depth: depth)
        default: return PropertyList.Other()
        }
    }

    /// The length of an object, and where its content begins.
    private func extent(at place: Int) throws(PropertyList.Fault) -> (length: Int, start: Int) {
        let low = octets[place] & 15
        guard low == 15 else { return (Int(low), place + 1) }
        guard place + 1 < table, octets[place + 1] >> 4 == 1, octets[place + 1] & 15 <= 3 else {
            throw PropertyList.Fault("it contains an invalid length")
        }
        let size = 1 << Int(octets[place + 1] & 15)
        return (try Self.number(octets, at: place + 2, size), place + 2 + size)
    }

    /// The octets of an object with elements of the given size.
    private func contents(at place: Int, elementSize: Int) throws(PropertyList.Fault) -> ArraySlice<UInt8> {
        let (length, start) = try extent(at: place)
        guard start <= table, length <= (table - start) / elementSize else {
            throw PropertyList.Fault("it contains an object that is longer than the list")
        }
        return octets[start..<start + length * elementSize]
    }

    private mutating func text(at place: Int, isWide: Bool, depth: Int) throws(PropertyList.Fault) -> String {
        let octets = try contents(at: place, elementSize: isWide ? 2 : 1)
        try budget.spend(octets.count, depth: depth)
        guard isWide else { return String(decoding: octets, as: UTF8.self) }
        let units = stride(from: octets.startIndex, to: octets.endIndex, by: 2).map { (index: Int) -> UInt16 in
            UInt16(octets[index]) << 8 | UInt16(octets[index + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    private func reference(_ octets: ArraySlice<UInt8>, _ index: Int) throws(PropertyList.Fault) -> Int {
        try Self.number(self.octets, at: octets.startIndex + index * referenceSize, referenceSize)
    }

    private mutating func array(at place: Int, depth: Int) throws(PropertyList.Fault) -> [Any] {
        let references = try contents(at: place, elementSize: referenceSize)
        var values: [Any] = []
        for index in 0..<references.count / referenceSize {
            values.append(try value(try reference(references, index), depth: depth + 1))
        }
        return values
    }

    private mutating func dictionary(at place: Int, depth: Int) throws(PropertyList.Fault) -> [String: Any] {
        let references = try contents(at: place, elementSize: 2 * referenceSize)
        let count = references.count / (2 * referenceSize)
        var values: [String: Any] = [:]
        for index in 0..<count {
            guard let key = try value(try reference(references, index), depth: depth + 1) as? String else {
                throw PropertyList.Fault("it contains a key that is not a string")
            }
            values[key] = try value(try reference(references, count + index), depth: depth + 1)
        }
        return values
    }
}
