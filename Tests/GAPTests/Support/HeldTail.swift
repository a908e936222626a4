import BluetoothTypes
import HCIHost

/// Sits between a connection and its L2CAP, and holds back the rest of a PDU until released: the effect of an
/// injector's timing on fragments.
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

    /// Whether a rest is held back.
    var isHolding: Bool { tail != nil }

    /// Lets only so many octets of the next PDU through.
    func hold(after length: Int) { self.length = length }

    /// Delivers the rest that was held back.
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
