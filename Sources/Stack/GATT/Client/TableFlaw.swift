import BluetoothTypes

/// A rule of the attribute table that a server breaks, and what discovery does about it (Core Vol 3 Part G 3; AB-A08).
///
/// Discovery keeps what is usable, because Apple's system works with many of these tables. What would loop or grow
/// without bound is a ``GATTServerFault`` instead, which ends the discovery.
package struct TableFlaw: Hashable, Sendable, CustomStringConvertible {
    /// The rule, with the handle of the other attribute where two are involved.
    package enum Rule: Hashable, Sendable {
        /// A response has an attribute outside of the requested handles (Vol 3 Part F 3.4.4).
        case outsideOfRequest
        /// Two attributes or groups begin at the same handle (Part F 3.2.2).
        case declaredTwice
        /// A service ends before it begins (Part G 2.5.1).
        case endsBeforeItBegins
        /// A service runs into the next one (3.1).
        case runsInto(UInt16)
        /// A service lies inside another one (3.1).
        case liesIn(UInt16)
        /// A UUID has 32 bits, which a declaration has no room for (3.1, 3.3).
        case shortenedUUID
        /// A declaration has an impossible length or contents.
        case malformed
        /// A service includes itself (3.2).
        case includesItself
        /// An include names a service that is not there (3.2).
        case includesNothing
        /// The declaration of an include has a UUID of 128 bits (3.2).
        case longIncludeUUID
        /// The value of a characteristic is not behind its declaration and inside its service (3.3).
        case withoutValue
        /// Two characteristics have the same value (3.3).
        case sharesValue(UInt16)
        /// The value of a characteristic comes after the next declaration (3.3.1.2).
        case valueAfterNext
        /// A declaration stands among descriptors (3.3.3).
        case amongDescriptors
        /// A service includes services for which the client has no room (AB-A07).
        case tooManyIncluded
    }

    package let rule: Rule
    package let handle: UInt16

    package init(_ rule: Rule, at handle: UInt16) {
        (self.rule, self.handle) = (rule, handle)
    }

    /// The flaw, and how discovery handles it: a clause for logs and people.
    package var description: String {
        let place = handleText(handle)
        return switch rule {
        case .outsideOfRequest: "attribute \(place) is outside of the handles that were requested: ignored"
        case .declaredTwice: "two attributes have the handle \(place): the second is ignored"
        case .endsBeforeItBegins: "the service at \(place) ends before it begins: extended to the next service"
        case .runsInto(let next): "the service at \(place) runs into the one at \(handleText(next)): shortened"
        case .liesIn(let outer): "the service at \(place) lies inside the one at \(handleText(outer)): both are kept"
        case .shortenedUUID: "the declaration at \(place) has a UUID of 32 bits: kept"
        case .malformed: "the declaration at \(place) is malformed: ignored"
        case .includesItself: "the service at \(place) includes itself: the include is ignored"
        case .includesNothing: "the include at \(place) names a service that is not there: ignored"
        case .longIncludeUUID: "the include at \(place) has a UUID of 128 bits in its declaration: kept"
        case .withoutValue: "the characteristic at \(place) has no value in its service: ignored"
        case .sharesValue(let other):
            "the characteristic at \(place) has the value of the one at \(handleText(other)): ignored"
        case .valueAfterNext: "the value of the characteristic at \(place) is not behind its declaration: kept"
        case .amongDescriptors: "\(place) among descriptors is a declaration: the descriptors end there"
        case .tooManyIncluded: "the service at \(place) includes more services than this client follows: ignored"
        }
    }
}

/// Formats a handle, such as `0x002A`.
func handleText(_ handle: UInt16) -> String {
    "0x" + hexadecimal([UInt8(handle >> 8), UInt8(truncatingIfNeeded: handle)]).uppercased()
}

/// The flaws that a procedure has found, each once.
struct TableFlaws {
    static let maximum = 64

    private(set) var all: [TableFlaw] = []

    mutating func add(_ rule: TableFlaw.Rule, at handle: UInt16) {
        _ = insert(TableFlaw(rule, at: handle))
    }

    /// Adds a flaw. Returns false if it is known, or there are too many.
    mutating func insert(_ flaw: TableFlaw) -> Bool {
        guard all.count < Self.maximum, !all.contains(flaw) else { return false }
        all.append(flaw)
        return true
    }

    /// Parses the UUID of a declaration. Returns nil for an impossible length.
    mutating func parseUUID(_ octets: PacketBuffer, at handle: UInt16) -> BluetoothUUID? {
        guard let uuid = BluetoothUUID(littleEndian: octets) else {
            add(.malformed, at: handle)
            return nil
        }
        if octets.count == 4 { add(.shortenedUUID, at: handle) }
        return uuid.attributeForm
    }
}
