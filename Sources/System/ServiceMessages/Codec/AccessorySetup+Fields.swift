import BluetoothTypes
import Foundation

// The wire format of the messages of AccessorySetupKit.

extension AccessoryDescriptor: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("service", &service)
        try coder.value("company", &company)
        try coder.value("name substring", &nameSubstring)
        try coder.value("name options", &nameOptions)
        try coder.value("manufacturer data", &manufacturerBlob)
        try coder.value("manufacturer mask", &manufacturerMask)
        try coder.value("service data", &serviceBlob)
        try coder.value("service mask", &serviceMask)
        try coder.value("is immediate", &isImmediate)
        try coder.value("options", &options)
    }
}

extension PickerItem: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(name: "", descriptor: AccessoryDescriptor()) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("name", &name)
        try coder.value("image", &image)
        try coder.value("descriptor", &descriptor)
        options = Options(rawValue: try coder.value("options", options.rawValue))
        try coder.value("migrated", &migrated)
    }
}

extension SetUpAccessory: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(identifier: .blank, name: "", descriptor: AccessoryDescriptor()) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("identifier", &identifier)
        try coder.value("name", &name)
        try coder.value("descriptor", &descriptor)
        try coder.choice("state", &state)
    }
}

extension SetupRequest: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [SetupRequest] = [
        .showPicker([], timeout: nil), .rename(.blank), .remove(.blank), .finishAuthorization(.blank),
        .failAuthorization(.blank), .updateAuthorization(.blank, AccessoryDescriptor()),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .showPicker(let items, let timeout):
            try coder.kind(0, "showPicker")
            self = try .showPicker(
                coder.list("items", items, limit: ServiceLimits.pickerItems),
                timeout: coder.value("timeout", timeout)
            )
        case .rename(let accessory):
            try coder.kind(1, "rename")
            self = try .rename(coder.value("accessory", accessory))
        case .remove(let accessory):
            try coder.kind(2, "remove")
            self = try .remove(coder.value("accessory", accessory))
        case .finishAuthorization(let accessory):
            try coder.kind(3, "finishAuthorization")
            self = try .finishAuthorization(coder.value("accessory", accessory))
        case .failAuthorization(let accessory):
            try coder.kind(4, "failAuthorization")
            self = try .failAuthorization(coder.value("accessory", accessory))
        case .updateAuthorization(let accessory, let descriptor):
            try coder.kind(5, "updateAuthorization")
            self = try .updateAuthorization(
                coder.value("accessory", accessory),
                coder.value("descriptor", descriptor)
            )
        }
    }
}

extension SetupEvent: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [SetupEvent] = [
        .activated([]), .happened(.pickerDidPresent, nil, nil), .answered(number: 0, nil),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .activated(let accessories):
            try coder.kind(0, "activated")
            self = try .activated(coder.list("accessories", accessories, limit: ServiceLimits.accessories.app))
        case .happened(var kind, let accessory, let error):
            try coder.kind(1, "happened")
            try coder.choice("event", &kind)
            self = try .happened(kind, coder.value("accessory", accessory), coder.value("error", error))
        case .answered(let number, let error):
            try coder.kind(2, "answered")
            self = try .answered(number: coder.value("number", number), coder.value("error", error))
        }
    }
}

extension SetupError: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.unknown) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.choice("code", &code)
        try coder.value("reason", &reason)
    }
}

extension SetupDeclaration: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(services: []) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("services", of: "service", &services, limit: ServiceLimits.setupTraits)
        try coder.list("names", of: "name", &names, limit: ServiceLimits.setupTraits)
        try coder.list("companies", of: "company", &companies, limit: ServiceLimits.setupTraits)
    }
}

extension AccessoryQuestion: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.pick, of: AppQuestion(), []) }

    /// Codes the fields in wire order. Of too many offers the first ones are kept.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("what", &kind)
        try coder.value("app", &app)
        if !coder.isReading { offers = Array(offers.prefix(ServiceLimits.pickerOffers)) }
        try coder.list("offers", &offers, limit: ServiceLimits.pickerOffers)
    }
}

extension AccessoryQuestion.Kind: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [AccessoryQuestion.Kind] = [.pick, .migrate, .rename, .update]

    /// Codes the kind.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .pick: try coder.kind(0, "pick")
        case .migrate: try coder.kind(1, "migrate")
        case .rename: try coder.kind(2, "rename")
        case .update: try coder.kind(3, "update")
        }
    }
}

extension AccessoryQuestion.Offer: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.blank, name: "") }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("identifier", &identifier)
        try coder.value("name", &name)
        try coder.value("image", &image)
        try coder.value("advertised name", &advertisedName)
        try coder.value("is shared", &isShared)
    }
}

extension AccessoryVerb: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [AccessoryVerb] = [.remove, .rename("")]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .remove: try coder.kind(0, "remove")
        case .rename(let name):
            try coder.kind(1, "rename")
            self = try .rename(coder.value("name", name))
        }
    }
}
