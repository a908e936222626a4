import BluetoothTypes
import Foundation
import LinkLayer

/// An error in the file of a radio profile.
public struct RadioProfileError: Error, Hashable, CustomStringConvertible {
    /// The place in the file, such as `receive.1M`; empty for the file as a whole.
    public var place: String
    /// The error, and how to correct it.
    public var problem: String

    /// A line for the user.
    public var description: String { place.isEmpty ? problem : "\(place): \(problem)" }
}

extension RadioProfile {
    /// The version of the format.
    public static let format = 1
    /// The maximum size of a file, in octets.
    static let maximumFileSize = 65_536

    /// Reads a profile from a JSON file.
    ///
    /// The format is described by `Documentation/radio-profile-1.schema.json` and in `Documentation/Energy.md`. Unknown
    /// members, wrong types and values out of range are errors, as is a number without its source.
    ///
    /// - Parameter json: The contents of the file.
    /// - Throws: The first error in the file, with its place.
    public init(json: some Collection<UInt8>) throws(RadioProfileError) {
        guard json.count <= Self.maximumFileSize else {
            throw RadioProfileError(place: "", problem: "the file is longer than \(Self.maximumFileSize) octets")
        }
        guard let tree = try? JSONDecoder().decode(JSONValue.self, from: Data(json)) else {
            throw RadioProfileError(place: "", problem: "this is not JSON")
        }
        self = try ProfileReader(tree, at: "").profile()
    }

    /// Reads a profile from a JSON text.
    ///
    /// - Parameter json: The text.
    /// - Throws: The first error in the text, with its place.
    public init(json: String) throws(RadioProfileError) {
        try self.init(json: Array(json.utf8))
    }

    /// Reads a profile from a file.
    ///
    /// - Parameter url: The file.
    /// - Throws: The first error in the file, or that it cannot be read.
    public init(contentsOf url: URL) throws(RadioProfileError) {
        let file: PlainFile
        do throws(PlainFile.Fault) {
            file = try PlainFile(url.path, atMost: Self.maximumFileSize)
        } catch {
            throw RadioProfileError(place: "", problem: "cannot read the file: \(error)")
        }
        try self.init(json: file.octets)
    }
}

/// A value of the file.
private enum JSONValue: Decodable {
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])
    case null

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }
}

/// A value of the file, and its place.
private struct ProfileReader {
    let value: JSONValue
    let place: String

    init(_ value: JSONValue, at place: String) {
        (self.value, self.place) = (value, place)
    }

    func failure(_ problem: String) -> RadioProfileError { RadioProfileError(place: place, problem: problem) }

    /// Returns the members of an object, which has all that are required and none but the optional ones besides.
    func members(
        _ required: [String],
        optional: [String] = []
    ) throws(RadioProfileError) -> [String: ProfileReader] {
        guard case .object(let object) = value else { throw failure("write an object here") }
        for key in object.keys.sorted() where !required.contains(key) && !optional.contains(key) {
            let known = (required + optional).joined(separator: ", ")
            throw failure("the member \"\(key)\" is unknown; known are \(known)")
        }
        for key in required where object[key] == nil { throw failure("the member \"\(key)\" is missing") }
        var members: [String: ProfileReader] = [:]
        for (key, value) in object { members[key] = ProfileReader(value, at: place.isEmpty ? key : "\(place).\(key)") }
        return members
    }

    func text() throws(RadioProfileError) -> String {
        guard case .text(let text) = value, !text.isEmpty else { throw failure("write a text here") }
        return text
    }

    /// Returns a number in units of a thousandth, a millionth and so on of what the file has.
    func number(times scale: Double, in range: ClosedRange<Double>) throws(RadioProfileError) -> Int64 {
        guard case .number(let number) = value, range.contains(number),
            let scaled = Int64(exactly: (number * scale).rounded())
        else { throw failure("write a number from \(range.lowerBound) to \(range.upperBound) here") }
        return scaled
    }

