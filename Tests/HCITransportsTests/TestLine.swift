import BluetoothTypes
import HCI
import HCITransports

/// The end of an octet stream whose other end is the test.
final class TestLine: OctetLine {
    var onReceive: (([UInt8]) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    /// Called with the octets of each ``send(_:)``.
    var onSend: ((PacketBuffer) -> Void)?
    let place = "line"
    /// The octets sent, one entry for each ``send(_:)``.
    private(set) var sent: [PacketBuffer] = []
    private(set) var isOpen = true

    /// All octets sent so far.
    var octets: [UInt8] { sent.flatMap(\.bytes) }

    func send(_ octets: PacketBuffer) {
        sent.append(octets)
        onSend?(octets)
    }

    func close() { isOpen = false }
}
