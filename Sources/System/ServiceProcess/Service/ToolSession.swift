import Administration
import BluetoothService
import BluetoothTypes
import ServiceMessages

/// The conversation between a tool and the service over a connection. Used on the event loop.
final class ToolSession: Conversation {
    var dismiss: ((ServiceError) -> Void)?

    private let conversation: ToolConversation

    init(
        _ system: BluetoothSystem,
        _ rights: ToolRights,
        user: UInt32,
        knowsProcess: Bool,
        _ line: any MessageLine
    ) {
        conversation = ToolConversation(
            system: system,
            rights: rights,
            user: user,
            knowsProcess: knowsProcess,
            hasRoom: { line.hasRoom },
            send: { line.send($0.encoded()) }
        )
    }

    func begin() {}

    func isProcess(of app: AppIdentity) -> Bool { conversation.isProcess(of: app) }

    func received(_ message: PacketBuffer) throws(PacketError) -> String? {
        conversation.handle(try ToolMessage(reading: message))
        return nil
    }

    func closingMessage(_ error: ServiceError) -> PacketBuffer { ToolReply.goodbye(error).encoded() }

    func roomChanged(_ hasRoom: Bool) { conversation.canSend = hasRoom }

    func ended() { conversation.close() }
}
