/// A system that is explored: machines, and the network and users between them.
package protocol Explorable {
    associatedtype Move: Hashable
    associatedtype Key: Hashable

    /// Whether a copy of the system is independent of the original.
    ///
    /// If not, because machines hold references, states are reached again by repeating the moves from the beginning.
    static var isValue: Bool { get }

    /// The moves that are possible now; none in a final state.
    var moves: [Move] { get }
    /// A description that two states share only if they have the same future.
    var key: Key { get }
    /// The broken rule of this state, if there is one.
    var fault: String? { get }

    mutating func perform(_ move: Move)
}

extension Explorable {
    package static var isValue: Bool { false }
}

/// A breadth-first search of all states of a system.
package struct Exploration<System: Explorable> {
    /// A broken rule, and the shortest moves that lead to it.
    package struct Fault: CustomStringConvertible {
        package let text: String
        package let moves: [System.Move]

        /// The rule, and a line for each move.
        package var description: String {
            let lines = moves.enumerated().map { "\n  \($0 + 1). \(unqualified("\($1)"))" }
            return "\(text), after" + (lines.isEmpty ? " no move" : lines.joined())
        }
    }

    /// A state, with the way that leads to it.
    private struct Node {
        let parent: Int?
        let move: System.Move?
    }

    /// The number of faults after which a search ends.
    private static var maximumFaults: Int { 3 }

    package private(set) var edges = 0
    /// The states without moves.
    package private(set) var ends = 0
    /// The longest shortest path to a state.
    package private(set) var depth = 0
    /// Whether all states were found within the limit.
    package private(set) var isComplete = true
    package private(set) var faults: [Fault] = []
    private var nodes: [Node] = []

    package var states: Int { nodes.count }

    /// The size of the exploration, in words.
    package var summary: String { "\(states) states, \(edges) edges, \(ends) ends, depth \(depth)" }

    /// Explores a system from its beginning.
    ///
    /// - Parameters:
    ///   - limit: The number of states after which the search ends.
    ///   - make: Creates the system in its first state, always the same.
    package init(limit: Int, _ make: () -> System) {
        var seen: Set<System.Key> = []
        var frontier: [(node: Int, system: System?)] = []
        if let first = visit(make(), Node(parent: nil, move: nil), &seen) { frontier.append(first) }
        while !frontier.isEmpty, faults.count < Self.maximumFaults {
            var next: [(node: Int, system: System?)] = []
            for (node, kept) in frontier {
                let system = kept ?? system(at: node, make)
                for move in system.moves {
                    guard states < limit else {
                        isComplete = false
                        return
                    }
                    edges += 1
                    var successor = kept ?? self.system(at: node, make)
                    successor.perform(move)
                    if let new = visit(successor, Node(parent: node, move: move), &seen) { next.append(new) }
                }
            }
            if !next.isEmpty { depth += 1 }
            frontier = next
        }
    }

    /// Repeats the moves that lead to a state.
    private func system(at node: Int, _ make: () -> System) -> System {
        var system = make()
        for move in path(to: node) { system.perform(move) }
        return system
    }

    private func path(to node: Int) -> [System.Move] {
        var moves: [System.Move] = []
        var current = nodes[node]
        while let move = current.move {
            moves.append(move)
            guard let parent = current.parent else { break }
            current = nodes[parent]
        }
        return moves.reversed()
    }

    /// Counts a state; returns it if it is new and has to be continued.
    private mutating func visit(
        _ system: System,
        _ node: Node,
        _ seen: inout Set<System.Key>
    ) -> (node: Int, system: System?)? {
        guard seen.insert(system.key).inserted else { return nil }
        nodes.append(node)
        let number = nodes.count - 1
        if system.moves.isEmpty { ends += 1 }
        guard let fault = system.fault else { return (number, System.isValue ? system : nil) }
        faults.append(Fault(text: fault, moves: path(to: number)))
        return nil
    }
}

/// Removes the names of types that qualify others, as in "SMP.PairingRole.initiator".
private func unqualified(_ text: String) -> String {
    var result = ""
    var word = ""
    for character in text {
        if character.isLetter || character.isNumber || character == "_" {
            word.append(character)
        } else {
            let isType = character == "." && word.first?.isUppercase == true
            if !isType { result += word + String(character) }
            word = ""
        }
    }
    return result + word
}

/// Returns a description of a value with everything in it, also what is not printed otherwise.
///
/// Objects are left out: they are no part of a state that is repeated from the beginning.
package func wholeDescription(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .class { return "" }
    guard !mirror.children.isEmpty else {
        // The mirror of a key is empty, so that it is never printed; its hash tells it from others.
        let hash = value is any CustomReflectable ? (value as? any Hashable)?.hashValue : nil
        return hash.map { "\(value)#\($0)" } ?? "\(value)"
    }
    let children = mirror.children.map { "\($0.label ?? ""):\(wholeDescription($0.value))" }
    return "\(type(of: value))(\(children.joined(separator: ",")))"
}
