import AssignedNumbers
import BluetoothTypes
import Foundation

extension Accessory {
    /// Reads an accessory from a JSON file.
    ///
    /// Unknown keys, wrong types and values out of range are errors. A file of any content is read or refused, within
    /// ``AccessoryLimits``.
    ///
    /// - Parameter json: The contents of the file.
    /// - Throws: The first error in the file, with its place.
    public init(json: some Collection<UInt8>) throws(AccessoryError) {
        self = try FileReader(JSONTree.parse(json)).accessory()
    }

    /// Reads an accessory from a JSON text.
    ///
    /// - Parameter json: The text.
    /// - Throws: The first error in the text, with its place.
    public init(json: String) throws(AccessoryError) {
        try self.init(json: Array(json.utf8))
    }

    /// Reads an accessory from a JSON file.
    ///
    /// - Parameter url: The file.
    /// - Throws: The first error in the file, or that it cannot be read.
    public init(contentsOf url: URL) throws(AccessoryError) {
        try self.init(json: AccessoryLimits.contents(of: url))
    }
}

extension AccessoryLimits {
    /// Returns the contents of a file of at most ``fileSize`` octets. Never waits for a pipe or a device (AB-F03).
    static func contents(of url: URL) throws(AccessoryError) -> [UInt8] {
        do throws(PlainFile.Fault) {
            return try PlainFile(url.path, atMost: fileSize).octets
        } catch {
            throw AccessoryError("", "cannot read \(url.path.visible): \(error)", "name a readable file")
        }
    }
}

extension Accessory.Advertising {
    /// The octets of the data that cannot be left out, with a header of two octets for each.
    fileprivate var requiredLength: Int {
        let company = manufacturerData.map { 4 + $0.data.octets().count } ?? 0
        return serviceData.reduce(company) { $0 + 2 + $1.uuid.width.octets + $1.value.octets().count }
    }
}

extension Accessory: Codable {
    /// Decodes an accessory, as strictly as `init(json:)`.
    public init(from decoder: any Decoder) throws {
        self = try FileReader(JSONTree(from: decoder)).accessory()
    }
}

extension FileReader {
    fileprivate func accessory() throws(AccessoryError) -> Accessory {
        let members = try members(FormatKeys.accessory)
        try members.checkFormat(Accessory.format)
        let name = try members.required("name").name()
        var accessory = Accessory(name: name)
        accessory.summary = try members["description"]?.text(atMost: 4_096)
        if let reader = members["advertising"] { accessory.advertising = try reader.advertising(of: name) }
        if let reader = members["security"] { accessory.security = try reader.security() }
        accessory.hasChannelSounding = try members["channelSounding"]?.bool() ?? false
        accessory.hiddenValues = try members.list(
            "values",
            atMost: AccessoryLimits.hiddenValues,
            FileReader.hiddenValue
        )
        accessory.faults = try members.list("faults", atMost: AccessoryLimits.faults, FileReader.scheduledFault)
        accessory.services = try members.list("services", atMost: AccessoryLimits.services, FileReader.service)
        try checkIdentifiers(accessory)
        try checkReferences(accessory)
        try checkProtection(accessory)
        return accessory
    }

    func name() throws(AccessoryError) -> String {
        let name = try text(atMost: AccessoryLimits.nameLength)
        guard !name.isEmpty else { throw failure("the name is empty", "write a name") }
        return name
    }

    private func advertising(of name: String) throws(AccessoryError) -> Accessory.Advertising {
        let members = try members(FormatKeys.advertising)
        var advertising = Accessory.Advertising(name: name)
        if let reader = members["name"] { advertising.name = reader.tree == .null ? nil : try reader.name() }
        advertising.services = try members.services("services")
        if let reader = members["manufacturerData"] {
            let members = try reader.members(FormatKeys.manufacturerData)
            let company = try members.required("company").integer(0...0xFFFF)
            let data = try members["data"]?.constantValue() ?? Accessory.Value()
            advertising.manufacturerData = Accessory.ManufacturerData(company: UInt16(company), data: data)
        }
        advertising.serviceData = try members.list(
            "serviceData",
            atMost: AccessoryLimits.services,
            FileReader.serviceData
        )
        // Core Vol 4 Part E 7.8.5 has the range.
        advertising.interval = try members["interval"].map { (each) throws(AccessoryError) in
            .microseconds(Int64((try each.number(0.02...10.24, " seconds") * 1_000_000).rounded()))
        }
        advertising.isConnectable = try members["connectable"]?.bool() ?? true
        let length = advertising.requiredLength
        guard length <= AccessoryLimits.advertisement else {
            throw failure(
                "manufacturer and service data take \(length) octets, two of them for each header",
                "use at most \(AccessoryLimits.advertisement)"
            )
        }
        return advertising
    }

