/// Evaluates the condition of an `#if` as far as the platform decides it: true, false, or nil if it depends on
/// something else.
struct Condition {
    private let tokens: [Token]
    private var place = 0
    private let modules: Modules
    /// The number of further levels of parentheses to evaluate.
    private let depth: Int

    static func value(of tokens: [Token], modules: Modules, depth: Int = 16) -> Bool? {
        guard depth > 0 else { return nil }
        var condition = Condition(tokens: tokens, modules: modules, depth: depth)
        return condition.either()
    }

    private mutating func consumes(_ text: String) -> Bool {
        guard place < tokens.count, tokens[place].is(text) else { return false }
        place += 1
        return true
    }

    /// Consumes an operator of two equal characters.
    private mutating func consumesTwice(_ sign: String) -> Bool {
        guard place + 1 < tokens.count, tokens[place].is(sign), tokens[place + 1].is(sign) else { return false }
        place += 2
        return true
    }

    private mutating func either() -> Bool? {
        var value = both()
        while consumesTwice("|") {
            let other = both()
            value = value == true || other == true ? true : value == false && other == false ? false : nil
        }
        return value
    }

    private mutating func both() -> Bool? {
        var value = one()
        while consumesTwice("&") {
            let other = one()
            value = value == false || other == false ? false : value == true && other == true ? true : nil
        }
        return value
    }

    private mutating func one() -> Bool? {
        var isNegated = false
        while consumes("!") { isNegated.toggle() }
        let value = plain()
        return isNegated ? value.map { !$0 } : value
    }

    private mutating func plain() -> Bool? {
        guard place < tokens.count else { return nil }
        if tokens[place].is("(") { return group() }
        let name = tokens[place].text
        place += 1
        guard consumes("(") else { return name == "true" ? true : name == "false" ? false : nil }
        let arguments = untilClosed()
        switch name {
        case "os": return arguments.first.map { $0.is("Linux") }
        case "targetEnvironment": return false
        case "canImport": return arguments.first.flatMap { modules.canImport($0.text) }
        default: return nil
        }
    }

    private mutating func group() -> Bool? {
        place += 1
        return Condition.value(of: untilClosed(), modules: modules, depth: depth - 1)
    }

    /// Consumes the closing parenthesis and returns the tokens before it.
    private mutating func untilClosed() -> [Token] {
        let start = place
        var depth = 1
        while place < tokens.count {
            depth += tokens[place].is("(") ? 1 : tokens[place].is(")") ? -1 : 0
            place += 1
            if depth == 0 { return Array(tokens[start..<(place - 1)]) }
        }
        return Array(tokens[start...])
    }
}
