import BluetoothTypes

// The wire format of the messages between an app and the service.

extension Opening: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Opening] = [.app(Hello()), .tool(version: 0)]

    /// Codes the kind and its fields. The version comes first in every protocol version.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .app(let hello):
            try coder.kind(0, "app")
            self = try .app(coder.value("hello", hello))
        case .tool(let version):
            try coder.kind(1, "tool")
            self = try .tool(version: coder.value("version", version))
        }
    }
}

extension Opening {
    /// Returns the version of an opening of any protocol version; nil if the octets are not an opening.
    package static func version(in octets: PacketBuffer) -> UInt16? {
        var reader = FieldReader(octets)
        var (kind, version): (UInt8, UInt16) = (0, 0)
        do throws(PacketError) {
            try reader.field("kind", &kind)
            try reader.field("version", &version)
        } catch {
            return nil
        }
        return Int(kind) < kinds.count ? version : nil
    }
}

extension AppMessage: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [AppMessage] = [
        .openManager(ManagerID(0), .central, ManagerOptions()),
        .closeManager(ManagerID(0)),
        .request(ManagerID(0), Request()),
        .query(ManagerID(0), number: 0, Query()),
        .misuse(""),
        .eventsRead(ManagerID(0), count: 0),
        .callSite(0),
        .note(ManagerID(0), AppNote()),
        .place(0, nil),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .openManager(var manager, var role, var options):
            try coder.kind(0, "openManager")
            try coder.value("manager", &manager)
            try coder.value("role", &role)
            try coder.value("options", &options)
            self = .openManager(manager, role, options)
        case .closeManager(let manager):
            try coder.kind(1, "closeManager")
            self = try .closeManager(coder.value("manager", manager))
        case .request(let manager, let request):
            try coder.kind(2, "request")
            self = try .request(coder.value("manager", manager), coder.value("request", request))
        case .query(var manager, var number, var query):
            try coder.kind(3, "query")
            try coder.value("manager", &manager)
            try coder.value("number", &number)
            try coder.value("query", &query)
            self = .query(manager, number: number, query)
        case .misuse(let text):
            try coder.kind(4, "misuse")
            self = try .misuse(coder.value("text", text))
        case .eventsRead(let manager, let count):
            try coder.kind(5, "eventsRead")
            self = try .eventsRead(coder.value("manager", manager), count: coder.value("count", count))
        case .callSite(let number):
            try coder.kind(6, "callSite")
            self = try .callSite(coder.value("number", number))
        case .note(let manager, let note):
            try coder.kind(7, "note")
            self = try .note(coder.value("manager", manager), coder.value("note", note))
        case .place(let number, let text):
            try coder.kind(8, "place")
            self = try .place(coder.value("number", number), coder.value("text", text))
        }
    }
}

extension ServiceMessage: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ServiceMessage] = [
        .welcome(Welcome()),
        .event(ManagerID(0), Event()),
        .reply(number: 0, .success(Reply())),
        .goodbye(ServiceError()),
        .adviceWanted(false),
        .placeWanted(0),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .welcome(let welcome):
            try coder.kind(0, "welcome")
            self = try .welcome(coder.value("welcome", welcome))
        case .event(let manager, let event):
            try coder.kind(1, "event")
            self = try .event(coder.value("manager", manager), coder.value("event", event))
        case .reply(let number, let reply):
            try coder.kind(2, "reply")
            self = try .reply(number: coder.value("number", number), coder.result("reply", reply))
        case .goodbye(let error):
            try coder.kind(3, "goodbye")
            self = try .goodbye(coder.value("error", error))
        case .adviceWanted(let isWanted):
            try coder.kind(4, "adviceWanted")
            self = try .adviceWanted(coder.value("is wanted", isWanted))
        case .placeWanted(let number):
            try coder.kind(5, "placeWanted")
            self = try .placeWanted(coder.value("number", number))
        }
    }
}

