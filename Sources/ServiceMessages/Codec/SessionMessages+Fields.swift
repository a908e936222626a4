import BluetoothTypes

// The wire format of the messages between an app and the service.

extension Opening: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [Opening] { [.app(Hello()), .tool(version: 0)] }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .app: MessageKind(0, "app")
        case .tool: MessageKind(1, "tool")
        }
    }

    /// Codes the fields of this kind. The version comes first in every protocol version.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .app(var hello):
            try coder.field("hello", &hello)
            self = .app(hello)
        case .tool(var version):
            try coder.field("version", &version)
            self = .tool(version: version)
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

extension AppMessage: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [AppMessage] {
        [
            .openManager(ManagerID(0), .central, ManagerOptions()),
            .closeManager(ManagerID(0)),
            .request(ManagerID(0), Request()),
            .query(ManagerID(0), number: 0, Query()),
            .misuse(""),
            .eventsRead(ManagerID(0), count: 0),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .openManager: MessageKind(0, "openManager")
        case .closeManager: MessageKind(1, "closeManager")
        case .request: MessageKind(2, "request")
        case .query: MessageKind(3, "query")
        case .misuse: MessageKind(4, "misuse")
        case .eventsRead: MessageKind(5, "eventsRead")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .openManager(var manager, var role, var options):
            try coder.field("manager", &manager)
            try coder.field("role", &role)
            try coder.field("options", &options)
            self = .openManager(manager, role, options)
        case .closeManager(var manager):
            try coder.field("manager", &manager)
            self = .closeManager(manager)
        case .request(var manager, var request):
            try coder.field("manager", &manager)
            try coder.field("request", &request)
            self = .request(manager, request)
        case .query(var manager, var number, var query):
            try coder.field("manager", &manager)
            try coder.field("number", &number)
            try coder.field("query", &query)
            self = .query(manager, number: number, query)
        case .misuse(var text):
            try coder.text("text", &text)
            self = .misuse(text)
        case .eventsRead(var manager, var count):
            try coder.field("manager", &manager)
            try coder.field("count", &count)
            self = .eventsRead(manager, count: count)
        }
    }
}

extension ServiceMessage: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [ServiceMessage] {
        [
            .welcome(Welcome()),
            .event(ManagerID(0), Event()),
            .reply(number: 0, .success(Reply())),
            .goodbye(ServiceError()),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .welcome: MessageKind(0, "welcome")
        case .event: MessageKind(1, "event")
        case .reply: MessageKind(2, "reply")
        case .goodbye: MessageKind(3, "goodbye")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .welcome(var welcome):
            try coder.field("welcome", &welcome)
            self = .welcome(welcome)
        case .event(var manager, var event):
            try coder.field("manager", &manager)
            try coder.field("event", &event)
            self = .event(manager, event)
        case .reply(var number, var reply):
            try coder.field("number", &number)
            try coder.result("reply", &reply, Reply()) { coder, value throws(PacketError) in
                try coder.field("reply", &value)
            }
            self = .reply(number: number, reply)
        case .goodbye(var error):
            try coder.field("error", &error)
            self = .goodbye(error)
        }
    }
}

extension Hello: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(AppIdentity(name: "")) }

    /// Codes the fields in wire order. The version comes first in every protocol version.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("version", &version)
        try coder.text("app", &app.name)
        try coder.field("declaration", &declaration)
    }
}

extension AppDeclaration: PacketFields {
    /// Creates the declaration of an app that declares nothing.
    public init() { self.init(displayName: nil) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("display name", &displayName)
        try coder.optional("usage description", &usageDescription)
        var modes = backgroundModes.rawValue
        try coder.field("background modes", &modes)
        backgroundModes = BackgroundModes(rawValue: modes)
        try coder.field("uses accessory setup", &usesAccessorySetup)
        try coder.list("launch command", &launchCommand, limit: ServiceLimits.launchArguments, "") {
            coder,
            value throws(PacketError) in
            try coder.text("argument", &value)
        }
        try coder.field("is managed", &isManaged)
    }
}

extension Welcome: PacketFields {
    /// Codes the fields in wire order. The version comes first in every protocol version.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("version", &version)
        try coder.number("writes without response", &writesWithoutResponse)
        try coder.number("value updates", &valueUpdates)
        try coder.number("managers", &managers)
        try coder.number("channels", &channels)
        try coder.number("channel window", &channelWindow)
        try coder.number("message", &message)
    }
}

extension ManagerID: WireValue {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

extension ManagerRole: PacketFields {
    /// Creates the role of a central manager.
    public init() { self = .central }

    /// Codes the role: 0 for a central manager, 1 for a peripheral manager.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var number: UInt8 =
            switch self {
            case .central: 0
            case .peripheral: 1
            }
        try coder.field("role", &number)
        guard number < 2 else { throw PacketError(.value(UInt64(number)), at: "role") }
        self = number == 0 ? .central : .peripheral
    }
}

extension ManagerOptions: PacketFields {
    /// Creates the default options.
    public init() { self.init(showsPowerAlert: true) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("shows power alert", &showsPowerAlert)
        try coder.optional("restore identifier", &restoreIdentifier)
        try coder.field("is reopened", &isReopened)
    }
}

extension LocalAttributeID {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}
