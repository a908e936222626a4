import BluetoothTypes
import EventLoops

/// Fills the fields of a message with random values as if it decoded them, so that no field has to be named here.
///
/// Most counts and lengths are small, and some are as large as the wire format allows. Sixteen-octet values repeat
/// values that the service has sent, so that requests refer to existing peers.
struct RandomMessageFields: FieldCoder {
    /// The kinds to choose, outermost first; a kind below them is random.
    private var kinds: ArraySlice<UInt8>
    private let random: RandomSource
    private let known: [[UInt8]]
    /// The number of elements that the nested lists of this message may still have.
    private var elements: UInt64 = 3_000

    init(kinds: [UInt8], known: [[UInt8]], random: RandomSource) {
        self.kinds = kinds[...]
        self.known = known
        self.random = random
    }

    var isReading: Bool { true }
    var remaining: Int { .max }

    mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        if name == "kind", let kind = kinds.popFirst() { return value = T(truncatingIfNeeded: kind) }
        value = T(truncatingIfNeeded: number(of: name))
    }

    private mutating func number(of name: String) -> UInt64 {
        if name.hasSuffix("length") { return size }
        if name.hasSuffix("count") {
            let count = min(size, elements)
            elements -= count
            return count
        }
        if name.hasPrefix("has ") { return random.below(2) }
        if ["kind", "state", "role", "domain", "code"].contains(name) { return random.below(20) }
        if name == "manager" || name == "channel" { return random.below(6) }
        return random.next() >> random.below(64)
    }

    private var size: UInt64 {
        switch random.below(100) {
        case 0..<80: random.below(4)
        case 80..<95: random.below(64)
        case 95..<99: random.below(2_000)
        default: random.below(1 << 16)
        }
    }

    mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        value = UInt32(random.below(1 << 24))
    }

    mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        if count == 16, !known.isEmpty, random.below(4) > 0 {
            value = PacketBuffer(known[Int(random.below(UInt64(known.count)))])
        } else if count <= 16 {
            value = PacketBuffer(random.bytes(count))
        } else {
            // ASCII, so that long texts are valid too.
            value = PacketBuffer([UInt8](repeating: UInt8(random.below(128)), count: count))
        }
    }

    mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try bytes(name, &value, count: [2, 4, 16][Int(random.below(3))])
    }

    mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try bytes(name, &value, count: count)
    }

    mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        try bytes(name, &value, count: Int(size))
    }

    mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    mutating func begin(_ name: String) {}
    mutating func end() {}
}
