import BluetoothTypes

/// Listens whether somebody speaks the three-wire protocol, before there is a line.
package struct SLIPFrames {
    /// The first thing that is said.
    package static var sync: PacketBuffer {
        PacketBuffer(SLIP.encode(ThreeWirePacket(.linkControl, ThreeWireMessage.sync.payload).frame))
    }

    private var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)

    /// Nothing has been heard.
    package init() {}

    /// Whether octets complete a packet.
    package mutating func hasPacket(in octets: [UInt8]) -> Bool {
        decoder.take(octets).contains { (try? ThreeWirePacket(frame: $0)) != nil }
    }
}
