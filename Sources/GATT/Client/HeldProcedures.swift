import BluetoothTypes

/// Procedures that the server refused, while the owner secures the link.
struct HeldProcedures {
    private typealias Ends = [UInt64: (GATTError) -> Void]

    private enum State {
        case empty
        /// The link as it was when the first of them was refused, and how to end them.
        case holding(since: LinkSecurity, Ends)
    }

    private var state = State.empty
    private var last: UInt64 = 0

    private var ends: Ends {
        if case .holding(_, let ends) = state { return ends }
        return [:]
    }

    var count: Int { ends.count }

    /// Holds a procedure, which `fail` ends; the number is for taking it back.
    mutating func add(at security: LinkSecurity, fail: @escaping (GATTError) -> Void) -> UInt64 {
        last &+= 1
        switch state {
        case .empty: state = .holding(since: security, [last: fail])
        case .holding(let since, var ends):
            ends[last] = fail
            state = .holding(since: since, ends)
        }
        return last
    }

    /// Takes a procedure back; false when that has been done already.
    mutating func remove(_ number: UInt64) -> Bool {
        guard case .holding(let since, var ends) = state, ends.removeValue(forKey: number) != nil else { return false }
        state = ends.isEmpty ? .empty : .holding(since: since, ends)
        return true
    }

    /// Takes all back, in the order of their refusal.
    mutating func removeAll() -> [(GATTError) -> Void] {
        defer { state = .empty }
        return ends.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether another procedure may start before these. Not when the link has become another one: they would be let in now,
    /// and they were asked for first.
    func mayOvertake(at security: LinkSecurity) -> Bool {
        switch state {
        case .empty: true
        case .holding(let since, _): security == since
        }
    }
}