    private func serviceData() throws(AccessoryError) -> Accessory.ServiceData {
        let members = try members(FormatKeys.serviceData)
        let uuid = try members.required("uuid").uuid(AssignedNumbers.Kind.services)
        return Accessory.ServiceData(uuid: uuid, value: try members.required("value").constantValue())
    }

    private func security() throws(AccessoryError) -> Accessory.Security {
        let members = try members(FormatKeys.security)
        var security = Accessory.Security()
        security.allowsPairing = try members["pairing"]?.bool() ?? true
        security.inputOutput = try members["io"]?.word(Accessory.Security.InputOutput.self) ?? .none
        security.hasFixedAddress = try members["fixedAddress"]?.bool() ?? true
        security.addressLifetime = try members["addressLifetime"]?.seconds(from: 1)
        return security
    }

    private func service() throws(AccessoryError) -> Accessory.Service {
        let members = try members(FormatKeys.service)
        let reader = try members.required("uuid")
        var service = Accessory.Service(uuid: try reader.uuid(AssignedNumbers.Kind.services))
        if [0x1800, 0x1801].contains(service.uuid) {
            throw reader.failure("the system provides this service itself", "remove it")
        }
        service.isPrimary = try members["primary"]?.bool() ?? true
        service.includes = try members.services("includes")
        service.characteristics = try members.list(
            "characteristics",
            atMost: AccessoryLimits.characteristics,
            FileReader.characteristic
        )
        return service
    }
}

// MARK: - Characteristics

extension FileReader {
    private func characteristic() throws(AccessoryError) -> Accessory.Characteristic {
        let members = try members(FormatKeys.characteristic)
        let list = try members.required("properties")
        let properties = try list.list(atMost: 16, FileReader.property)
        try list.checkProperties(Set(properties), members)
        var characteristic = Accessory.Characteristic(
            uuid: try members.required("uuid").uuid([.characteristic]),
            properties: Set(properties)
        )
        characteristic.id = try members["id"]?.name()
        try members["permission"]?.protect(&characteristic)
        characteristic.value = try members["value"]?.constantValue() ?? Accessory.Value()
        characteristic.changes = try members.list("changes", atMost: AccessoryLimits.changes, FileReader.change)
        characteristic.repeatsChanges = try members["repeat"]?.bool() ?? false
        characteristic.notificationInterval = try members["notifyEvery"]?.seconds(
            from: AccessoryLimits.shortestInterval
        )
        characteristic.notifiesChanges = try members["notifyChanges"]?.bool() ?? true
        if let reader = members["onRead"] {
            characteristic.onRead = try reader.members(FormatKeys.response).response(for: .read)
        }
        characteristic.onWrite = try members.list("onWrite", atMost: AccessoryLimits.rules, FileReader.rule)
        characteristic.descriptors = try members.list(
            "descriptors",
            atMost: AccessoryLimits.descriptors,
            FileReader.descriptor
        )
        return characteristic
    }

    /// Refuses a list without properties, and one without those that other members of the characteristic are for.
    private func checkProperties(
        _ properties: Set<Accessory.Characteristic.Property>,
        _ members: Members
    ) throws(AccessoryError) {
        guard !properties.isEmpty else {
            throw failure("the list is empty", "write at least one property, such as \"read\"")
        }
        let needs: [(key: String, properties: [Accessory.Characteristic.Property])] = [
            ("onRead", [.read]), ("onWrite", [.write, .writeWithoutResponse]), ("notifyEvery", [.notify, .indicate]),
        ]
        for need in needs where members[need.key] != nil && properties.isDisjoint(with: need.properties) {
            let words = need.properties.map(\.rawValue.quotedName).joined(separator: " or ")
            throw try members.required(need.key).failure("the characteristic lacks the property \(words)", "add it")
        }
    }

    private func property() throws(AccessoryError) -> Accessory.Characteristic.Property {
        try word(Accessory.Characteristic.Property.self)
    }

    private func protect(_ characteristic: inout Accessory.Characteristic) throws(AccessoryError) {
        typealias Protection = Accessory.Characteristic.Protection
        if case .text = tree {
            let all = try word(Protection.self)
            (characteristic.reading, characteristic.writing, characteristic.notifying) = (all, all, all)
            return
        }
        let members = try members(FormatKeys.permission)
        characteristic.reading = try members["read"]?.word(Protection.self) ?? .plain
        characteristic.writing = try members["write"]?.word(Protection.self) ?? .plain
        characteristic.notifying = try members["notify"]?.word(Protection.self) ?? .plain
    }

