import BluetoothTypes

/// The values of an accessory, and its answers to requests. A state machine without I/O and without time.
struct AccessoryMachine {
    /// The answer to a request.
    struct Answer: Hashable, Sendable {
        /// The content of a response.
        enum Outcome: Hashable, Sendable {
            /// The value, or for a write nothing but success.
            case success([UInt8])
            case error(UInt8)
            case none
        }

        var delay: Duration
        var outcome: Outcome
    }

    /// The changes that a write makes once it is answered.
    struct Result: Hashable, Sendable {
        var answer: Answer
        /// The values to store, by characteristic.
        var stored: [Int: [UInt8]] = [:]
        /// The updates that follow, with their delays.
        var effects: [TimedUpdate] = []
    }

    /// A new value of a characteristic, or one that only subscribers get.
    struct TimedUpdate: Hashable, Sendable {
        var after: Duration
        var index: Int
        var value: [UInt8]
        /// Whether the characteristic keeps the value.
        var isStored: Bool
    }

    let characteristics: [Accessory.Characteristic]
    private let accessory: Accessory
    private(set) var values: [[UInt8]]
    /// The number of requests so far that a fault may apply to: reads by characteristic, writes by rule.
    private var reads: [Int]
    private var writes: [RulePlace: Int] = [:]

    private struct RulePlace: Hashable {
        let characteristic: Int
        let rule: Int
    }

    /// ATT errors (Core Vol 3 Part F 3.4.1.1).
    private static let invalidOffset: UInt8 = 0x07

    init(_ accessory: Accessory) {
        self.accessory = accessory
        characteristics = accessory.characteristics
        values = characteristics.map { $0.value.octets() }
        reads = characteristics.map { _ in 0 }
    }

    /// Stores a value, whatever the rules for writes say.
    mutating func set(_ value: [UInt8], at index: Int) {
        values[index] = value
    }

    /// Returns the answer to a read.
    mutating func read(_ index: Int, offset: Int) -> Answer {
        let response = characteristics[index].onRead
        if offset == 0 { reads[index] += 1 }
        var value = values[index]
        switch Self.fault(response, reads[index]) {
        case .attError(let code): return Answer(delay: response.delay, outcome: .error(code))
        case .noAnswer: return Answer(delay: response.delay, outcome: .none)
        case .length(let length):
            value = Array(value.prefix(length))
            value += [UInt8](repeating: 0, count: length - value.count)
        case nil: break
        }
        guard offset <= value.count else { return Answer(delay: response.delay, outcome: .error(Self.invalidOffset)) }
        return Answer(delay: response.delay, outcome: .success(Array(value[offset...])))
    }

    /// Returns the result of the writes of one request: several, of one value or of more, if they were prepared.
    mutating func write(_ parts: [(index: Int, offset: Int, value: [UInt8])]) -> Result {
        var written: [Int: [UInt8]] = [:]
        var order: [Int] = []
        for part in parts {
            let before = written[part.index] ?? (part.offset == 0 ? [] : values[part.index])
            guard part.offset <= before.count, part.offset + part.value.count <= AccessoryLimits.valueLength else {
                return Result(answer: Answer(delay: .zero, outcome: .error(Self.invalidOffset)))
            }
            if written[part.index] == nil { order.append(part.index) }
            written[part.index] = before.prefix(part.offset) + part.value
        }
        var result = Result(answer: Answer(delay: .zero, outcome: .success([])))
        for index in order { apply(written[index] ?? [], at: index, to: &result) }
        if result.answer.outcome != .success([]) { (result.stored, result.effects) = ([:], []) }
        return result
    }

    /// Applies the first rule that fits.
    private mutating func apply(_ value: [UInt8], at index: Int, to result: inout Result) {
        let rules = characteristics[index].onWrite
        guard let number = rules.firstIndex(where: { fits($0, value) }) else {
            result.stored[index] = value
            return
        }
        let (rule, place) = (rules[number], RulePlace(characteristic: index, rule: number))
        writes[place, default: 0] += 1
        result.answer.delay = max(result.answer.delay, rule.response.delay)
        switch Self.fault(rule.response, writes[place, default: 0]) {
        case .attError(let code): return result.answer.outcome = .error(code)
        case .noAnswer: return result.answer.outcome = .none
        case .length, nil: break
        }
        result.stored[index] = value
        for effect in rule.effects {
            guard let target = accessory.index(of: effect.characteristic) else { continue }
            result.effects.append(
                TimedUpdate(
                    after: effect.after,
                    index: target,
                    value: effect.value.octets(written: value),
                    isStored: effect.verb == .set
                )
            )
        }
    }

    private func fits(_ rule: Accessory.Rule, _ value: [UInt8]) -> Bool {
        let isContentRight =
            switch rule.content {
            case .equals(let wanted): value == wanted.octets()
            case .beginsWith(let wanted): value.starts(with: wanted.octets())
            case .length(let length): value.count == length
            case nil: true
            }
        guard isContentRight else { return false }
        return rule.conditions.allSatisfy { condition in
            accessory.index(of: condition.characteristic).map { values[$0] == condition.value.octets() } ?? false
        }
    }

    private static func fault(_ response: Accessory.Response, _ count: Int) -> Accessory.Fault? {
        count.isMultiple(of: response.faultPeriod) ? response.fault : nil
    }
}
