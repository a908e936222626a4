import BluetoothTypes
import CaptureStory
import ServiceEvents

/// One packet, layer by layer, with the places of its fields.
struct PacketDetails: Encodable {
    struct Part: Encodable {
        let layer: String
        let text: String
        /// The octets of the layer: where they begin in the packet, and how many.
        let start: Int
        let count: Int
        let fields: [PacketField]
    }

    let number: UInt64
    /// The whole packet in hexadecimal.
    let octets: String
    let parts: [Part]

    /// - Parameter parts: The layers in words, from the lowest upwards.
    init(_ packet: MonitoredPacket, _ parts: [PacketPart]) {
        number = packet.number
        octets = hexadecimal(packet.octets)
        self.parts = parts.map { part in
            let start = min(part.start, packet.octets.count)
            let count = packet.octets.count - start
            return Part(layer: part.layer.rawValue, text: part.text, start: start, count: count, fields: part.fields)
        }
    }
}
