// The functions that mutated sources call: each returns the original value, unless its mutant is active.
import CMutants

/// Whether the mutant is active.
public func mutantIsActive(_ number: Int32) -> Bool { mutants_is_active(number) }

/// A condition that the mutant inverts.
public func mutantInverted(_ number: Int32, _ value: Bool) -> Bool { mutants_is_active(number) != value }

/// A condition that the mutant makes true.
public func mutantTrue(_ number: Int32, _ value: Bool) -> Bool { mutants_is_active(number) || value }

/// A condition that the mutant makes false.
public func mutantFalse(_ number: Int32, _ value: Bool) -> Bool { !mutants_is_active(number) && value }

/// `a < b`, or `a <= b` in the mutant.
public func mutantLess<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a <= b : a < b
}

/// `a <= b`, or `a < b` in the mutant.
public func mutantLessOrEqual<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a < b : a <= b
}

/// `a > b`, or `a >= b` in the mutant.
public func mutantGreater<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a >= b : a > b
}

/// `a >= b`, or `a > b` in the mutant.
public func mutantGreaterOrEqual<Value: Comparable>(_ number: Int32, _ a: Value, _ b: Value) -> Bool {
    mutants_is_active(number) ? a > b : a >= b
}

/// A literal, or another one in the mutant.
public func mutantLiteral<Value: ExpressibleByIntegerLiteral>(_ number: Int32, _ value: Value, _ other: Value) -> Value
{
    mutants_is_active(number) ? other : value
}
