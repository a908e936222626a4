import BluetoothTypes
import HCI

extension SecurityLevel {
    package static let cases: [SecurityLevel] = [.none, .encrypted, .authenticated, .secureConnections]
}

extension Result {
    package var isSuccess: Bool { if case .success = self { true } else { false } }
    package var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension HCIPacket {
    /// The Security Manager command in the packet, its code first; nil for other packets.
    package var securityCommand: [UInt8]? {
        guard kind == .acl, bytes.count > 8, bytes[6] == 6, bytes[7] == 0 else { return nil }
        return Array(bytes.bytes.dropFirst(8))
    }
}
