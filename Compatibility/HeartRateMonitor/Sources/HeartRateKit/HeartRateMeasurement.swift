import CryptoKit
import Foundation

/// The value of the Heart Rate Measurement characteristic.
public struct HeartRateMeasurement: Equatable {
    public let beatsPerMinute: Int

    public init?(_ value: Data) {
        guard let flags = value.first, value.count >= (flags & 1 == 0 ? 2 : 3) else { return nil }
        let bytes = [UInt8](value)
        beatsPerMinute = flags & 1 == 0 ? Int(bytes[1]) : Int(bytes[1]) | Int(bytes[2]) << 8
    }
}

/// Returns a pseudonym of a sensor, for logs that should not show its identifier.
public func pseudonym(of identifier: UUID) -> String {
    let digest = SHA256.hash(data: Data(identifier.uuidString.utf8))
    return digest.prefix(4).map { String(format: "%02x", $0) }.joined()
}
