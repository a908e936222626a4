import HCI

/// The counters of rejected and unrecognized input. With a good controller all of them stay at zero, except
/// ``unknownEvents`` and ``vendorEvents``.
package struct HCICounters: Hashable, Sendable {
    /// Packets and events that were malformed, or that a controller must not send.
    package var malformed = 0
    /// Answers to commands that were not pending.
    package var unexpectedAnswers = 0
    /// Events for unknown connection handles.
    package var unknownHandles = 0
    /// Number Of Completed Packets with a count above the number of outstanding packets.
    package var clampedCredits = 0
    /// Connection Complete for handles already in use.
    package var duplicateConnections = 0
    /// Encryption reported for links to which this host gave no key.
    package var unexpectedEncryption = 0
    /// Links ended because encrypted data arrived without the event that reports the encryption.
    package var unprovenLinks = 0
    /// Data packets dropped because their handle was unknown.
    package var droppedPackets = 0
    /// Events and LE subevents without a definition in this stack, such as those of a newer controller. They are
    /// ignored.
    package var unknownEvents = 0
    /// Vendor-specific events, and answers to vendor-specific commands that were not pending.
    package var vendorEvents = 0
    /// Host Number Of Completed Packets commands that the controller refused.
    package var refusedCredits = 0
    /// Data Buffer Overflow events.
    package var bufferOverflows = 0
    /// Links ended because the controller did not report an outcome or send their data within the time-out.
    package var stalledLinks = 0
    /// Resets after failures of the controller.
    package var resets = 0

    package init() {}
}
