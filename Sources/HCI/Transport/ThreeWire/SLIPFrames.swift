import BluetoothTypes

/// A probe for the three-wire protocol, used before a transport exists.
package struct SLIPFrames {
    /// The octets of the SYNC message, which starts the protocol.
    package static var sync: PacketBuffer {
        PacketBuffer(SLIP.encode(ThreeWirePacket(.linkControl, ThreeWireMessage.sync.payload).frame))
    }

    private var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)

    package init() {}

    /// Decodes octets, split at any position, and returns whether they complete a valid packet.
    package mutating func hasPacket(in octets: [UInt8]) -> Bool {
        decoder.take(octets).contains { (try? ThreeWirePacket(frame: $0)) != nil }
    }
}
