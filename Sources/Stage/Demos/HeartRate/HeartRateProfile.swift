import CoreBluetooth

/// The UUIDs and formats that the sensor and the app share.
package enum HeartRateProfile {
    // CBUUID is immutable and effectively Sendable.
    package static let service = CBUUID(string: "180D")
    package static let measurement = CBUUID(string: "2A37")
    package static let bodySensorLocation = CBUUID(string: "2A38")
    package static let controlPoint = CBUUID(string: "2A39")

    package static let battery = CBUUID(string: "180F")
    package static let batteryLevel = CBUUID(string: "2A19")

    /// A custom service with a text that every central may read and write.
    package static let notesService = CBUUID(string: "6E6F7465-0000-4861-7261-6C6420303031")
    package static let note = CBUUID(string: "6E6F7465-0001-4861-7261-6C6420303031")

    /// A custom service about the wearer, with an e-mail address for paired devices only.
    package static let wearerService = CBUUID(string: "77656172-0000-4861-7261-6C6420303031")
    package static let emailAddress = CBUUID(string: "2A87")

    /// The control point command that resets the energy count.
    package static let resetEnergyExpended: UInt8 = 1

    /// The values of Body Sensor Location, by number.
    package static let locations = ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]

    /// Encodes a measurement of the Heart Rate Service: flags (sensor contact supported and detected, energy present),
    /// rate, energy in kilojoules.
    package static func measurement(rate: UInt8, energy: UInt16) -> Data {
        Data([0b0000_1110, rate, UInt8(truncatingIfNeeded: energy), UInt8(truncatingIfNeeded: energy >> 8)])
    }

    /// Decodes the rate in beats per minute. Returns nil for a measurement that is too short.
    package static func rate(of measurement: Data) -> Int? {
        let bytes = [UInt8](measurement)
        guard bytes.count >= 2 else { return nil }
        guard bytes[0] & 1 == 1 else { return Int(bytes[1]) }
        guard bytes.count >= 3 else { return nil }
        return Int(bytes[1]) | Int(bytes[2]) << 8
    }
}

/// Finds the refusal of a read in an air capture, which the app never sees because the system pairs and repeats the
/// request (behaviour 6.1).
package enum Refusal {
    /// The offset of the PDU in the block of a packet: after the header of the block, the pseudo-header, the access
    /// address and the link layer header.
    private static let start = 28 + 10 + 4 + 2
    /// The length of the frame with its pseudo-header, whose lowest octet is at this offset of the block.
    private static let length = UInt8(10 + 4 + 2 + response.count + 3 + 3)
    private static let lengthOffset = 20
    /// The L2CAP header, and an Error Response to a Read Request (Core Vol 3 Part F 3.4.1.1). A handle follows.
    private static let response: [UInt8] = [5, 0, 4, 0, 0x01, 0x0A]
    private static let insufficientAuthentication: UInt8 = 5

    /// Whether a record of an air capture is such a refusal.
    package static func isAt(_ record: [UInt8]) -> Bool {
        // The handle, the error code and the CRC follow.
        record.count >= start + response.count + 3 + 3 && record[lengthOffset] == length
            && record[start...].starts(with: response)
            && record[start + response.count + 2] == insufficientAuthentication
    }
}
