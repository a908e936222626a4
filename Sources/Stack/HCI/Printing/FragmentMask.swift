import BluetoothTypes

/// A machine that finds the secrets in fragments of L2CAP PDUs, on HCI or on the air: the Security Manager's PDUs,
/// except for those without keys or values of the key exchange.
///
/// A stream has the fragments of one direction of a link.
package struct FragmentMask<Stream: Hashable & Sendable>: Sendable {
    /// The streams whose current PDU has no secrets.
    private var open: Set<Stream> = []

    package init() {}

    /// Returns the place in a fragment from which on it is secret; nil if nothing is. Call it for all fragments, in
    /// their order. A fragment of a PDU whose beginning is unknown is secret.
    package mutating func secrets(in fragment: PacketBuffer, isStart: Bool, of stream: Stream) -> Int? {
        guard isStart else { return open.contains(stream) ? nil : 0 }
        open.remove(stream)
        // The header of an L2CAP PDU, and the code of a command (Core Vol 3 Part A 3.1).
        guard fragment.count >= 4 else { return 2 }
        let isSecurity = fragment[2] == 0x06 && fragment[3] == 0
        let isHarmless = fragment.count > 4 && FragmentSecrets.harmlessCommands.contains(fragment[4])
        guard !isSecurity || isHarmless else { return 5 }
        if open.count >= FragmentSecrets.maximumStreams { open.removeAll() }
        open.insert(stream)
        return nil
    }
}

private enum FragmentSecrets {
    /// The maximum number of streams whose current PDU is known.
    static let maximumStreams = 512
    /// The features, the failure, the identity address, the Security Request and keypresses (Core Vol 3 Part H 3.3).
    static let harmlessCommands: Set<UInt8> = [0x01, 0x02, 0x05, 0x09, 0x0B, 0x0E]
}
