import AssignedNumbers
import BluetoothTypes

/// A value of a file with its place, for strict reading: each error names the place and what to do.
struct FileReader {
    let tree: JSONTree
    let path: String

    init(_ tree: JSONTree, at path: String = "") {
        self.tree = tree
        self.path = path
    }

    func failure(_ problem: String, _ advice: String) -> AccessoryError {
        AccessoryError(path, problem, advice)
    }

    private func unexpected(_ wanted: String) -> AccessoryError {
        failure("this is \(tree.kind)", "write \(wanted)")
    }

    /// Returns the members of an object that has no other keys than these.
    func members(_ keys: [String]) throws(AccessoryError) -> Members {
        guard case .object(let members) = tree else {
            throw unexpected("an object with \(keys.joined(separator: ", "))")
        }
        if let unknown = members.keys.filter({ !keys.contains($0) }).min() {
            let known = keys.joined(separator: ", ")
            let similar = SimilarWords.mostSimilar(to: unknown, of: keys).map(\.quotedName)
            throw failure(
                "the key \(unknown.quotedName) is unknown",
                similar.isEmpty
                    ? "remove it, or use one of \(known)" : "did you mean \(similar.joined(separator: " or "))?"
            )
        }
        return Members(members: members, path: path)
    }

    /// Returns the elements of an array, as `read` reads each of them.
    func list<Element>(
        atMost limit: Int,
        _ read: (FileReader) -> () throws(AccessoryError) -> Element
    ) throws(AccessoryError) -> [Element] {
        guard case .array(let elements) = tree else { throw unexpected("an array") }
        guard elements.count <= limit else {
            throw failure("the array has \(elements.count) elements", "use at most \(limit)")
        }
        return try elements.enumerated().map { (each) throws(AccessoryError) in
            try read(FileReader(each.element, at: "\(path)[\(each.offset)]"))()
        }
    }

    func text(atMost limit: Int = 1_024) throws(AccessoryError) -> String {
        guard case .text(let text) = tree else { throw unexpected("a text in quotation marks") }
        guard text.utf8.count <= limit else {
            throw failure("the text has \(text.utf8.count) octets", "use at most \(limit)")
        }
        return text
    }

    func bool() throws(AccessoryError) -> Bool {
        guard case .bool(let value) = tree else { throw unexpected("true or false") }
        return value
    }

    func number(_ range: ClosedRange<Double>, _ unit: String = "") throws(AccessoryError) -> Double {
        let wanted = "a number from \(range.lowerBound.shortText) to \(range.upperBound.shortText)\(unit)"
        guard case .number(let value) = tree else { throw unexpected(wanted) }
        guard range.contains(value) else { throw failure("\(value.shortText) is out of range", "write \(wanted)") }
        return value
    }

    func integer(_ range: ClosedRange<Int>) throws(AccessoryError) -> Int {
        let value = try number(Double(range.lowerBound)...Double(range.upperBound))
        guard let whole = Int(exactly: value) else {
            throw failure("\(value.shortText) is no whole number", "write a whole number")
        }
        return whole
    }

    func seconds(from first: Double) throws(AccessoryError) -> Duration {
        let value = try number(first...AccessoryLimits.longestInterval, " seconds")
        // Whole microseconds, so that a value survives being written and read again.
        return .microseconds(Int64((value * 1_000_000).rounded()))
    }

    /// Returns the octets of a hexadecimal text, in which spaces do not count.
    func hexadecimal(atMost limit: Int) throws(AccessoryError) -> [UInt8] {
        let digits = Array(try text(atMost: 4 * limit).utf8.filter { $0 != UInt8(ascii: " ") })
        let nibbles = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard nibbles.count == digits.count, digits.count.isMultiple(of: 2) else {
            throw failure("this is no hexadecimal text", "write two digits for each octet, such as \"0E48\"")
        }
        guard digits.count <= 2 * limit else {
            throw failure("the value has \(digits.count / 2) octets", "use at most \(limit)")
        }
        return stride(from: 0, to: nibbles.count, by: 2).map { first -> UInt8 in
            let octet: Int = nibbles[first] << 4 | nibbles[first + 1]
            return UInt8(octet)
        }
    }

