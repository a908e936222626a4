import CoreBluetooth

/// The protocol between the two ends: a service with a characteristic for the PSM and, on the channel, the length of
/// the file in eight octets, most significant first, followed by the file.
enum FileService {
    static let service = CBUUID(string: "F1E70000-5472-616E-7366-657200000001")
    static let psm = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)
    static let lengthSize = 8
    /// The longest file that is accepted, in octets.
    static let longest = 64 << 20

    static func encoded(length: Int) -> Data {
        withUnsafeBytes(of: UInt64(length).bigEndian) { Data($0) }
    }

    /// The length at the beginning of the received data; nil if it exceeds the limit.
    static func length(in data: Data) -> Int? {
        let value = data.prefix(lengthSize).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= longest ? Int(value) : nil
    }
}
