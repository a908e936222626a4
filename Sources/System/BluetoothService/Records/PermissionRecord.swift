import BluetoothTypes
import ServiceMessages

/// The user's decision about an app (behaviour 1.18).
package struct AppDecision: Hashable, Sendable {
    /// The maximum length of a saved path, in octets. With a longer one, a decision applies to all programs of the app.
    package static let maximumExecutable = 1_024

    package var permission: AppPermission
    /// The path of the program that the decision applies to. Nil for every program of the app.
    package var executable: String?

    /// Creates a decision. Discards an `executable` that is too long.
    package init(_ permission: AppPermission, executable: String? = nil) {
        self.permission = permission
        self.executable = executable.flatMap { $0.utf8.count <= Self.maximumExecutable ? $0 : nil }
    }
}

/// The saved decisions about apps (behaviour 1.18).
package struct PermissionRecord: Hashable, Sendable {
    /// The version that this code writes. It also reads version 1, which identifies an app by its name alone.
    package static let version: UInt16 = 2
    /// The number of apps with a decision (AB-G05).
    package static let maximumApps = 1_024

    /// The version that the record was read from.
    package var version = PermissionRecord.version
    /// The decisions. In a version 1 record each app has the owner 0.
    package var decisions: [AppIdentity: AppDecision]

    package init(_ decisions: [AppIdentity: AppDecision]) {
        self.decisions = decisions
    }

    /// Returns the decisions. Those of version 1 are about apps of `user`, the user of the service that had saved them.
    package func decisions(ownedBy user: UInt32) -> [AppIdentity: AppDecision] {
        guard version == 1 else { return decisions }
        let owned = decisions.map { (AppIdentity(name: $0.key.name, owner: user), $0.value) }
        return Dictionary(owned) { first, _ in first }
    }
}

/// One app of a ``PermissionRecord``.
private struct Entry {
    var app = AppIdentity(name: "")
    var decision = AppDecision(.notDetermined)

    /// The sort key of entries.
    var order: (String, UInt32) { (app.name, app.owner) }

    mutating func code<C: FieldCoder>(_ coder: inout C, version: UInt16) throws(PacketError) {
        try coder.value("app", &app.name)
        if version > 1 { try coder.value("owner", &app.owner) }
        try coder.choice("permission", &decision.permission)
        guard version > 1 else { return }
        try coder.value("executable", &decision.executable)
        guard (decision.executable ?? "").utf8.count <= AppDecision.maximumExecutable else {
            throw PacketError(.length((decision.executable ?? "").utf8.count), at: "executable")
        }
    }
}

extension PermissionRecord: PacketFields {
    package init() { self.init([:]) }

    /// Codes the fields in wire order. Apps are sorted by name and owner, and unique.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, 1...Self.version)
        let version = version
        var entries = decisions.map { Entry(app: $0.key, decision: $0.value) }.sorted { $0.order < $1.order }
        try coder.list("apps", &entries, limit: Self.maximumApps, Entry()) { coder, entry throws(PacketError) in
            try entry.code(&coder, version: version)
        }
        guard coder.isReading else { return }
        // The sort order gives each set of decisions exactly one encoding.
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.order < $1.order }) else {
            throw PacketError(.value(0), at: "apps")
        }
        decisions = Dictionary(uniqueKeysWithValues: entries.map { ($0.app, $0.decision) })
    }
}
