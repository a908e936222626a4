import BluetoothTypes
import Foundation

extension DeviceSteps {
    static let maximumSteps = 10_000
    /// The time that a step may take unless the file says otherwise, in seconds.
    static let usualLimit = 10.0

    /// Reads steps from a JSON file, as strictly as an accessory is read.
    ///
    /// - Parameter json: The contents of the file.
    /// - Throws: The first error in the file, with its place.
    package init(json: some Collection<UInt8>) throws(AccessoryError) {
        self = try FileReader(JSONTree.parse(json)).deviceSteps()
    }

    /// Reads steps from a JSON file.
    ///
    /// - Parameter url: The file.
    /// - Throws: The first error in the file, or that it cannot be read.
    package init(contentsOf url: URL) throws(AccessoryError) {
        try self.init(json: AccessoryLimits.contents(of: url))
    }
}

/// The keys of each object of a file with steps. The schema has the same, which a test compares.
enum StepKeys {
    static let steps = ["$schema", "format", "name", "device", "seed", "steps"]
    static let verbs = [
        "connect", "disconnect", "disconnection", "pair", "services", "read", "write", "subscribe", "unsubscribe",
        "notification", "silence", "wait", "set", "fault", "endFault",
    ]
    static let step = ["name"] + verbs + ["value", "response", "for", "expect", "within"]
    static let expectation = ["equals", "beginsWith", "length", "number", "attError", "error"]
    static let number = ["format", "at", "from", "to"]

    /// All objects, by the names of their definitions in the schema.
    static let all = ["steps": steps, "step": step, "expectation": expectation, "number": number]

    /// The keys that a verb needs or allows beside itself.
    static func others(_ verb: String) -> Set<String> {
        switch verb {
        case "read", "notification", "subscribe": ["expect", "within"]
        case "write": ["value", "response", "expect", "within"]
        case "set": ["value"]
        case "silence": ["for"]
        case "wait", "fault", "endFault": []
        default: ["within"]
        }
    }
}

extension FileReader {
    fileprivate func deviceSteps() throws(AccessoryError) -> DeviceSteps {
        let members = try members(StepKeys.steps)
        try members.checkFormat(DeviceSteps.format)
        let steps = try members.required("steps").list(atMost: DeviceSteps.maximumSteps, FileReader.step)
        var result = DeviceSteps(steps: steps)
        result.name = try members["name"]?.name()
        result.device = try members["device"]?.name()
        if let seed = members["seed"] { result.seed = UInt64(try seed.integer(0...1 << 53)) }
        return result
    }

    private func step() throws(AccessoryError) -> DeviceSteps.Step {
        let members = try members(StepKeys.step)
        let verbs = StepKeys.verbs.filter { members[$0] != nil }
        guard let verb = verbs.first, verbs.count == 1 else {
            let problem = verbs.isEmpty ? "a step needs a verb" : "a step has one verb"
            throw failure(problem, "use one of \(StepKeys.verbs.joined(separator: ", "))")
        }
        let allowed = StepKeys.others(verb).union(["name", verb])
        if let other = members.members.keys.filter({ !allowed.contains($0) }).min(), let reader = members[other] {
            throw reader.failure("\"\(other)\" does not belong to \"\(verb)\"", "remove it")
        }
        var step = DeviceSteps.Step(
            action: try members.required(verb).action(verb, members),
            limit: try (members["within"]?.seconds(from: AccessoryLimits.shortestInterval))
                ?? .seconds(DeviceSteps.usualLimit)
        )
        step.name = try members["name"]?.name()
        step.expectation = try members["expect"]?.expectation(of: verb)
        return step
    }

    private func action(_ verb: String, _ members: Members) throws(AccessoryError) -> DeviceSteps.Action {
        switch verb {
        case "connect": return try flag(.connect)
        case "disconnect": return try flag(.disconnect)
        case "disconnection": return try flag(.disconnection)
        case "pair": return try flag(.pair)
        case "services":
            return .services(try members.services(verb))
        case "read": return .read(try name())
        case "write":
            let value = try members.required("value").constantValue()
            return .write(try name(), value, isConfirmed: try members["response"]?.bool())
        case "subscribe": return .subscribe(try name())
        case "unsubscribe": return .unsubscribe(try name())
        case "notification": return .notification(try name())
        case "silence": return .silence(try name(), try members.required("for").seconds(from: 0))
        case "fault": return .fault(try deviceFault())
        case "endFault": return .endFault(try deviceFault())
        case "set": return .set(try name(), try members.required("value").constantValue())
        default: return .wait(try seconds(from: 0))
        }
    }

    private func flag(_ action: DeviceSteps.Action) throws(AccessoryError) -> DeviceSteps.Action {
        guard try bool() else { throw failure("this is false", "write true, or remove the step") }
        return action
    }

    private func expectation(of verb: String) throws(AccessoryError) -> DeviceSteps.Expectation {
        let members = try members(StepKeys.expectation)
        var result = DeviceSteps.Expectation()
        if let code = try members["attError"]?.integer(1...255) { result.attError = UInt8(code) }
        result.isError = try members["error"]?.bool() ?? false
        result.equals = try members["equals"]?.constantValue()
        result.beginning = try members["beginsWith"]?.constantValue()
        result.length = try members["length"]?.integer(0...AccessoryLimits.valueLength)
        result.number = try members["number"]?.numberRange()
        let hasValue = ["equals", "beginsWith", "length", "number"].contains { members[$0] != nil }
        if hasValue, ["write", "subscribe"].contains(verb) {
            throw failure("a \(verb) has no value to expect", "expect attError or error, or remove it")
        }
        if hasValue, result.expectsError {
            throw failure("an error has no value", "expect either an error or a value")
        }
        if verb == "notification", result.expectsError {
            throw failure("a notification is no error", "expect a value")
        }
        return result
    }

    private func numberRange() throws(AccessoryError) -> DeviceSteps.NumberRange {
        let members = try members(StepKeys.number)
        let all = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
        let format = try members.required("format").word(Accessory.NumberFormat.self)
        let offset = try members["at"]?.integer(0...AccessoryLimits.valueLength) ?? 0
        let low = try members.required("from").number(all)
        let high = try members["to"]?.number(all) ?? low
        guard low <= high else { throw failure("the range is empty", "write the smaller number as \"from\"") }
        return DeviceSteps.NumberRange(format: format, offset: offset, range: low...high)
    }
}
