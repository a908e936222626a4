import BluetoothTypes
import Foundation

extension Data {
    /// Copies the octets of a packet. The generic initializer for sequences checks its argument's type at run time,
    /// which is slower.
    package init(_ buffer: PacketBuffer) {
        self = buffer.withUnsafeBytes { octets in
            octets.baseAddress.map { Data(bytes: $0, count: octets.count) } ?? Data()
        }
    }
}
