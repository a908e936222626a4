import BluetoothTypes
import HCI

/// Something that happened in a room of the host stack: the values themselves, of which ``description`` makes words for those
/// who want some. Each room has its own.
package protocol StackHappening: Sendable, CustomStringConvertible {
    /// Where it happened.
    static var room: StackRoom { get }
    /// How much it matters.
    var weight: HappeningWeight { get }
    /// The peer that it is about, if it is about one.
    var peer: BluetoothAddress? { get }
    /// The link that it is about, if it is about one.
    var link: ConnectionHandle? { get }
    /// What else belongs to the words in a log, by name.
    var details: [String: String] { get }
}

extension StackHappening {
    /// No peer in particular.
    package var peer: BluetoothAddress? { nil }
    /// No link in particular.
    package var link: ConnectionHandle? { nil }
    /// Nothing.
    package var details: [String: String] { [:] }
}

/// The rooms of the host stack in which something happens that is told.
package enum StackRoom: CaseIterable, Sendable {
    /// HCIHost: the controller and its line.
    case host
    /// Privacy: addresses.
    case privacy
    /// Security: pairing, bonds, and the protection of links.
    case security
    /// GAP: advertising, scanning, connecting.
    case access
}

/// How much something matters that apps see nothing of.
package enum HappeningWeight: Sendable {
    /// It is to be expected.
    case detail
    /// It is good to know.
    case information
    /// It is not usual, and nothing is wrong.
    case notice
    /// It should not be.
    case warning
    /// Something does not work.
    case error
}
