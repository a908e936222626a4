import BluetoothTypes
import HCI

/// An event in a module of the host stack. It carries values; ``description`` renders them as text for logs. Each
/// module defines its own type.
package protocol StackEvent: Sendable, CustomStringConvertible {
    static var module: StackModule { get }
    var weight: EventWeight { get }
    var peer: BluetoothAddress? { get }
    var link: ConnectionHandle? { get }
    /// Further log metadata, by name.
    var details: [String: String] { get }
}

extension StackEvent {
    package var peer: BluetoothAddress? { nil }
    package var link: ConnectionHandle? { nil }
    package var details: [String: String] { [:] }
}

/// The modules of the host stack that report events.
package enum StackModule: CaseIterable, Sendable {
    /// HCIHost: the controller and its transport.
    case host
    /// Privacy: private addresses and their resolution.
    case privacy
    /// Security: pairing, bonds, and the protection of links.
    case security
    /// GAP: advertising, scanning, connecting.
    case access
}

/// The severity of an event that apps are not notified of.
package enum EventWeight: Sendable {
    /// An expected event, for debugging only.
    case detail
    /// An event worth recording.
    case information
    /// An unusual event that is not an error.
    case notice
    /// An event that should not occur.
    case warning
    /// A failure: part of the stack does not work.
    case error
}

/// The counters of rejected and unrecognized input. With a good controller all of them stay at zero, except
/// ``unknownEvents`` and ``vendorEvents``.
package struct HCICounters: Hashable, Sendable {
    /// Packets and events that were malformed, or that a controller must not send.
    package var malformed = 0
    /// Answers to commands that were not pending.
    package var unexpectedAnswers = 0
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
    package var bufferOverflows = 0
    /// Links ended because the controller did not report an outcome or send their data within the time-out.
    package var stalledLinks = 0
    package var resets = 0

    package init() {}
}
