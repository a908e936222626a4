import BluetoothTypes

/// What the person has said of apps, as it is written down (behaviour 1.18).
package struct PermissionRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// Apps of which something may be said (AB-G05).
    package static let maximumApps = 1_024

    /// The version of what was read.
    package var version = PermissionRecord.version
    /// What was said, by the name of the app.
    package var permissions: [String: AppPermission]

    /// What was said.
    package init(_ permissions: [String: AppPermission]) {
        self.permissions = permissions
    }
}

/// One app of a ``PermissionRecord``.
private struct Entry: PacketFields {
    var app = ""
    var permission = AppPermission.notDetermined

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.text("app", &app)
        var raw = UInt8(permission.rawValue)
        try coder.field("permission", &raw)
        guard let known = AppPermission(rawValue: Int(raw)) else {
            throw PacketError(.value(UInt64(raw)), at: "permission")
        }
        permission = known
    }
}

extension PermissionRecord: PacketFields {
    /// Of no app.
    package init() { self.init([:]) }

    /// The fields in wire order; apps by name, each once.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version)
        var entries = permissions.sorted { $0.key < $1.key }.map { Entry(app: $0.key, permission: $0.value) }
        try coder.list("apps", &entries, limit: Self.maximumApps)
        guard coder.isReading else { return }
        // There is one way only to write them.
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.app < $1.app }) else {
            throw PacketError(.value(0), at: "apps")
        }
        permissions = Dictionary(uniqueKeysWithValues: entries.map { ($0.app, $0.permission) })
    }
}
