import ATT
import BluetoothTypes
import HCI

/// A packet of a capture by its place.
struct StoryMoment: Hashable, Sendable {
    /// The number of the packet in the file, from 1, as Wireshark counts.
    var packet: Int
    /// The time, in microseconds since the Unix epoch.
    var time: Int64
}

/// A packet of a capture that shows something, in words.
package struct StoryEvidence: Hashable, Sendable {
    /// A clause, such as "the peer did not respond within 30 s".
    package var text: String
    /// The number of the packet in the file, from 1, as Wireshark counts.
    package var packet: Int
    /// The time of the packet, in microseconds since the Unix epoch.
    package var unixMicroseconds: Int64
    /// The section of the specification that defines the error or the rule.
    package var section: String?

    init(_ text: String, at moment: StoryMoment, section: String? = nil) {
        (self.text, packet, unixMicroseconds, self.section) = (text, moment.packet, moment.time, section)
    }
}

/// Something that was attempted without success, and that nothing has made up for so far.
struct StoryFailure: Hashable, Sendable {
    /// The importance of a failure. The verdict names the most important one.
    enum Weight: Int, Sendable, Comparable {
        /// Nothing came of an attempt, which is no fault of anything in the capture.
        case fruitless
        case refused
        case unanswered
        case insecure
        case attempt
        case lost
        case controller

        static func < (a: Weight, b: Weight) -> Bool { a.rawValue < b.rawValue }
    }

    /// What makes up for a failure: the later success of the same.
    enum Redemption: Hashable, Sendable {
        case response(ATTOpcode, handle: UInt16?)
        case pairing
        case encryption
        /// A connection to the same peer that does not fail.
        case connection
        case channel
        case command(UInt16)
        /// Anything that the controller does afterwards.
        case progress
    }

    var weight: Weight
    /// What was attempted, as a gerund with a preposition that the peer's name follows, such as "pairing with".
    var attempted: String
    var cause: StoryEvidence
    /// What followed from the failure.
    var effect: StoryEvidence?
    /// The connection, and its peer.
    var connection: Int?
    var peer: BluetoothAddress?
    var redemption: Redemption
    /// How much the controller had done by then.
    var progress = 0
    /// How often it failed in the same way, on one connection after the other.
    var count = 1

    /// Whether both are the failure of the same attempt, for the same reason.
    func repeats(_ other: StoryFailure) -> Bool {
        weight == other.weight && redemption == other.redemption && attempted == other.attempted
            && peer?.value == other.peer?.value
    }
}

/// The failures of a link or of a capture, up to a bound.
struct StoryFailures: Sendable {
    private(set) var list: [StoryFailure] = []
    /// The failures beyond the bound.
    private(set) var omitted = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ failure: StoryFailure) {
        if let place = list.firstIndex(where: { $0.repeats(failure) }) {
            list[place].count += failure.count
            return
        }
        guard list.count < limit else { return omitted += 1 }
        list.append(failure)
    }

    /// Removes the failures that a success makes up for.
    @discardableResult
    mutating func redeem(_ success: StoryFailure.Redemption) -> [StoryFailure] {
        guard !list.isEmpty else { return [] }
        return remove { $0.redemption == success }
    }

    /// Removes failures, and returns them in their order.
    mutating func remove(_ isMeant: (StoryFailure) -> Bool) -> [StoryFailure] {
        let removed = list.filter(isMeant)
        if !removed.isEmpty { list.removeAll(where: isMeant) }
        return removed
    }

    /// Sets what followed from the most important failure of a connection, or of all, unless something has followed already.
    mutating func follow(_ connection: Int?, _ effect: StoryEvidence, where isCause: (StoryFailure) -> Bool) {
        let places = list.indices.filter {
            (connection == nil || list[$0].connection == connection) && isCause(list[$0])
        }
        guard let place = places.max(by: { list[$0].weight < list[$1].weight }), list[place].effect == nil else {
            return
        }
        list[place].effect = effect
    }
}
