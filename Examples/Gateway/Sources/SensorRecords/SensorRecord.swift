import Foundation

/// A value of a sensor, as it is notified and stored.
package struct SensorRecord: Hashable, Sendable {
    /// The number of octets of a record.
    package static let length = 15

    /// The number of the value, from 1 on.
    package var sequence: UInt32
    /// Whether the sensor may have sent the record before.
    package var isRepeated: Bool
    /// The time of the measurement, in microseconds since 1970.
    package var time: UInt64
    package var value: UInt16

    package init(sequence: UInt32, isRepeated: Bool, time: UInt64, value: UInt16) {
        (self.sequence, self.isRepeated, self.time, self.value) = (sequence, isRepeated, time, value)
    }

    /// Parses a notification; nil if it is no record.
    package init?(_ octets: Data) {
        let octets = [UInt8](octets)
        guard octets.count == Self.length, octets[4] <= 1 else { return nil }
        sequence = UInt32(Self.integer(octets[0..<4]))
        isRepeated = octets[4] == 1
        time = Self.integer(octets[5..<13])
        value = UInt16(Self.integer(octets[13..<15]))
    }

    /// The octets: sequence, flag, time and value, least significant octet first.
    package var octets: Data {
        Data(
            Self.octets(UInt64(sequence), 4) + [isRepeated ? 1 : 0] + Self.octets(time, 8)
                + Self.octets(UInt64(value), 2)
        )
    }

    /// Returns an integer of octets, the least significant one first.
    package static func integer(_ octets: some Collection<UInt8>) -> UInt64 {
        octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the octets of an integer, the least significant one first.
    package static func octets(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

/// The service of the sensors.
package enum SensorService {
    package static let uuid = "73656E73-0001-4861-7261-6C6420303031"
    /// Notifies of records: from the first one on that is not acknowledged, and without gaps.
    package static let records = "73656E73-0002-4861-7261-6C6420303031"
    /// The number up to which gateways have stored all records, so that the sensor may forget them. A gateway reads it
    /// before it subscribes, so that it notices a gap at the beginning, and writes it.
    package static let acknowledged = "73656E73-0003-4861-7261-6C6420303031"
    /// The name of the sensor, which is the same after a restart.
    package static let name = "73656E73-0004-4861-7261-6C6420303031"
}

/// The present time, in microseconds since 1970.
package func microseconds() -> UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000_000) }