    private func change() throws(AccessoryError) -> Accessory.Change {
        let members = try members(FormatKeys.change)
        return Accessory.Change(
            after: try members.required("after").seconds(from: AccessoryLimits.shortestInterval),
            value: try members.required("value").constantValue()
        )
    }

    private func descriptor() throws(AccessoryError) -> Accessory.Descriptor {
        let members = try members(FormatKeys.descriptor)
        let reader = try members.required("uuid")
        let uuid = try reader.uuid([.descriptor])
        let value = try members.required("value").constantValue()
        switch uuid {
        case 0x2901:
            guard String(validating: value.octets(), as: UTF8.self) != nil else {
                throw failure("the value of 2901 is no text", "write it as {\"text\": \"…\"}")
            }
        case 0x2904:
            guard value.octets().count == 7 else {
                throw failure("the value of 2904 has \(value.octets().count) octets", "write seven")
            }
        case 0x2900, 0x2902, 0x2903:
            throw reader.failure(
                "Core Bluetooth cannot publish the descriptor \(uuid)",
                "remove it; the system adds 2900 and 2902 by itself"
            )
        default: break
        }
        return Accessory.Descriptor(uuid: uuid, value: value)
    }
}

// MARK: - Answers

extension Members {
    /// The request that is answered.
    fileprivate enum Request {
        case read, write
    }

    fileprivate func response(for request: Request) throws(AccessoryError) -> Accessory.Response {
        var response = Accessory.Response()
        response.delay = try self["delay"]?.seconds(from: 0) ?? .zero
        response.fault = try self["fault"]?.fault(of: request)
        response.faultPeriod = try self["everyNth"]?.integer(1...1_000_000) ?? 1
        return response
    }
}

extension FileReader {
    fileprivate func fault(of request: Members.Request) throws(AccessoryError) -> Accessory.Fault {
        let members = try members(FormatKeys.fault)
        guard members.members.count == 1 else {
            throw failure("a fault has one key", "use one of \(FormatKeys.fault.joined(separator: ", "))")
        }
        if let reader = members["attError"] { return .attError(UInt8(try reader.integer(1...255))) }
        if let reader = members["length"] {
            guard request == .read else {
                throw reader.failure("the answer to a write has no value", "use attError or noAnswer")
            }
            return .length(try reader.integer(0...AccessoryLimits.valueLength))
        }
        guard let reader = members["noAnswer"], try reader.bool() else {
            throw failure("noAnswer is false", "remove the fault")
        }
        return .noAnswer
    }

    fileprivate func rule() throws(AccessoryError) -> Accessory.Rule {
        let members = try members(FormatKeys.rule)
        var rule = Accessory.Rule()
        rule.content = try members["if"]?.content()
        rule.conditions = try members.list("whenValues", atMost: AccessoryLimits.effects, FileReader.condition)
        rule.missingSubscriptions = try members.list(
            "unlessSubscribed",
            atMost: AccessoryLimits.effects,
            FileReader.name
        )
        rule.response = try members.response(for: .write)
        rule.effects = try members.list("then", atMost: AccessoryLimits.effects, FileReader.effect)
        return rule
    }

    private func condition() throws(AccessoryError) -> Accessory.Condition {
        let members = try members(FormatKeys.condition)
        return Accessory.Condition(
            characteristic: try members.required("characteristic").name(),
            value: try members.required("value").constantValue()
        )
    }

    private func content() throws(AccessoryError) -> Accessory.Content {
        let members = try members(FormatKeys.content)
        guard members.members.count == 1 else {
            throw failure("a condition has one key", "use one of \(FormatKeys.content.joined(separator: ", "))")
        }
        if let reader = members["equals"] { return .equals(try reader.presentValue()) }
        if let reader = members["beginsWith"] { return .beginsWith(try reader.constantValue()) }
        return .length(try members.required("length").integer(0...AccessoryLimits.valueLength))
    }

    private func effect() throws(AccessoryError) -> Accessory.Effect {
        let members = try members(FormatKeys.effect)
        let verbs = Accessory.Effect.Verb.allCases.filter { members[$0.rawValue] != nil }
        guard let verb = verbs.first, verbs.count == 1 else {
            throw failure(
                "an effect needs one of set, notify, append and cancel",
                "name a characteristic or a value in one of them"
            )
        }
        var effect = Accessory.Effect(
            verb: verb,
            characteristic: try members.required(verb.rawValue).name(),
            value: verb == .cancel ? Accessory.Value() : try members.required("value").value()
        )
        if verb == .cancel, let reader = members["value"] {
            throw reader.failure("nothing has a value here", "remove it")
        }
        effect.period = try members["everyNth"]?.period()
        effect.after = try members["after"]?.seconds(from: 0) ?? .zero
        return effect
    }
}

