/// Buffers that cannot be (quirk 14).
extension ControllerInformation {
    /// The least that a buffer holds (Core Vol 4 Part E 7.8.2), in octets.
    static let smallestBuffer = 27
    /// What a buffer holds that takes the longest PDU of the link layer whole (Vol 6 Part B 2.4), in octets.
    static let usualBuffer = 251
    /// More octets than any LE controller has in a buffer. What is above says nothing.
    static let largestBuffer = 4_096

    /// A controller that cannot hold a single packet could not be used at all, so it is not believed: it gets one at a time, as
    /// short as every controller takes.
    mutating func clampBuffers() {
        if aclBufferCount <= 0 { (aclBufferSize, aclBufferCount) = (Self.smallestBuffer, 1) }
        if aclBufferSize > Self.largestBuffer { aclBufferSize = Self.usualBuffer }
        aclBufferSize = max(aclBufferSize, Self.smallestBuffer)
    }
}
