/// Correction of implausible buffer sizes (quirk 14).
extension ControllerInformation {
    /// The minimum size of a buffer, in octets (Core Vol 4 Part E 7.8.2).
    static let smallestBuffer = 27
    /// The size of a buffer that holds the longest link-layer PDU whole, in octets (Vol 6 Part B 2.4).
    static let usualBuffer = 251
    /// A size above that of any LE controller's buffers, in octets. Larger values are replaced by ``usualBuffer``.
    static let largestBuffer = 4_096

    /// Clamps the buffer sizes to plausible values. A controller that reports no buffers would be unusable, so the host
    /// uses one buffer of the minimum size.
    mutating func clampBuffers() {
        if aclBufferCount <= 0 { (aclBufferSize, aclBufferCount) = (Self.smallestBuffer, 1) }
        if aclBufferSize > Self.largestBuffer { aclBufferSize = Self.usualBuffer }
        aclBufferSize = max(aclBufferSize, Self.smallestBuffer)
    }
}
