import BluetoothTypes
import ServiceMessages

/// The saved accessories of apps (behaviour 16.7).
package struct AccessoryRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1

    /// The version that the record was read from.
    package var version = AccessoryRecord.version
    /// The accessories of each app, the oldest first. An app in the table has at least one.
    package var table: [AppIdentity: [SetUpAccessory]]

    package init(_ table: [AppIdentity: [SetUpAccessory]]) { self.table = table }
}

/// One app of an ``AccessoryRecord``.
private struct AppEntry {
    var app = AppIdentity(name: "")
    var accessories: [SetUpAccessory] = []

    /// The sort key of entries.
    var order: (String, UInt32) { (app.name, app.owner) }
}

extension AccessoryRecord: PacketFields {
    package init() { self.init([:]) }

    /// Codes the fields in wire order. Apps are sorted by name and owner, and unique.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version...Self.version)
        var entries = table.map { AppEntry(app: $0.key, accessories: $0.value) }.sorted { $0.order < $1.order }
        let limit = ServiceLimits.accessories
        try coder.list("apps", &entries, limit: limit.total, AppEntry()) { coder, entry throws(PacketError) in
            try coder.value("app", &entry.app.name)
            try coder.value("owner", &entry.app.owner)
            try coder.list("accessories", of: "accessory", &entry.accessories, limit: limit.app)
        }
        guard coder.isReading else { return }
        // The sort order gives each table exactly one encoding.
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.order < $1.order }) else {
            throw PacketError(.value(0), at: "apps")
        }
        for entry in entries where Set(entry.accessories.map(\.identifier)).count != entry.accessories.count {
            throw PacketError(.value(UInt64(entry.accessories.count)), at: "accessories")
        }
        table = Dictionary(uniqueKeysWithValues: entries.map { ($0.app, $0.accessories) })
    }
}
