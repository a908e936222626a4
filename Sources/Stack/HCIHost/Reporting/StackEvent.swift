import BluetoothTypes
import HCI

/// An event in a module of the host stack. It carries values; ``description`` renders them as text for logs. Each
/// module defines its own type.
package protocol StackEvent: Sendable, CustomStringConvertible {
    /// The module that reports the event.
    static var module: StackModule { get }
    /// The severity of the event.
    var weight: EventWeight { get }
    /// The peer concerned, if any.
    var peer: BluetoothAddress? { get }
    /// The link concerned, if any.
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
