import BluetoothTypes

// The wire format of the messages between an app and the service.

extension Opening: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Opening] = [.app(Hello()), .tool(version: 0)]

    /// Codes the kind and its fields. The version comes first in every protocol version.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .app(let hello):
            try coder.kind(0, "app")
            self = .app(try coder.field("hello", hello))
        case .tool(let version):
            try coder.kind(1, "tool")
            self = .tool(version: try coder.field("version", version))
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
            try coder.field("manager", &manager)
            try coder.field("role", &role)
            try coder.field("options", &options)
            self = .openManager(manager, role, options)
        case .closeManager(let manager):
            try coder.kind(1, "closeManager")
            self = .closeManager(try coder.field("manager", manager))
        case .request(let manager, let request):
            try coder.kind(2, "request")
            self = .request(try coder.field("manager", manager), try coder.field("request", request))
        case .query(var manager, var number, var query):
            try coder.kind(3, "query")
            try coder.field("manager", &manager)
            try coder.field("number", &number)
            try coder.field("query", &query)
            self = .query(manager, number: number, query)
        case .misuse(let text):
            try coder.kind(4, "misuse")
            self = .misuse(try coder.text("text", text))
        case .eventsRead(let manager, let count):
            try coder.kind(5, "eventsRead")
            self = .eventsRead(try coder.field("manager", manager), count: try coder.field("count", count))
        case .callSite(let number):
            try coder.kind(6, "callSite")
            self = .callSite(try coder.field("number", number))
        case .note(let manager, let note):
            try coder.kind(7, "note")
            self = .note(try coder.field("manager", manager), try coder.field("note", note))
        case .place(let number, let text):
            try coder.kind(8, "place")
            self = .place(try coder.field("number", number), try coder.optional("text", text))
        }
    }
}

extension ServiceMessage: MessageKinds {
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
            self = .welcome(try coder.field("welcome", welcome))
        case .event(let manager, let event):
            try coder.kind(1, "event")
            self = .event(try coder.field("manager", manager), try coder.field("event", event))
        case .reply(var number, var reply):
            try coder.kind(2, "reply")
            try coder.field("number", &number)
            try coder.result("reply", &reply, Reply()) { coder, value throws(PacketError) in
                try coder.field("reply", &value)
            }
            self = .reply(number: number, reply)
        case .goodbye(let error):
            try coder.kind(3, "goodbye")
            self = .goodbye(try coder.field("error", error))
        case .adviceWanted(let isWanted):
            try coder.kind(4, "adviceWanted")
            self = .adviceWanted(try coder.field("is wanted", isWanted))
        case .placeWanted(let number):
            try coder.kind(5, "placeWanted")
            self = .placeWanted(try coder.field("number", number))
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

// The wire format of channel messages.

extension ChannelID: WireValue {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

extension ChannelRequest: MessageKinds {
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
            self = .grant(try coder.number("count", count))
        case .send(let octets):
            try coder.kind(1, "send")
            self = .send(try coder.octets("octets", octets))
        case .close: try coder.kind(2, "close")
        }
    }
}

extension ChannelEvent: MessageKinds {
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
            self = .received(try coder.octets("octets", octets))
        case .room(let count):
            try coder.kind(1, "room")
            self = .room(try coder.number("count", count))
        case .ended(let error):
            try coder.kind(2, "ended")
            self = .ended(try coder.optional("error", error))
        }
    }
}
