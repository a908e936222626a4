import BluetoothTypes
import HCI

/// The data path of one LE connection for the layers above HCI: whole L2CAP PDUs down, fragments up.
///
/// Use it on the event loop only; all callbacks run there.
package protocol ACLLink: AnyObject {
    /// The connection handle, which the controller may reuse after the link has ended.
    var handle: ConnectionHandle { get }

    /// Queues an L2CAP PDU, basic header included. The PDU is fragmented to the controller's buffer size and sent in
    /// order as buffers become free. Does nothing after the link has ended.
    func send(_ pdu: consuming PacketBuffer)

    /// The number of PDUs that wait, wholly or in part, for buffers of the controller.
    var queuedPDUs: Int { get }

    /// Called when a PDU has left the queue and there is space for another.
    var onDrain: (() -> Void)? { get set }

    /// Called with each fragment that arrives; `isStart` indicates whether a PDU begins with it (Core Vol 4 Part E
    /// 5.4.2).
    var onReceive: ((_ fragment: PacketBuffer, _ isStart: Bool) -> Void)? { get set }
}
