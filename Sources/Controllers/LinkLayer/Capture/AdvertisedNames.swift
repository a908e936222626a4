import BluetoothTypes
import Radio

/// The names that devices advertise, learned from captured frames.
package struct AdvertisedNames: Sendable {
    /// The number of senders whose names are remembered; beyond it the oldest is dropped.
    static let maximum = 1_024

    private var names = Bounded<RadioNode.ID, String>(maximum)

    package init() {}

    /// The last name that a sender advertised.
    package subscript(sender: RadioNode.ID) -> String? { names[sender] }

    /// Learns the sender's name from a frame, if the frame has one that was received intact.
    package mutating func learn(from sniffed: SniffedFrame) {
        guard sniffed.frame.accessAddress == AccessAddress.advertising, !sniffed.isCorrupted,
            let pdu = try? AdvertisingPDU(reading: PacketBuffer(sniffed.frame.pdu)), let data = Self.data(of: pdu),
            let name = AdvertisingData(parsing: data).localName?.text, !name.isEmpty, names[sniffed.sender] != name
        else { return }
        names[sniffed.sender] = name
    }

    private static func data(of pdu: AdvertisingPDU) -> PacketBuffer? {
        switch pdu {
        case .connectableScannable(let body), .nonConnectable(let body), .scannable(let body), .scanResponse(let body):
            body.data
        case .extended(let body): body.data
        case .directed, .scanRequest, .connect, .connectResponse: nil
        }
    }
}
