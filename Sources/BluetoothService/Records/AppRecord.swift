import BluetoothTypes

/// What is kept of an app besides its process, as it is written down (behaviours 10.3, 10.15).
package struct AppRecord: Hashable, Sendable {
    /// The version that this code writes. It reads version 1 too, which had no ``executable``, and version 2, which had no ``process``.
    package static let version: UInt16 = 3

    /// The version of what was read.
    package var version = AppRecord.version
    /// Which app it is.
    package var app: AppIdentity
    /// What it says of itself, by which it goes on.
    package var declaration: AppDeclaration
    /// The program whose managers these are, by its path; nil where it is not known.
    package var executable: String?
    /// The last process of the app, if it is known.
    package var process: ProcessMark?
    /// Its managers with a restore identifier, the oldest first.
    package var managers: [ManagerRecord]

    /// An app.
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
    /// Which kind it is of.
    package var role: ManagerRole
    /// What it was made with; there is a restore identifier.
    package var options: ManagerOptions
    /// What has to be asked for again: its scan and its connections, or its services and what it advertises, in the order in which
    /// it is asked for. A subscription ends with its connection and is not among it (behaviour 10.21).
    package var wishes: [Request]

    /// A manager.
    package init(role: ManagerRole, options: ManagerOptions, wishes: [Request]) {
        self.role = role
        self.options = options
        self.wishes = wishes
    }
}

extension AppRecord: PacketFields {
    /// Of nobody.
    package init() { self.init(app: AppIdentity(name: ""), declaration: AppDeclaration(), managers: []) }

    /// The fields in wire order. The version comes first in all versions, and of another one nothing else is known.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, 1...Self.version)
        try coder.text("app", &app.name)
        try coder.field("owner", &app.owner)
        try coder.field("declaration", &declaration)
        if version > 1 { try coder.optional("executable", &executable) }
        try coder.list("managers", &managers, limit: ServiceLimits.managers)
        if version > 2 { try coder.optional("process", &process) }
    }
}

extension ManagerRecord: PacketFields {
    /// One without anything.
    package init() {
        self.init(role: .central, options: ManagerOptions(showsPowerAlert: true, restoreIdentifier: ""), wishes: [])
    }

    /// The fields in wire order. What is asked for can be nothing else than what such a manager keeps.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("role", &role)
        try coder.field("options", &options)
        try coder.list("wishes", &wishes, limit: ServiceLimits.keptRequests)
        guard coder.isReading else { return }
        guard options.restoreIdentifier != nil, !options.isReopened else { throw PacketError(.value(0), at: "options") }
        guard wishes.allSatisfy({ $0.isWish(of: role) }) else { throw PacketError(.value(0), at: "wishes") }
    }
}

extension FieldCoder {
    /// The version of a record: another one is refused before anything else is read.
    mutating func version(_ version: inout UInt16, _ known: UInt16) throws(PacketError) {
        try self.version(&version, known...known)
    }

    /// The version of a record of which several are read.
    mutating func version(_ version: inout UInt16, _ known: ClosedRange<UInt16>) throws(PacketError) {
        try field("version", &version)
        if isReading, !known.contains(version) { throw PacketError(.value(UInt64(version)), at: "version") }
    }
}
