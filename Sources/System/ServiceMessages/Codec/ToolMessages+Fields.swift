import BluetoothTypes
import Foundation

// The wire format of the messages between a tool and the service.

extension ToolMessage: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ToolMessage] = [.ask(number: 0, .status), .answer(number: 0, .accept), .stop(number: 0)]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .ask(let number, let question):
            try coder.kind(0, "ask")
            self = .ask(
                number: try coder.value("number", number),
                try coder.value("question", question)
            )
        case .answer(let number, let answer):
            try coder.kind(1, "answer")
            self = try .answer(number: coder.value("number", number), coder.value("answer", answer))
        case .stop(let number):
            try coder.kind(2, "stop")
            self = try .stop(number: coder.value("number", number))
        }
    }
}

extension ToolQuestion: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ToolQuestion] = [
        .status, .devices, .bonds, .forgetBond(.blank), .monitor(kinds: 0), .prompts, .apps,
        .app(.launch, name: ""), .advice, .packets, .ownAdvice, .accessory(.blank, .remove, name: ""),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .status: try coder.kind(0, "status")
        case .devices: try coder.kind(1, "devices")
        case .bonds: try coder.kind(2, "bonds")
        case .prompts: try coder.kind(5, "prompts")
        case .apps: try coder.kind(6, "apps")
        case .advice: try coder.kind(8, "advice")
        case .packets: try coder.kind(9, "packets")
        case .ownAdvice: try coder.kind(10, "ownAdvice")
        case .accessory(let accessory, let verb, let name, let owner):
            try coder.kind(11, "accessory")
            self = try .accessory(
                coder.value("accessory", accessory),
                coder.value("verb", verb),
                name: coder.value("name", name),
                owner: coder.value("owner", owner)
            )
        case .forgetBond(let peer):
            try coder.kind(3, "forgetBond")
            self = try .forgetBond(coder.value("peer", peer))
        case .monitor(let kinds):
            try coder.kind(4, "monitor")
            self = try .monitor(kinds: coder.value("kinds", kinds))
        case .app(let verb, let name, let owner):
            try coder.kind(7, "app")
            self = try .app(
                coder.value("verb", verb),
                name: coder.value("name", name),
                owner: coder.value("owner", owner)
            )
        }
    }
}

extension AppVerb: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self = .launch }

    /// Codes the number of the command in one octet.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.choice("verb", &self)
    }
}

extension ToolReply: MessageKinds, MessageValue {
    /// The maximum length of the text in a reply, in octets. It leaves room for the other fields of the message.
    public static let maximumText = ServiceLimits.message - 64

    /// See ``MessageKinds/kinds``.
    public static let kinds: [ToolReply] = [
        .answer(number: 0, .success("")), .event(number: 0, ""), .prompt(number: 0, .notice("")),
        .promptClosed(number: 0), .goodbye(ServiceError()),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .answer(let number, let result):
            try coder.kind(0, "answer")
            self = try .answer(
                number: coder.value("number", number),
                coder.result(coder.isReading ? result : result.bounded, "") { coder, text throws(PacketError) in
                    try coder.longText("answer", text)
                }
            )
        case .event(let number, let text):
            try coder.kind(1, "event")
            self = try .event(number: coder.value("number", number), coder.longText("event", text))
        case .prompt(let number, let question):
            try coder.kind(2, "prompt")
            self = try .prompt(number: coder.value("number", number), coder.value("question", question))
        case .promptClosed(let number):
            try coder.kind(3, "promptClosed")
            self = try .promptClosed(number: coder.value("number", number))
        case .goodbye(let error):
            try coder.kind(4, "goodbye")
            self = try .goodbye(coder.value("error", error))
        }
    }
}

extension Result<String, ServiceError> {
    /// The result if it fits in one message; otherwise an error.
    fileprivate var bounded: Self {
        switch self {
        case .success(let text):
            let count = text.utf8.count
            guard count > ToolReply.maximumText else { return self }
            let reason = "the answer has \(count) octets, which exceeds the limit of \(ToolReply.maximumText)"
            return .failure(ServiceError(.outOfSpace, reason: reason))
        case .failure(var error):
            error.reason = error.reason?.prefix(octets: MessageLimits.text)
            return .failure(error)
        }
    }
}

extension PersonQuestion: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PersonQuestion] = [
        .pairing(PairingQuestion()), .permission(AppQuestion()), .notice(""), .accessory(AccessoryQuestion()),
    ]

    /// Codes the kind and its fields. A notice that is too long is truncated.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .pairing(let question):
            try coder.kind(0, "pairing")
            self = try .pairing(coder.value("pairing", question))
        case .permission(let question):
            try coder.kind(1, "permission")
            self = try .permission(coder.value("permission", question))
        case .notice(let text):
            try coder.kind(2, "notice")
            self = try .notice(coder.cutText("notice", text))
        case .accessory(let question):
            try coder.kind(3, "accessory")
            self = try .accessory(coder.value("accessory", question))
        }
    }
}

