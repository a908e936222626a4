import BluetoothTypes
import ServiceMessages

/// The saved state of an app, which outlives its process (behaviours 10.3, 10.15).
package struct AppRecord: Hashable, Sendable {
    /// The version that this code writes. It also reads 1, which lacks ``executable``, 2, which lacks ``process``, and 3,
    /// which lacks the setup of the declaration and the kind of the process.
    package static let version: UInt16 = 4

    /// The version that the record was read from.
    package var version = AppRecord.version
    package var app: AppIdentity
    /// The declaration that applies to the preserved state.
    package var declaration: AppDeclaration
    /// The path of the program that created the managers, or nil if unknown.
    package var executable: String?
    /// The app's last process, or nil if unknown.
    package var process: ProcessMark?
    /// The managers with a restore identifier, the oldest first.
    package var managers: [ManagerRecord]

    package init(
        app: AppIdentity,
        declaration: AppDeclaration,
        executable: String? = nil,
        managers: [ManagerRecord],
        process: ProcessMark? = nil
    ) {
        self.app = app
        self.declaration = declaration
        self.executable = executable
        self.managers = managers
        self.process = process
    }
}

/// A manager of an ``AppRecord``.
package struct ManagerRecord: Hashable, Sendable {
    package var role: ManagerRole
    /// The options of the manager. They contain a restore identifier.
    package var options: ManagerOptions
    /// The intent for the manager. Saved as the requests that lead to it.
    package var intent: Intent

    package init(role: ManagerRole, options: ManagerOptions, intent: Intent) {
        self.role = role
        self.options = options
        self.intent = intent
    }
}

extension AppRecord: PacketFields {
    package init() { self.init(app: AppIdentity(name: ""), declaration: AppDeclaration(), managers: []) }

    /// The version comes first in all versions. A record of an unsupported version is not read further.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, 1...Self.version)
        try coder.value("app", &app.name)
        try coder.value("owner", &app.owner)
        try coder.value("declaration", &declaration)
        if version > 1 { try coder.value("executable", &executable) }
        try coder.list("managers", &managers, limit: ServiceLimits.managers)
        if version > 2 { try coder.value("process", &process) }
        if version > 3 { try coder.value("accessory setup", &declaration.setup) }
        if version > 3 { try coder.value("kind", &declaration.kind) }
    }
}

extension ManagerRecord: PacketFields, MessageValue {
    package init() {
        self.init(
            role: .central,
            options: ManagerOptions(showsPowerAlert: true, restoreIdentifier: ""),
            intent: Intent()
        )
    }

    /// Codes the fields in wire order. Refuses requests that a manager of this role never saves.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("role", &role)
        try coder.value("options", &options)
        var requests = intent.requests
        try coder.list("intent", &requests, limit: ServiceLimits.keptRequests)
        guard coder.isReading else { return }
        guard options.restoreIdentifier != nil, !options.isReopened else { throw PacketError(.value(0), at: "options") }
        guard requests.allSatisfy({ $0.isIntended(by: role) }) else { throw PacketError(.value(0), at: "intent") }
        intent = Intent(requests)
    }
}

extension FieldCoder {
    /// Codes the version of a record. Refuses any other version before anything else is read.
    mutating func version(_ version: inout UInt16, _ known: ClosedRange<UInt16>) throws(PacketError) {
        try field("version", &version)
        if isReading, !known.contains(version) { throw PacketError(.value(UInt64(version)), at: "version") }
    }
}
