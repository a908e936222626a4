import BluetoothTypes

/// What a person has decided of an app (behaviour 1.18).
package struct AppDecision: Hashable, Sendable {
    /// Octets of a path that is kept. A decision about a program with a longer one holds for every program of that app.
    package static let maximumExecutable = 1_024

    /// What was decided.
    package var permission: AppPermission
    /// The program that the decision is about, by its path; nil for every program of the app.
    package var executable: String?

    /// A decision.
    package init(_ permission: AppPermission, executable: String? = nil) {
        self.permission = permission
        self.executable = executable.flatMap { $0.utf8.count <= Self.maximumExecutable ? $0 : nil }
    }
}

/// The decisions about apps, as they are saved (behaviour 1.18).
package struct PermissionRecord: Hashable, Sendable {
    /// The version that this code writes. Version 1, which knew an app by its name alone, is read as well.
    package static let version: UInt16 = 2
    /// Apps with a decision (AB-G05).
    package static let maximumApps = 1_024

    /// The version of what was read.
    package var version = PermissionRecord.version
    /// The decisions. In version 1 the owner of each app is 0.
    package var decisions: [AppIdentity: AppDecision]

    /// A record of the current version.
    package init(_ decisions: [AppIdentity: AppDecision]) {
        self.decisions = decisions
    }

    /// The decisions, with those of version 1 about the apps of `user`: whoever answered sat at the service of that user.
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

    /// What entries are sorted by.
    var order: (String, UInt32) { (app.name, app.owner) }

    mutating func code<C: FieldCoder>(_ coder: inout C, version: UInt16) throws(PacketError) {
        try coder.text("app", &app.name)
        if version > 1 { try coder.field("owner", &app.owner) }
        var raw = UInt8(decision.permission.rawValue)
        try coder.field("permission", &raw)
        guard let known = AppPermission(rawValue: Int(raw)) else {
            throw PacketError(.value(UInt64(raw)), at: "permission")
        }
        decision.permission = known
        guard version > 1 else { return }
        try coder.optional("executable", &decision.executable)
        guard (decision.executable ?? "").utf8.count <= AppDecision.maximumExecutable else {
            throw PacketError(.length((decision.executable ?? "").utf8.count), at: "executable")
        }
    }
}

extension PermissionRecord: PacketFields {
    /// Of no app.
    package init() { self.init([:]) }

    /// The fields in wire order; apps by name and owner, each once.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, 1...Self.version)
        let version = version
        var entries = decisions.map { Entry(app: $0.key, decision: $0.value) }.sorted { $0.order < $1.order }
        try coder.list("apps", &entries, limit: Self.maximumApps, Entry()) { coder, entry throws(PacketError) in
            try entry.code(&coder, version: version)
        }
        guard coder.isReading else { return }
        // There is one way only to write them.
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.order < $1.order }) else {
            throw PacketError(.value(0), at: "apps")
        }
        decisions = Dictionary(uniqueKeysWithValues: entries.map { ($0.app, $0.decision) })
    }
}
