import BluetoothTypes
import Foundation
import GATT
import Security
import ServiceMessages

/// The saved attribute tables of peers that are not bonded. They outlive the service (behaviour 4.10), but not a
/// restart of the device (behaviour 4.12). A bond contains the table of its peer.
package struct TableRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// The maximum length of ``run``, in octets.
    package static let maximumRun = 64

    /// The table of one peer.
    package struct Entry: Hashable, Sendable {
        /// The identifier that apps know the peer by.
        package var peer: UUID
        /// The table, ``KnownTable/maximumAttributes`` at most, and no larger than that of a bond.
        package var found: AttributeCache
    }

    /// The version that the record was read from.
    package var version = TableRecord.version
    /// The boot of the device in which the tables were read.
    package var run: String
    /// The tables, the most recently read one last; ``KnownTable/maximumPeers`` at most.
    package private(set) var entries: [Entry]

    package init(run: String) { (self.run, entries) = (run, []) }

    /// Keeps the table of a peer, or removes it if `found` is nil. A table that is too large is not kept, so it is
    /// discovered again.
    ///
    /// - Returns: Whether the record has changed.
    mutating func set(_ found: AttributeCache?, of peer: UUID) -> Bool {
        let index = entries.firstIndex { $0.peer == peer }
        guard index.map({ entries[$0].found }) != found else { return false }
        if let index { entries.remove(at: index) }
        guard let found, found.isSmall else { return index != nil }
        if entries.count >= KnownTable.maximumPeers { entries.removeFirst() }
        entries.append(Entry(peer: peer, found: found))
        return true
    }

    mutating func removeAll() { entries.removeAll() }
}

extension AttributeCache {
    fileprivate var isSmall: Bool { count <= KnownTable.maximumAttributes && octets.count <= Bond.maximumCache }
}

extension TableRecord: PacketFields {
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version...Self.version)
        try coder.value("run", &run)
        try coder.list("peers", &entries, limit: KnownTable.maximumPeers)
        guard coder.isReading else { return }
        guard run.utf8.count <= Self.maximumRun else { throw PacketError(.length(run.utf8.count), at: "run") }
        guard Set(entries.map(\.peer)).count == entries.count else {
            throw PacketError(.value(0), at: "peers")
        }
    }

    package init() { self.init(run: "") }
}

extension TableRecord.Entry: PacketFields, MessageValue {
    package init() { (peer, found) = (.blank, AttributeCache()) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("peer", &peer)
        var octets = coder.isReading ? PacketBuffer([]) : found.octets
        try coder.value("found", &octets)
        guard coder.isReading else { return }
        found = try AttributeCache(octets: octets)
        guard found.isSmall else { throw PacketError(.length(octets.count), at: "found") }
    }
}
