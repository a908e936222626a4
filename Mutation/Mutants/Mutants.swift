// What the mutated sources call: each returns what the source says, unless its mutant is switched on.
import CMutants

/// Whether the mutant is switched on.
public func mutantIsActive(_ number: Int32) -> Bool { mutants_is_active(number) }

/// A condition, inverted by the mutant.
public func mutantInverted(_ number: Int32, _ value: Bool) -> Bool { mutants_is_active(number) != value }

/// A condition that the mutant takes to be true.
public func mutantTrue(_ number: Int32, _ value: Bool) -> Bool { mutants_is_active(number) || value }

/// A condition that the mutant takes to be false.
public func mutantFalse(_ number: Int32, _ value: Bool) -> Bool { !mutants_is_active(number) && value }

/// `a < b`, or `a <= b` by the mutant.
public func mutantLess<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a <= b : a < b
}

/// `a <= b`, or `a < b` by the mutant.
public func mutantLessOrEqual<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a < b : a <= b
}

/// `a > b`, or `a >= b` by the mutant.
public func mutantGreater<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a >= b : a > b
}

/// `a >= b`, or `a > b` by the mutant.
public func mutantGreaterOrEqual<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a > b : a >= b
}

/// A literal, or another by the mutant.
public func mutantLiteral<Value: ExpressibleByIntegerLiteral>(_ number: Int32, _ value: Value, _ other: Value) -> Value
{
    mutants_is_active(number) ? other : value
}