extension Hello: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(AppIdentity(name: "")) }

    /// Codes the fields in wire order. The version comes first in every protocol version.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("version", &version)
        try coder.value("app", &app.name)
        try coder.value("declaration", &declaration)
        try coder.value("accessory setup", &declaration.setup)
        try coder.value("kind", &declaration.kind)
        try coder.value("supports live activities", &declaration.supportsLiveActivities)
    }
}

extension AppDeclaration: PacketFields, MessageValue {
    /// Creates the declaration of an app that declares nothing.
    public init() { self.init(displayName: nil) }

    /// Codes the fields in wire order, without ``setup`` and ``supportsLiveActivities``, which records of before lack.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("display name", &displayName)
        try coder.value("usage description", &usageDescription)
        backgroundModes = BackgroundModes(rawValue: try coder.value("background modes", backgroundModes.rawValue))
        try coder.value("uses accessory setup", &usesAccessorySetup)
        try coder.list("launch command", of: "argument", &launchCommand, limit: ServiceLimits.launchArguments)
        try coder.value("is managed", &isManaged)
    }
}

extension ProcessKind: PacketFields, MessageValue {
    /// Creates the kind of an app.
    public init() { self = .app }

    /// Codes the number of the kind, and the extension point or package type.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var (number, _, detail) = fields
        try coder.value("kind", &number)
        try coder.value("detail", &detail)
        guard coder.isReading else { return }
        guard let kind = ProcessKind(number, detail) else { throw PacketError(.value(UInt64(number)), at: "kind") }
        self = kind
    }
}

extension Welcome: PacketFields, MessageValue {
    /// Codes the fields in wire order. The version comes first in every protocol version.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("version", &version)
        try coder.value("writes without response", &writesWithoutResponse)
        try coder.value("value updates", &valueUpdates)
        try coder.value("managers", &managers)
        try coder.value("channels", &channels)
        try coder.value("channel window", &channelWindow)
        try coder.value("message", &message)
    }
}

extension ManagerID: WireValue, MessageValue {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

extension ManagerRole: PacketFields, MessageValue {
    /// Creates the role of a central manager.
    public init() { self = .central }

    /// Codes the role: 0 for a central manager, 1 for a peripheral manager, 2 for a session of AccessorySetupKit,
    /// 3 for the Live Activities of an app.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        let roles = [ManagerRole.central, .peripheral, .accessorySetup, .activities]
        let number = try coder.value("role", UInt8(roles.firstIndex(of: self) ?? 0))
        guard roles.indices.contains(Int(number)) else { throw PacketError(.value(UInt64(number)), at: "role") }
        self = roles[Int(number)]
    }
}

extension ManagerOptions: PacketFields, MessageValue {
    /// Creates the default options.
    public init() { self.init(showsPowerAlert: true) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("shows power alert", &showsPowerAlert)
        try coder.value("restore identifier", &restoreIdentifier)
        try coder.value("is reopened", &isReopened)
    }
}

extension LocalAttributeID {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

// The wire format of channel messages.

extension ChannelID: WireValue, MessageValue {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

extension ChannelRequest: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ChannelRequest] = [
        .grant(0),
        .send([]),
        .close,
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .grant(let count):
            try coder.kind(0, "grant")
            self = try .grant(coder.value("count", count))
        case .send(let octets):
            try coder.kind(1, "send")
            self = try .send(coder.value("octets", octets))
        case .close: try coder.kind(2, "close")
        }
    }
}

extension ChannelEvent: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ChannelEvent] = [
        .received([]),
        .room(0),
        .ended(nil),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .received(let octets):
            try coder.kind(0, "received")
            self = try .received(coder.value("octets", octets))
        case .room(let count):
            try coder.kind(1, "room")
            self = try .room(coder.value("count", count))
        case .ended(let error):
            try coder.kind(2, "ended")
            self = try .ended(coder.value("error", error))
        }
    }
}