    func profile() throws(RadioProfileError) -> RadioProfile {
        let required = ["format", "name", "supply", "transmit", "receive", "rampUp", "idle", "sleep", "wakeUp"]
        let parts = try members(required, optional: ["$schema", "description"])
        guard try parts["format"]?.number(times: 1, in: 0...1e6) == Int64(RadioProfile.format) else {
            throw RadioProfileError(place: "format", problem: "this version is unknown; write \(RadioProfile.format)")
        }
        let ramps = try parts["rampUp"]?.members(["transmit", "receive"])
        return RadioProfile(
            name: try parts["name"]?.text() ?? "",
            summary: try parts["description"]?.text(),
            millivolts: Int(try parts["supply"]?.quantity("volts", times: 1_000, in: 0.5...20) ?? 0),
            transmit: try parts["transmit"]?.levels() ?? [],
            receive: try parts["receive"]?.modulations() ?? [:],
            transmitRampUp: try ramps?["transmit"]?.rampUp() ?? .init(microseconds: 0, nanoamperes: 0),
            receiveRampUp: try ramps?["receive"]?.rampUp() ?? .init(microseconds: 0, nanoamperes: 0),
            idle: try parts["idle"]?.quantity("milliamperes", times: 1e6, in: 0...1_000) ?? 0,
            sleep: try parts["sleep"]?.quantity("microamperes", times: 1e3, in: 0...1e6) ?? 0,
            wakeUp: Charge(
                femtocoulombs: Int128(try parts["wakeUp"]?.quantity("microcoulombs", times: 1e9, in: 0...1e6) ?? 0)
            )
        )
    }

    /// Returns the number of an object with a number and its source.
    func quantity(
        _ unit: String,
        times scale: Double,
        in range: ClosedRange<Double>
    ) throws(RadioProfileError) -> Int64 {
        let parts = try members([unit, "source"])
        _ = try parts["source"]?.text()
        return try parts[unit]?.number(times: scale, in: range) ?? 0
    }

    func levels() throws(RadioProfileError) -> [RadioProfile.Level] {
        guard case .list(let elements) = value, !elements.isEmpty, elements.count <= 64 else {
            throw failure("write a list of one to 64 levels here")
        }
        var levels: [RadioProfile.Level] = []
        for (index, element) in elements.enumerated() {
            let reader = ProfileReader(element, at: "\(place)[\(index)]")
            let parts = try reader.members(["dBm", "milliamperes", "source"])
            _ = try parts["source"]?.text()
            let power = Int8(try parts["dBm"]?.number(times: 1, in: -127...20) ?? 0)
            if let last = levels.last, last.dBm >= power { throw reader.failure("list the levels by rising dBm") }
            let current = try parts["milliamperes"]?.number(times: 1e6, in: 0...1_000) ?? 0
            levels.append(RadioProfile.Level(dBm: power, nanoamperes: current))
        }
        return levels
    }

    func modulations() throws(RadioProfileError) -> [RadioPHY.Modulation: Int64] {
        let parts = try members(["1M"], optional: ["2M", "coded"])
        let names: [(String, RadioPHY.Modulation)] = [("1M", .le1M), ("2M", .le2M), ("coded", .coded)]
        var currents: [RadioPHY.Modulation: Int64] = [:]
        for (name, modulation) in names {
            guard let part = parts[name] else { continue }
            currents[modulation] = try part.quantity("milliamperes", times: 1e6, in: 0...1_000)
        }
        return currents
    }

    func rampUp() throws(RadioProfileError) -> RadioProfile.RampUp {
        let parts = try members(["microseconds", "milliamperes", "source"])
        _ = try parts["source"]?.text()
        return RadioProfile.RampUp(
            microseconds: try parts["microseconds"]?.number(times: 1, in: 0...1e6) ?? 0,
            nanoamperes: try parts["milliamperes"]?.number(times: 1e6, in: 0...1_000) ?? 0
        )
    }
}