// MARK: - Values

extension FileReader {
    /// Returns a value that does not depend on what was written.
    func constantValue() throws(AccessoryError) -> Accessory.Value {
        let value = try presentValue()
        guard value.references.isEmpty else {
            throw failure("this value cannot contain others", "use value, size and crc32 in onWrite only")
        }
        return value
    }

    /// Returns a value that may depend on present values.
    private func presentValue() throws(AccessoryError) -> Accessory.Value {
        let value = try value()
        guard !value.dependsOnWrite else {
            throw failure("nothing was written that the value could contain", "use it in effects of onWrite only")
        }
        return value
    }

    /// Returns a value: a part, or an array of parts.
    func value() throws(AccessoryError) -> Accessory.Value {
        guard case .array = tree else { return try checked(Accessory.Value([try part()])) }
        return try checked(Accessory.Value(try list(atMost: AccessoryLimits.valueLength, FileReader.part)))
    }

    private func checked(_ value: Accessory.Value) throws(AccessoryError) -> Accessory.Value {
        let lengths = value.parts.map { part in
            if case .written = part { 0 } else { Accessory.Value([part]).octets().count }
        }
        let length = lengths.reduce(0, +)
        guard length <= AccessoryLimits.valueLength else {
            throw failure("the value has \(length) octets", "use at most \(AccessoryLimits.valueLength)")
        }
        return value
    }

    private func part() throws(AccessoryError) -> Accessory.Value.Part {
        if case .text = tree { return .octets(try hexadecimal(atMost: AccessoryLimits.valueLength)) }
        guard case .object = tree else {
            throw failure(
                "a value cannot be \(tree.kind)",
                "write hexadecimal digits in quotation marks, or an object such as {\"text\": \"on\"} or {\"uint8\": 72}"
            )
        }
        let members = try members(FormatKeys.part)
        guard let key = members.members.keys.first, members.members.count == 1, let reader = members[key] else {
            throw failure("a part of a value has one key", "write several parts as an array")
        }
        switch key {
        case "hex": return .octets(try reader.hexadecimal(atMost: AccessoryLimits.valueLength))
        case "text": return .text(try reader.text(atMost: AccessoryLimits.valueLength))
        case "written": return try reader.written()
        case "value": return .value(try reader.name())
        case "size": return .size(try reader.name())
        case "crc32": return .crc32(try reader.name())
        default: return try reader.number(key)
        }
    }

    private func written() throws(AccessoryError) -> Accessory.Value.Part {
        let members = try members(FormatKeys.written)
        let range = 0...AccessoryLimits.valueLength
        let count = try members["count"]?.integer(range)
        return .written(from: try members["from"]?.integer(range) ?? 0, count: count)
    }

    private func number(_ key: String) throws(AccessoryError) -> Accessory.Value.Part {
        guard let format = Accessory.NumberFormat(rawValue: key) else {
            throw failure("the format is unknown", "use one of \(FormatKeys.part.joined(separator: ", "))")
        }
        let value = try number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
        guard format.octets(of: value) != nil else {
            throw failure("\(value.shortText) does not fit into \(key)", "write \(format.range)")
        }
        return .number(format, value)
    }
}

// MARK: - The file as a whole

extension FileReader {
    private func scheduledFault() throws(AccessoryError) -> ScheduledFault {
        let members = try members(FormatKeys.scheduledFault)
        let start = try members["at"]?.seconds(from: 0) ?? .zero
        let end = try members["until"]?.seconds(from: 0)
        if let end, end <= start { throw failure("the fault ends before it begins", "write a later \"until\"") }
        return ScheduledFault(
            try members.required("fault").deviceFault(),
            start: start,
            end: end,
            trigger: try members["onWrite"]?.name()
        )
    }

    func deviceFault() throws(AccessoryError) -> DeviceFault {
        let text = try text()
        do throws(AccessoryError) {
            return try DeviceFault(text)
        } catch {
            throw failure(error.problem, error.advice)
        }
    }

    private func hiddenValue() throws(AccessoryError) -> Accessory.HiddenValue {
        let members = try members(FormatKeys.hiddenValue)
        let value = try members["value"]?.constantValue() ?? Accessory.Value()
        return Accessory.HiddenValue(id: try members.required("id").name(), value: value)
    }

