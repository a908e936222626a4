/// The buffers that the host announces to the controller (Core Vol 4 Part E 4.2).
package struct HostBuffers: Hashable, Sendable {
    /// The announced maximum ACL payload, in octets. The host accepts longer payloads as well.
    package var packetLength: UInt16
    /// The number of packets that the controller may send before the host reports them consumed; at least 1.
    package var packetCount: UInt16

    /// Creates host buffers. A `packetCount` of 0 becomes 1.
    package init(packetLength: UInt16 = 1_021, packetCount: UInt16 = 64) {
        self.packetLength = packetLength
        self.packetCount = max(packetCount, 1)
    }
}
