import BluetoothTypes
import Foundation
import Security
import ServiceMessages

/// The saved names of peers that are not bonded (behaviour 2.25). A bond contains the name of its peer.
package struct NameRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// The number of peers whose names are kept. The names that were read longest ago go first (AB-G02).
    package static let maximumPeers = 512

    /// The name of one peer.
    package struct Entry: Hashable, Sendable {
        /// The identifier that apps know the peer by.
        package var peer: UUID
        /// The name, up to ``Bond/maximumName`` octets.
        package var name: String
    }

    /// The version that the record was read from.
    package var version = NameRecord.version
    /// The names, the most recently read one last.
    package private(set) var entries: [Entry]

    package init() { entries = [] }

    /// Returns the name of a peer, or nil if none is kept.
    func name(of peer: UUID) -> String? { entries.first { $0.peer == peer }?.name }

    /// Keeps the name of a peer; nil removes it. A name that is too long is not kept, and read from the peer again.
    mutating func set(_ name: String?, of peer: UUID) {
        guard self.name(of: peer) != name else { return }
        entries.removeAll { $0.peer == peer }
        guard let name, name.utf8.count <= Bond.maximumName else { return }
        if entries.count >= Self.maximumPeers { entries.removeFirst() }
        entries.append(Entry(peer: peer, name: name))
    }
}

extension NameRecord: PacketFields {
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version...Self.version)
        try coder.list("peers", &entries, limit: Self.maximumPeers)
        guard coder.isReading else { return }
        guard Set(entries.map(\.peer)).count == entries.count else { throw PacketError(.value(0), at: "peers") }
    }
}

extension NameRecord.Entry: PacketFields, MessageValue {
    package init() { (peer, name) = (.blank, "") }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("peer", &peer)
        try coder.value("name", &name)
        let count = name.utf8.count
        if coder.isReading, count > Bond.maximumName { throw PacketError(.length(count), at: "name") }
    }
}
