import BluetoothTypes
import HCI

/// The data path of one LE connection as the layers above HCI see it: whole L2CAP PDUs down, fragments up.
///
/// Lives on the loop; everything is called there.
package protocol ACLLink: AnyObject {
    /// The connection's number at the controller.
    var handle: ConnectionHandle { get }

    /// Queues an L2CAP PDU, basic header included. It is cut into fragments that the controller takes and sent as the
    /// controller's buffers allow, in order. After the link is gone nothing happens.
    func send(_ pdu: consuming PacketBuffer)

    /// PDUs that wait, wholly or in part, for buffers of the controller.
    var queuedPDUs: Int { get }

    /// Called when a PDU has left the queue, so that there is room for another.
    var onDrain: (() -> Void)? { get set }

    /// Takes each fragment that arrives; `isStart` tells whether a PDU begins with it (Core Vol 4 Part E 5.4.2).
    var onReceive: ((_ fragment: PacketBuffer, _ isStart: Bool) -> Void)? { get set }
}
