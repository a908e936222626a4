import BluetoothTypes
import Bonds
import Foundation

/// What peers call themselves that are not bonded, as it is written down (behaviour 2.25). A bond keeps the name of its peer.
package struct NameRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// Peers whose names are kept; those whose names were read longest ago go first (AB-G02).
    package static let maximumPeers = 512

    /// A peer.
    package struct Entry: Hashable, Sendable {
        /// How apps know it.
        package var peer: UUID
        /// What it calls itself, up to ``Bond/maximumName`` octets.
        package var name: String
    }

    /// The version of what was read.
    package var version = NameRecord.version
    /// The peers, the one whose name was read last at the end.
    package private(set) var entries: [Entry]

    /// No peer.
    package init() { entries = [] }

    /// What a peer calls itself.
    func name(of peer: UUID) -> String? { entries.first { $0.peer == peer }?.name }

    /// Keeps a name; nil keeps none. A name that is too long is not kept, and is read again.
    mutating func set(_ name: String?, of peer: UUID) {
        guard self.name(of: peer) != name else { return }
        entries.removeAll { $0.peer == peer }
        guard let name, name.utf8.count <= Bond.maximumName else { return }
        if entries.count >= Self.maximumPeers { entries.removeFirst() }
        entries.append(Entry(peer: peer, name: name))
    }
}

extension NameRecord: PacketFields {
    /// The fields in wire order.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version)
        try coder.list("peers", &entries, limit: Self.maximumPeers)
        guard coder.isReading else { return }
        guard Set(entries.map(\.peer)).count == entries.count else { throw PacketError(.value(0), at: "peers") }
    }
}

extension NameRecord.Entry: PacketFields {
    /// Nobody.
    package init() { (peer, name) = (.blank, "") }

    /// The fields in wire order.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.uuid("peer", &peer)
        try coder.text("name", &name)
        let count = name.utf8.count
        if coder.isReading, count > Bond.maximumName { throw PacketError(.length(count), at: "name") }
    }
}
