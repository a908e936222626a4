import BluetoothTypes
import HCI
import HCIHost

/// Lies between a connection and its L2CAP, and keeps the rest of a PDU back until it is told to let go: what an injector's
/// timing makes of fragments.
final class HeldTail {
    private let connection: HCIConnection
    private let inner: ((PacketBuffer, Bool) -> Void)?
    private var length: Int?
    private var tail: PacketBuffer?

    init(_ connection: HCIConnection) {
        self.connection = connection
        inner = connection.onReceive
        connection.onReceive = { [unowned self] fragment, isStart in receive(fragment, isStart) }
    }

    /// Whether something is kept back.
    var isHolding: Bool { tail != nil }

    /// Of the next PDU, only so many octets arrive.
    func hold(after length: Int) { self.length = length }

    /// The rest arrives.
    func release() {
        guard let tail else { return }
        self.tail = nil
        inner?(tail, false)
    }

    private func receive(_ fragment: PacketBuffer, _ isStart: Bool) {
        guard let length, isStart, fragment.count > length else {
            inner?(fragment, isStart)
            return
        }
        self.length = nil
        tail = fragment.suffix(after: length)
        inner?(fragment.prefix(upTo: length), true)
    }
}
