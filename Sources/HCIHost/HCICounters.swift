import HCI

/// What a host has refused to believe, or does not know. Each but those of unknown and maker's events should stay at
/// zero with a good controller.
package struct HCICounters: Hashable, Sendable {
    /// Packets and events whose octets could not be read, or that a controller must not send.
    package var malformed = 0
    /// Answers to commands that were not under way.
    package var unexpectedAnswers = 0
    /// Events about connections that do not exist.
    package var unknownHandles = 0
    /// Reports of more completed packets than were outstanding.
    package var clampedCredits = 0
    /// Connection Complete for connections that exist.
    package var duplicateConnections = 0
    /// Encryption that nobody on this side began.
    package var unexpectedEncryption = 0
    /// Links that were ended since data came encrypted without the event that says so.
    package var unprovenLinks = 0
    /// Data for connections that do not exist, dropped.
    package var droppedPackets = 0
    /// Events, LE events among them, that nobody has described. Tolerated: a newer controller may know more of them.
    package var unknownEvents = 0
    /// Events of the controller's maker, and answers to its maker's commands that were not under way.
    package var vendorEvents = 0
    /// Reports of completed packets that the controller refused.
    package var refusedCredits = 0
    /// How often the controller said that it got more data than it had room for.
    package var bufferOverflows = 0
    /// Links that were ended since the controller did not do what it owed about them.
    package var stalledLinks = 0
    /// Resets that the controller's failures made necessary.
    package var resets = 0

    /// Nothing so far.
    package init() {}
}
