import CoreBluetooth

/// What both ends have agreed on: the service that tells the number of the channel, and what goes over the channel, a length of eight
/// octets, high one first, and as many octets.
enum FileService {
    static let service = CBUUID(string: "F1E70000-5472-616E-7366-657200000001")
    static let psm = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)
    static let lengthSize = 8
    /// More than this is not taken from anybody.
    static let longest = 64 << 20

    static func encoded(length: Int) -> Data {
        withUnsafeBytes(of: UInt64(length).bigEndian) { Data($0) }
    }

    /// The length at the beginning of what has come; nil when it is longer than what is taken.
    static func length(in data: Data) -> Int? {
        let value = data.prefix(lengthSize).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= longest ? Int(value) : nil
    }
}