    func word<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) throws(AccessoryError) -> Word {
        let text = try text()
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw failure("\(text.quotedName) is unknown", "use one of \(words)")
        }
        return word
    }

    /// Returns a UUID, given as digits or by an assigned name.
    func uuid(_ kinds: Set<AssignedNumbers.Kind>) throws(AccessoryError) -> BluetoothUUID {
        let text = try text()
        if let uuid = BluetoothUUID(text) { return uuid.attributeForm }
        let named = AssignedNumbers.uuids(named: text, kinds)
        if let uuid = named.first, named.count == 1 { return uuid }
        throw failure(
            "\(text.quotedName) is no UUID\(named.isEmpty ? "" : " that is unique")",
            "write 4 or 32 hexadecimal digits such as \"180D\", or an assigned name such as \"Heart Rate\""
        )
    }

    fileprivate func serviceUUID() throws(AccessoryError) -> BluetoothUUID { try uuid(AssignedNumbers.Kind.services) }
}

/// The members of an object of a file.
struct Members {
    let members: [String: JSONTree]
    let path: String

    subscript(_ key: String) -> FileReader? {
        members[key].map { FileReader($0, at: path.isEmpty ? key : "\(path).\(key)") }
    }

    func required(_ key: String) throws(AccessoryError) -> FileReader {
        guard let reader = self[key] else {
            throw AccessoryError(path, "the key \"\(key)\" is missing", "add it")
        }
        return reader
    }

    /// Returns the elements of an array, as `read` reads each of them; none if the file does not have it.
    func list<Element>(
        _ key: String,
        atMost limit: Int,
        _ read: (FileReader) -> () throws(AccessoryError) -> Element
    ) throws(AccessoryError) -> [Element] {
        try self[key]?.list(atMost: limit, read) ?? []
    }

    /// Returns the UUIDs of services; none if the file does not have them.
    func services(_ key: String) throws(AccessoryError) -> [BluetoothUUID] {
        try list(key, atMost: AccessoryLimits.services, FileReader.serviceUUID)
    }

    /// Checks the members that each file begins with.
    func checkFormat(_ version: Int) throws(AccessoryError) {
        let format = try required("format")
        guard format.tree == .number(Double(version)) else {
            throw format.failure("this version of the format is unknown", "write \(version)")
        }
        _ = try self["$schema"]?.text()
    }
}

extension Double {
    /// The number, without a fraction if it has none.
    var shortText: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}

/// The keys of each object of the format. The schema has the same, which a test compares.
enum FormatKeys {
    static let accessory = [
        "$schema", "format", "name", "description", "advertising", "security", "channelSounding", "values", "faults",
        "services",
    ]
    static let advertising = ["name", "services", "manufacturerData", "serviceData", "interval", "connectable"]
    static let manufacturerData = ["company", "data"]
    static let serviceData = ["uuid", "value"]
    static let security = ["pairing", "io", "fixedAddress", "addressLifetime"]
    static let hiddenValue = ["id", "value"]
    static let service = ["uuid", "primary", "includes", "characteristics"]
    static let characteristic = [
        "uuid", "id", "properties", "permission", "value", "changes", "repeat", "notifyEvery", "notifyChanges",
        "onRead", "onWrite", "descriptors",
    ]
    static let permission = ["read", "write", "notify"]
    static let descriptor = ["uuid", "value"]
    static let change = ["after", "value"]
    static let response = ["delay", "fault", "everyNth"]
    static let scheduledFault = ["fault", "at", "until", "onWrite"]
    static let fault = ["attError", "length", "noAnswer"]
    static let rule = ["if", "whenValues", "unlessSubscribed", "delay", "fault", "everyNth", "then"]
    static let content = ["equals", "beginsWith", "length"]
    static let condition = ["characteristic", "value"]
    static let effect = ["set", "notify", "append", "cancel", "value", "after", "everyNth"]
    static let part =
        ["hex", "text", "written", "value", "size", "crc32"] + Accessory.NumberFormat.allCases.map(\.rawValue)
    static let written = ["from", "count"]

    /// All objects, by the names of their definitions in the schema.
    static let all = [
        "accessory": accessory, "advertising": advertising, "manufacturerData": manufacturerData,
        "serviceData": serviceData, "security": security, "service": service, "characteristic": characteristic,
        "hiddenValue": hiddenValue, "scheduledFault": scheduledFault, "permission": permission,
        "descriptor": descriptor, "change": change,
        "response": response, "fault": fault,
        "rule": rule, "content": content, "condition": condition, "effect": effect, "part": part, "written": written,
    ]
}