extension AppQuestion: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(AppIdentity(name: "")) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        identifier = try coder.cutText("identifier", identifier)
        try coder.value("owner", &owner)
        try coder.value("display name", &displayName)
        try coder.value("usage", &usage)
        try coder.value("executable", &executable)
    }
}

extension PairingQuestion: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.confirm, peerAddress: "") }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("what", &kind)
        if !coder.isReading { peerName = peerName?.prefix(octets: MessageLimits.text) }
        try coder.value("peer name", &peerName)
        try coder.value("peer address", &peerAddress)
        try coder.value("peer", &peer)
        try coder.value("is in background", &isInBackground)
        try coder.value("origin", &origin)
    }
}

extension PairingQuestion.Origin: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PairingQuestion.Origin] = [.peer, .apps([])]

    /// Codes the kind and its fields. Of too many apps the first ones are kept, and their names are cut.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peer: try coder.kind(0, "peer")
        case .apps(let apps):
            try coder.kind(1, "apps")
            var apps = Array(apps.prefix(PairingQuestion.maximumApps))
            try coder.list("apps", &apps, limit: PairingQuestion.maximumApps, AppIdentity(name: "")) {
                coder,
                app throws(PacketError) in
                app.name = try coder.cutText("name", app.name)
                try coder.value("owner", &app.owner)
            }
            self = .apps(apps)
        }
    }
}

extension PairingQuestion.Kind: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PairingQuestion.Kind] = [
        .confirm, .confirmReplacement, .showPasskey(0), .enterPasskey, .compare(0), .enterPasskeyOnBoth,
    ]

    /// Codes the kind and its fields. Passkeys are secret fields, which logs leave out.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .confirm: try coder.kind(0, "confirm")
        case .confirmReplacement: try coder.kind(1, "confirmReplacement")
        case .enterPasskey: try coder.kind(3, "enterPasskey")
        case .enterPasskeyOnBoth: try coder.kind(5, "enterPasskeyOnBoth")
        case .showPasskey(let passkey):
            try coder.kind(2, "showPasskey")
            self = try .showPasskey(coder.secret("passkey", passkey))
        case .compare(let passkey):
            try coder.kind(4, "compare")
            self = try .compare(coder.secret("passkey", passkey))
        }
    }
}

extension PersonAnswer: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PersonAnswer] = [
        .accept, .refuse, .passkey(0), .allow, .deny, .choose(.blank), .name(""),
    ]

    /// Codes the kind and its fields. A passkey is a secret field, which logs leave out.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .accept: try coder.kind(0, "accept")
        case .refuse: try coder.kind(1, "refuse")
        case .allow: try coder.kind(3, "allow")
        case .deny: try coder.kind(4, "deny")
        case .passkey(let passkey):
            try coder.kind(2, "passkey")
            self = try .passkey(coder.secret("passkey", passkey))
        case .choose(let accessory):
            try coder.kind(5, "choose")
            self = try .choose(coder.value("accessory", accessory))
        case .name(let name):
            try coder.kind(6, "name")
            self = try .name(coder.value("name", name))
        }
    }
}

extension FieldCoder {
    /// Codes a text that may be as long as a message, after its length in four octets. A longer text is truncated.
    fileprivate mutating func longText(_ name: String, _ text: String) throws(PacketError) -> String {
        let limit = ToolReply.maximumText
        var octets = PacketBuffer(isReading ? [] : Array(text.prefix(octets: limit).utf8))
        let length = try value("\(name) length", UInt32(octets.count))
        guard length <= UInt32(limit) else { throw PacketError(.length(Int(length)), at: name) }
        try bytes(name, &octets, count: Int(length))
        return isReading ? try String(octets, at: name) : text
    }

    /// Codes a text, truncated if it is too long.
    fileprivate mutating func cutText(_ name: String, _ text: String) throws(PacketError) -> String {
        try value(name, isReading ? text : text.prefix(octets: MessageLimits.text))
    }

    fileprivate mutating func secret(_ name: String, _ value: UInt32) throws(PacketError) -> UInt32 {
        var value = value
        try secret(name, &value)
        return value
    }
}

extension String {
    /// Returns the longest prefix of whole Unicode scalars with at most `count` octets of UTF-8.
    package func prefix(octets count: Int) -> String {
        guard utf8.count > count else { return self }
        // An index within a scalar is rounded down to its beginning.
        return String(self[..<utf8.index(utf8.startIndex, offsetBy: count)])
    }
}
