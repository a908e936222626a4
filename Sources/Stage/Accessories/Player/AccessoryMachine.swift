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

    /// An effect of a write, which is applied later.
    struct TimedUpdate: Hashable, Sendable {
        var after: Duration
        /// The characteristic that was written.
        var source: Int
        /// The characteristic or hidden value that the effect is about.
        var target: Int
        var effect: Accessory.Effect
        var written: [UInt8]
    }

    /// A value for the table or for subscribers.
    struct Update: Hashable, Sendable {
        var index: Int
        var value: [UInt8]
        /// Whether the value was stored, rather than only sent.
        var isStored: Bool
    }

    let characteristics: [Accessory.Characteristic]
    private let accessory: Accessory
    private(set) var values: [[UInt8]]
    /// The number of requests so far that a fault may apply to: reads by characteristic, writes by rule.
    private var reads: [Int]
    private var writes: [RulePlace: Int] = [:]
    private var effects: [EffectPlace: Int] = [:]

    private struct RulePlace: Hashable {
        let characteristic: Int
        let rule: Int
    }

    private struct EffectPlace: Hashable {
        let rule: RulePlace
        let effect: Int
    }

    /// ATT errors (Core Vol 3 Part F 3.4.1.1).
    private static let invalidOffset: UInt8 = 0x07

    init(_ accessory: Accessory) {
        self.accessory = accessory
        characteristics = accessory.characteristics
        values = accessory.initialValues
        reads = characteristics.map { _ in 0 }
    }

    /// Stores a value, whatever the rules for writes say.
    mutating func set(_ value: [UInt8], at index: Int) {
        values[index] = value
    }

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
    ///
    /// - Parameters:
    ///   - parts: The writes.
    ///   - isSubscribed: Returns whether the writer is subscribed to a characteristic.
    mutating func write(
        _ parts: [(index: Int, offset: Int, value: [UInt8])],
        isSubscribed: (Int) -> Bool = { _ in true }
    ) -> Result {
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
        for index in order { apply(written[index] ?? [], at: index, isSubscribed, to: &result) }
        if result.answer.outcome != .success([]) { (result.stored, result.effects) = ([:], []) }
        return result
    }

    private mutating func apply(
        _ value: [UInt8],
        at index: Int,
        _ isSubscribed: (Int) -> Bool,
        to result: inout Result
    ) {
        let rules = characteristics[index].onWrite
        let fitting = rules.firstIndex { fits($0, value) && lacksSubscriptions($0, isSubscribed) }
        guard let number = fitting else {
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
        for (position, effect) in rule.effects.enumerated() {
            let counter = EffectPlace(rule: place, effect: position)
            guard let target = accessory.slot(of: effect.characteristic), isDue(effect, counter) else { continue }
            result.effects.append(
                TimedUpdate(after: effect.after, source: index, target: target, effect: effect, written: value)
            )
        }
    }

    /// Counts the write, and returns whether it has the effect.
    private mutating func isDue(_ effect: Accessory.Effect, _ place: EffectPlace) -> Bool {
        let period: Int
        switch effect.period {
        case nil: return true
        case .every(let number): period = number
        case .value(let reference):
            period = present(reference).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard period > 0 else {
            effects[place] = 0
            return false
        }
        effects[place, default: 0] += 1
        return effects[place, default: 0].isMultiple(of: period)
    }

    private func present(_ reference: String) -> [UInt8] { accessory.slot(of: reference).map { values[$0] } ?? [] }

    /// Applies an effect to the values, and returns what subscribers of a characteristic may get.
    mutating func apply(_ update: TimedUpdate) -> Update? {
        let value = update.effect.value.octets(written: update.written) { present($0) }
        switch update.effect.verb {
        case .set:
            values[update.target] = value
            guard update.target < characteristics.count else { return nil }
            return Update(index: update.target, value: value, isStored: true)
        case .notify: return Update(index: update.target, value: value, isStored: false)
        case .append:
            let room = AccessoryLimits.hiddenValueLength - values[update.target].count
            values[update.target] += value.prefix(max(0, room))
            return nil
        case .cancel: return nil
        }
    }

    private func fits(_ rule: Accessory.Rule, _ value: [UInt8]) -> Bool {
        let isContentRight =
            switch rule.content {
            case .equals(let wanted): value == wanted.octets(present: present)
            case .beginsWith(let wanted): value.starts(with: wanted.octets())
            case .length(let length): value.count == length
            case nil: true
            }
        guard isContentRight else { return false }
        return rule.conditions.allSatisfy { condition in
            accessory.slot(of: condition.characteristic).map { values[$0] == condition.value.octets() } ?? false
        }
    }

    /// Whether the writer lacks one of the subscriptions of a rule, or the rule has none.
    private func lacksSubscriptions(_ rule: Accessory.Rule, _ isSubscribed: (Int) -> Bool) -> Bool {
        let wanted = rule.missingSubscriptions.compactMap { accessory.index(of: $0) }
        return wanted.isEmpty || !wanted.allSatisfy(isSubscribed)
    }

    private static func fault(_ response: Accessory.Response, _ count: Int) -> Accessory.Fault? {
        count.isMultiple(of: response.faultPeriod) ? response.fault : nil
    }
}
