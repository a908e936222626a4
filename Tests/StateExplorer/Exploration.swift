/// A system that is explored: machines, and the network and users between them.
///
/// States are reached again by repeating the moves from the beginning, so machines may hold references.
package protocol Explorable {
    associatedtype Move: Hashable

    /// The moves that are possible now; none in a final state.
    var moves: [Move] { get }
    /// A description that two states share only if they have the same future.
    var key: String { get }
    /// The broken rule of this state, if there is one.
    var fault: String? { get }

    mutating func perform(_ move: Move)
}

/// A breadth-first search of all states of a system.
package struct Exploration<System: Explorable> {
    /// A broken rule, and the shortest moves that lead to it.
    package struct Fault {
        package let text: String
        package let moves: [System.Move]
    }

    /// The number of faults after which a search ends.
    private static var maximumFaults: Int { 3 }

    package private(set) var states = 0
    package private(set) var edges = 0
    /// The states without moves.
    package private(set) var ends = 0
    /// The longest shortest path to a state.
    package private(set) var depth = 0
    /// Whether all states were found within the limit.
    package private(set) var isComplete = true
    package private(set) var faults: [Fault] = []

    /// Explores a system from its beginning.
    ///
    /// - Parameters:
    ///   - limit: The number of states after which the search ends.
    ///   - make: Creates the system in its first state, always the same.
    package init(limit: Int, _ make: () -> System) {
        var seen: Set<String> = []
        var frontier: [[System.Move]] = [[]]
        visit(make(), [], &seen)
        while !frontier.isEmpty, faults.count < Self.maximumFaults {
            var next: [[System.Move]] = []
            for path in frontier {
                for move in Self.system(after: path, make).moves {
                    guard states < limit else {
                        isComplete = false
                        return
                    }
                    edges += 1
                    let longer = path + [move]
                    if visit(Self.system(after: longer, make), longer, &seen) { next.append(longer) }
                }
            }
            if !next.isEmpty { depth += 1 }
            frontier = next
        }
    }

    private static func system(after path: [System.Move], _ make: () -> System) -> System {
        var system = make()
        for move in path { system.perform(move) }
        return system
    }

    /// Counts a state; returns whether it is new and has to be continued.
    @discardableResult
    private mutating func visit(_ system: System, _ path: [System.Move], _ seen: inout Set<String>) -> Bool {
        guard seen.insert(system.key).inserted else { return false }
        states += 1
        if system.moves.isEmpty { ends += 1 }
        guard let fault = system.fault else { return true }
        faults.append(Fault(text: fault, moves: path))
        return false
    }
}

/// Returns a description of a value with everything in it, also what is not printed otherwise.
///
/// Objects are left out: they are no part of a state that is repeated from the beginning.
package func wholeDescription(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .class { return "" }
    guard !mirror.children.isEmpty else { return "\(value)" }
    let children = mirror.children.map { "\($0.label ?? ""):\(wholeDescription($0.value))" }
    return "\(type(of: value))(\(children.joined(separator: ",")))"
}
