import ATT
import BluetoothTypes
import DequeModule
import GATT
import ServiceMessages

/// The writes without response that wait on one link, in order (behaviours 5.11 to 5.13). Used on the loop only.
final class WriteCommandQueue {
    private let client: GATTClient
    private let attributes: RemoteAttributes
    private let observers: Observers
    private var commands = Deque<(user: Attachment, handle: AttributeHandle, value: PacketBuffer)>()

    init(_ client: GATTClient, _ attributes: RemoteAttributes, _ observers: Observers) {
        self.client = client
        self.attributes = attributes
        self.observers = observers
        client.bearer.onCommandRoom = { [weak self] in self?.send() }
    }

    /// Queues a write without response of a manager, up to ``ServiceLimits/writesWithoutResponse``.
    func add(_ value: PacketBuffer, to handle: AttributeHandle, of user: Attachment) {
        user.spendWriteCredit()
        guard let characteristic = attributes.characteristic(at: handle),
            characteristic.properties.contains(.writeWithoutResponse)
        else {
            observers.misuse(
                "a write without response was dropped because the attribute does not support it",
                by: user.subject
            )
            return user.returnWriteCredit(waiting: count(of: user))
        }
        guard count(of: user) < ServiceLimits.writesWithoutResponse else {
            return observers.misuse(
                "a write without response was dropped because the queue is full",
                by: user.subject
            )
        }
        commands.append((user, handle, value))
        send()
    }

    func remove(of user: Attachment? = nil) {
        commands.removeAll { user == nil || $0.user === user }
    }

    private func send() {
        while let command = commands.first, client.write(command.value, withoutResponseTo: command.handle) {
            commands.removeFirst()
            command.user.returnWriteCredit(waiting: count(of: command.user))
        }
    }

    private func count(of user: Attachment) -> Int {
        commands.reduce(0) { $0 + ($1.user === user ? 1 : 0) }
    }
}
