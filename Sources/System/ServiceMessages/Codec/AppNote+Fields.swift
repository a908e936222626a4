import BluetoothTypes
import Foundation

extension AppNote: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [AppNote] = [
        .writeWithoutRoom(.blank), .updateWithoutRoom, .stateUnread, .restorationIgnored,
        .slowCallback(milliseconds: 0),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .writeWithoutRoom(let peer):
            try coder.kind(0, "writeWithoutRoom")
            self = .writeWithoutRoom(try coder.uuid("peer", peer))
        case .updateWithoutRoom: try coder.kind(1, "updateWithoutRoom")
        case .stateUnread: try coder.kind(2, "stateUnread")
        case .restorationIgnored: try coder.kind(3, "restorationIgnored")
        case .slowCallback(let milliseconds):
            try coder.kind(4, "slowCallback")
            self = .slowCallback(milliseconds: try coder.field("milliseconds", milliseconds))
        }
    }
}
