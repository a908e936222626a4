import BluetoothTypes
import Foundation

extension Data {
    /// A copy of the octets. The initialiser for all sequences looks up at run time what it was given.
    package init(_ buffer: PacketBuffer) {
        self = buffer.withUnsafeBytes { octets in
            octets.baseAddress.map { Data(bytes: $0, count: octets.count) } ?? Data()
        }
    }
}