    /// Returns the writes that have an effect: a number, or the name of a value that has it.
    fileprivate func period() throws(AccessoryError) -> Accessory.Period {
        if case .text = tree { return .value(try name()) }
        return .every(try integer(1...1_000_000))
    }

    private func checkIdentifiers(_ accessory: Accessory) throws(AccessoryError) {
        var known: Set<String> = []
        let all = accessory.characteristics.compactMap(\.id) + accessory.hiddenValues.map(\.id)
        for id in all where !known.insert(id).inserted {
            throw failure("two characteristics or values have the id \"\(id.visible)\"", "give each its own")
        }
    }

    private func checkReferences(_ accessory: Accessory) throws(AccessoryError) {
        for (place, characteristic) in places(in: accessory) {
            for (index, rule) in characteristic.onWrite.enumerated() {
                try check(rule, in: accessory, at: "\(place).onWrite[\(index)]")
            }
        }
        for (index, fault) in accessory.faults.enumerated() {
            guard let trigger = fault.trigger, accessory.index(of: trigger) == nil else { continue }
            throw ambiguous(trigger, at: "faults[\(index)].onWrite")
        }
        for (index, service) in accessory.services.enumerated() {
            let earlier = accessory.services[..<index].map(\.uuid)
            for (number, uuid) in service.includes.enumerated() where earlier.count(where: { $0 == uuid }) != 1 {
                throw AccessoryError(
                    "services[\(index)].includes[\(number)]",
                    "no service before this one is \(uuid), or several are",
                    "move the included service up"
                )
            }
        }
    }

    private func check(_ rule: Accessory.Rule, in accessory: Accessory, at path: String) throws(AccessoryError) {
        for (index, condition) in rule.conditions.enumerated() {
            try check(condition.characteristic, in: accessory, at: "\(path).whenValues[\(index)].characteristic")
        }
        for (index, each) in rule.missingSubscriptions.enumerated() where accessory.index(of: each) == nil {
            throw AccessoryError(
                "\(path).unlessSubscribed[\(index)]",
                "\(each.quotedName) names no characteristic, or several",
                "use an id, or a UUID that occurs once"
            )
        }
        if case .equals(let value) = rule.content {
            for each in value.references { try check(each, in: accessory, at: "\(path).if.equals") }
        }
        for (index, effect) in rule.effects.enumerated() {
            let place = "\(path).then[\(index)]"
            try check(effect, in: accessory, at: "\(place).\(effect.verb.rawValue)")
            for each in effect.value.references { try check(each, in: accessory, at: "\(place).value") }
            if case .value(let each) = effect.period { try check(each, in: accessory, at: "\(place).everyNth") }
        }
    }

    private func check(_ effect: Accessory.Effect, in accessory: Accessory, at path: String) throws(AccessoryError) {
        try check(effect.characteristic, in: accessory, at: path)
        let isHidden = accessory.index(of: effect.characteristic) == nil
        switch effect.verb {
        case .append where !isHidden:
            throw AccessoryError(path, "only hidden values grow", "name one of \"values\", or use set")
        case .notify where isHidden, .cancel where isHidden:
            throw AccessoryError(path, "a hidden value has no subscribers and no writes", "name a characteristic")
        default: break
        }
    }

    private func check(_ reference: String, in accessory: Accessory, at path: String) throws(AccessoryError) {
        if accessory.slot(of: reference) == nil { throw ambiguous(reference, at: path) }
    }

    private func ambiguous(_ reference: String, at path: String) -> AccessoryError {
        AccessoryError(
            path,
            "\"\(reference.visible)\" names no characteristic, or several",
            "write the id of one, or a UUID that occurs once"
        )
    }

    /// The service asks for one level of protection for all apps (behaviour 6.9), so a file can only use one.
    private func checkProtection(_ accessory: Accessory) throws(AccessoryError) {
        var used: Set<Accessory.Characteristic.Protection> = []
        for (place, characteristic) in places(in: accessory) {
            let own = [characteristic.reading, characteristic.writing, characteristic.notifying]
            used.formUnion(own)
            let path = "\(place).permission"
            if own.contains(.authenticated), accessory.security.inputOutput == .none {
                throw AccessoryError(
                    path,
                    "a device without input and output cannot authenticate",
                    "write \"encrypted\", or set security.io"
                )
            }
            if used.contains(.authenticated), used.contains(.encrypted) {
                throw AccessoryError(path, "a file can only require one level of protection", "use one throughout")
            }
        }
    }

    private func places(in accessory: Accessory) -> [(String, Accessory.Characteristic)] {
        accessory.services.enumerated().flatMap { index, service in
            service.characteristics.enumerated().map { ("services[\(index)].characteristics[\($0)]", $1) }
        }
    }
}
