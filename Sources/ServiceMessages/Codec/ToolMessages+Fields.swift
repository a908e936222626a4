import BluetoothTypes
import Foundation

// The wire format of the messages between a tool and the service.

extension ToolMessage: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [ToolMessage] {
        [.ask(number: 0, .status), .answer(number: 0, .accept), .stop(number: 0)]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .ask: MessageKind(0, "ask")
        case .answer: MessageKind(1, "answer")
        case .stop: MessageKind(2, "stop")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .ask(let number, let question):
            self = .ask(
                number: try coder.field("number", number),
                try coder.field("question", question)
            )
        case .answer(let number, let answer):
            self = .answer(number: try coder.field("number", number), try coder.field("answer", answer))
        case .stop(let number):
            self = .stop(number: try coder.field("number", number))
        }
    }
}

extension ToolQuestion: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [ToolQuestion] {
        [
            .status, .devices, .bonds, .forgetBond(.blank), .monitor(kinds: 0), .prompts, .apps,
            .app(.launch, name: ""),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .status: MessageKind(0, "status")
        case .devices: MessageKind(1, "devices")
        case .bonds: MessageKind(2, "bonds")
        case .forgetBond: MessageKind(3, "forgetBond")
        case .monitor: MessageKind(4, "monitor")
        case .prompts: MessageKind(5, "prompts")
        case .apps: MessageKind(6, "apps")
        case .app: MessageKind(7, "app")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .status, .devices, .bonds, .prompts, .apps: break
        case .forgetBond(let peer): self = .forgetBond(try coder.uuid("peer", peer))
        case .monitor(let kinds): self = .monitor(kinds: try coder.field("kinds", kinds))
        case .app(var verb, var name, var owner):
            try coder.field("verb", &verb)
            try coder.text("name", &name)
            try coder.optional("owner", &owner, 0) { coder, owner throws(PacketError) in
                try coder.field("owner", &owner)
            }
            self = .app(verb, name: name, owner: owner)
        }
    }
}

extension AppVerb: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self = .launch }

    /// Codes the number of the command in one octet.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        let number = try coder.field("verb", rawValue)
        guard let verb = AppVerb(rawValue: number) else { throw PacketError(.value(UInt64(number)), at: "verb") }
        self = verb
    }
}

extension ToolReply: MessageKinds {
    /// The maximum length of the text in a reply, in octets. It leaves room for the other fields of the message.
    public static let maximumText = ServiceLimits.message - 64

    /// See ``MessageKinds/kinds``.
    public static var kinds: [ToolReply] {
        [
            .answer(number: 0, .success("")), .event(number: 0, ""), .prompt(number: 0, .notice("")),
            .promptClosed(number: 0), .goodbye(ServiceError()),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .answer: MessageKind(0, "answer")
        case .event: MessageKind(1, "event")
        case .prompt: MessageKind(2, "prompt")
        case .promptClosed: MessageKind(3, "promptClosed")
        case .goodbye: MessageKind(4, "goodbye")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .answer(var number, let result):
            try coder.field("number", &number)
            var result = coder.isReading ? result : result.bounded
            try coder.result("answer", &result, "") { coder, text throws(PacketError) in
                try coder.longText("answer", &text)
            }
            self = .answer(number: number, result)
        case .event(var number, var text):
            try coder.field("number", &number)
            try coder.longText("event", &text)
            self = .event(number: number, text)
        case .prompt(let number, let question):
            self = .prompt(number: try coder.field("number", number), try coder.field("question", question))
        case .promptClosed(let number):
            self = .promptClosed(number: try coder.field("number", number))
        case .goodbye(var error):
            try coder.field("error", &error)
            self = .goodbye(error)
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

extension PersonQuestion: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PersonQuestion] {
        [.pairing(PairingQuestion()), .permission(AppQuestion()), .notice("")]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .pairing: MessageKind(0, "pairing")
        case .permission: MessageKind(1, "permission")
        case .notice: MessageKind(2, "notice")
        }
    }

    /// Codes the fields of this kind. A notice that is too long is truncated.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .pairing(let question): self = .pairing(try coder.field("pairing", question))
        case .permission(let question): self = .permission(try coder.field("permission", question))
        case .notice(var text):
            try coder.cutText("notice", &text)
            self = .notice(text)
        }
    }
}

extension AppQuestion: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(AppIdentity(name: "")) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.cutText("identifier", &identifier)
        try coder.field("owner", &owner)
        try coder.optional("display name", &displayName)
        try coder.optional("usage", &usage)
        try coder.optional("executable", &executable)
    }
}

extension PairingQuestion: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.confirm, peerAddress: "") }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("what", &kind)
        if !coder.isReading { peerName = peerName?.prefix(octets: MessageLimits.text) }
        try coder.optional("peer name", &peerName)
        try coder.text("peer address", &peerAddress)
        try coder.optional("peer", &peer, .blank) { coder, peer throws(PacketError) in
            try coder.uuid("peer", &peer)
        }
        try coder.field("is in background", &isInBackground)
    }
}

extension PairingQuestion.Kind: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PairingQuestion.Kind] {
        [.confirm, .confirmReplacement, .showPasskey(0), .enterPasskey, .compare(0)]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .confirm: MessageKind(0, "confirm")
        case .confirmReplacement: MessageKind(1, "confirmReplacement")
        case .showPasskey: MessageKind(2, "showPasskey")
        case .enterPasskey: MessageKind(3, "enterPasskey")
        case .compare: MessageKind(4, "compare")
        }
    }

    /// Codes the fields of this kind. Passkeys are secret fields, which logs leave out.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .confirm, .confirmReplacement, .enterPasskey: break
        case .showPasskey(var passkey):
            try coder.secret("passkey", &passkey)
            self = .showPasskey(passkey)
        case .compare(var passkey):
            try coder.secret("passkey", &passkey)
            self = .compare(passkey)
        }
    }
}

extension PersonAnswer: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PersonAnswer] { [.accept, .refuse, .passkey(0), .allow, .deny] }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .accept: MessageKind(0, "accept")
        case .refuse: MessageKind(1, "refuse")
        case .passkey: MessageKind(2, "passkey")
        case .allow: MessageKind(3, "allow")
        case .deny: MessageKind(4, "deny")
        }
    }

    /// Codes the fields of this kind. A passkey is a secret field, which logs leave out.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .accept, .refuse, .allow, .deny: break
        case .passkey(var passkey):
            try coder.secret("passkey", &passkey)
            self = .passkey(passkey)
        }
    }
}

extension FieldCoder {
    /// Codes a text that may be as long as a message, after its length in four octets. A longer text is truncated.
    fileprivate mutating func longText(_ name: String, _ value: inout String) throws(PacketError) {
        let limit = ToolReply.maximumText
        var octets = PacketBuffer(isReading ? [] : Array(value.prefix(octets: limit).utf8))
        let length = try field("\(name) length", UInt32(octets.count))
        guard length <= UInt32(limit) else { throw PacketError(.length(Int(length)), at: name) }
        try bytes(name, &octets, count: Int(length))
        guard isReading else { return }
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw PacketError(.value(UInt64(octets.count)), at: name)
        }
        value = text
    }

    /// Codes a text, truncated if it is too long.
    fileprivate mutating func cutText(_ name: String, _ value: inout String) throws(PacketError) {
        if !isReading { value = value.prefix(octets: MessageLimits.text) }
        try text(name, &value)
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
