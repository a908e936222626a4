import BluetoothService
import BluetoothTypes
import ServiceMessages

/// The conversation between a tool and the service over a connection. Used on the event loop.
final class ToolSession: Conversation {
    var dismiss: ((ServiceError) -> Void)?

    /// Whether the tool may answer prompts for the user.
    let answers: Bool

    private let conversation: ToolConversation

    init(_ system: BluetoothSystem, _ rights: ToolRights, user: UInt32, _ line: any MessageLine) {
        answers = rights.isSuperset(of: .answer)
        conversation = ToolConversation(
            system: system,
            rights: rights,
            user: user,
            hasRoom: { line.hasRoom },
            send: { line.send($0.encoded()) }
        )
    }

    func begin() {}

    func received(_ message: PacketBuffer) throws(PacketError) -> String? {
        conversation.handle(try ToolMessage(reading: message))
        return nil
    }

    func farewell(_ error: ServiceError) -> PacketBuffer { ToolReply.goodbye(error).encoded() }

    func roomChanged(_ hasRoom: Bool) { conversation.canSend = hasRoom }

    func ended() { conversation.close() }
}
