import Testing

/// The arguments of a test case, as text for the name of its world.
enum CaseArguments {
    /// The longest text of an argument, in characters.
    static let maximumLength = 40

    /// Returns the texts of the arguments; none for a test without parameters.
    ///
    /// Swift Testing has no public name for the arguments, so that they are found by reflection. If that fails, there
    /// are none.
    static func texts(of testCase: Test.Case?) -> [String] {
        guard let testCase else { return [] }
        return arguments(in: testCase, depth: 3).map { String("\($0)".prefix(maximumLength)) }
    }

    private static func arguments(in value: Any, depth: Int) -> [Any] {
        guard depth > 0 else { return [] }
        let mirror = Mirror(reflecting: value)
        if let list = mirror.descendant("arguments") {
            return Mirror(reflecting: list).children.compactMap { Mirror(reflecting: $0.value).descendant("value") }
        }
        for child in mirror.children {
            let found = arguments(in: child.value, depth: depth - 1)
            if !found.isEmpty { return found }
        }
        return []
    }
}
