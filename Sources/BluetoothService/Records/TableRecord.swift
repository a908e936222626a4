import BluetoothTypes
import Bonds
import Foundation
import GATT

/// The attribute tables of peers that are not bonded, as they are written down, so that they outlive the service (behaviour 4.10), and
/// not the run of the device (behaviour 4.12). A bond keeps the table of its peer.
package struct TableRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// Octets of a run's name.
    package static let maximumRun = 64

    /// A peer.
    package struct Entry: Hashable, Sendable {
        /// How apps know it.
        package var peer: UUID
        /// What was found there, ``KnownTable/maximumAttributes`` at most, and as large as that of a bond.
        package var found: AttributeCache
    }

    /// The version of what was read.
    package var version = TableRecord.version
    /// The run of the device in which they were found.
    package var run: String
    /// The peers, the one that was found last at the end; ``KnownTable/maximumPeers`` at most.
    package private(set) var entries: [Entry]

    /// No peer.
    package init(run: String) { (self.run, entries) = (run, []) }

    /// Keeps what was found at a peer; nil keeps nothing. What is too large is not kept, and is found again.
    ///
    /// - Returns: Whether that is something else than what was kept.
    mutating func set(_ found: AttributeCache?, of peer: UUID) -> Bool {
        let index = entries.firstIndex { $0.peer == peer }
        guard index.map({ entries[$0].found }) != found else { return false }
        if let index { entries.remove(at: index) }
        guard let found, found.isSmall else { return index != nil }
        if entries.count >= KnownTable.maximumPeers { entries.removeFirst() }
        entries.append(Entry(peer: peer, found: found))
        return true
    }

    /// Forgets all of them.
    mutating func removeAll() { entries.removeAll() }
}

extension AttributeCache {
    fileprivate var isSmall: Bool { count <= KnownTable.maximumAttributes && octets.count <= Bond.maximumCache }
}

extension TableRecord: PacketFields {
    /// The fields in wire order.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version)
        try coder.text("run", &run)
        try coder.list("peers", &entries, limit: KnownTable.maximumPeers)
        guard coder.isReading else { return }
        guard run.utf8.count <= Self.maximumRun else { throw PacketError(.length(run.utf8.count), at: "run") }
        guard Set(entries.map(\.peer)).count == entries.count else {
            throw PacketError(.value(0), at: "peers")
        }
    }

    /// Nobody's.
    package init() { self.init(run: "") }
}

extension TableRecord.Entry: PacketFields {
    /// Nobody.
    package init() { (peer, found) = (.blank, AttributeCache()) }

    /// The fields in wire order.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.uuid("peer", &peer)
        var octets = coder.isReading ? PacketBuffer([]) : found.octets
        try coder.octets("found", &octets)
        guard coder.isReading else { return }
        found = try AttributeCache(octets: octets)
        guard found.isSmall else { throw PacketError(.length(octets.count), at: "found") }
    }
}
