import BluetoothTypes
import EventLoops

/// Fills fields with random values as if they were decoded, so that every packet type can be tested without code of its
/// own. Counts and lengths stay small enough for a packet.
package struct RandomFields: FieldCoder {
    package let random: RandomSource
    package var isReading: Bool { true }
    package var remaining: Int { 0 }

    package mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) {
        if name.hasPrefix("Num_"), T.self == UInt8.self, isCount(name) {
            value = T(1 + random.below(3))
        } else if name.hasSuffix("_Data_Length") {
            value = T(random.below(32))
        } else {
            value = T(truncatingIfNeeded: random.next())
        }
    }

    private func isCount(_ name: String) -> Bool {
        [
            "Num_Reports", "Num_Handles", "Num_Sets", "Num_Subevents", "Num_Responses", "Num_Steps_Reported",
        ].contains(name)
    }

    package mutating func uint24(_ name: String, _ value: inout UInt32) {
        value = UInt32(random.below(1 << 24))
    }

    package mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) {
        value = PacketBuffer(random.bytes(count))
    }

    package mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) {
        value = PacketBuffer(random.bytes(count))
    }

    package mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) {
        value = PacketBuffer(random.bytes(Int(random.below(40))))
    }

    package mutating func rest(_ name: String, _ value: inout PacketBuffer) {
        value = PacketBuffer(random.bytes(Int(random.below(40))))
    }

    package mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    package mutating func begin(_ name: String) {}
    package mutating func end() {}

    /// Returns a random value of a packet type. Values that the type rejects are drawn again.
    package static func value<P: PacketFields>(_ type: P.Type, _ random: RandomSource) -> P {
        while true {
            var value = P()
            var fields = RandomFields(random: random)
            if (try? value.code(&fields)) != nil { return value }
        }
    }
}
