import BluetoothTypes

/// The refused procedures that wait while the owner secures the link.
struct HeldProcedures {
    private typealias Ends = [UInt64: (GATTError) -> Void]

    private enum State {
        case empty
        /// The security when the first of them was refused, and the handlers that fail them.
        case holding(since: LinkSecurity, Ends)
    }

    private var state = State.empty
    private var last: UInt64 = 0

    private var ends: Ends {
        if case .holding(_, let ends) = state { return ends }
        return [:]
    }

    var count: Int { ends.count }

    /// Holds a procedure, which `fail` ends. Returns a number for ``remove(_:)``.
    mutating func add(at linkSecurity: LinkSecurity, fail: @escaping (GATTError) -> Void) -> UInt64 {
        last &+= 1
        switch state {
        case .empty: state = .holding(since: linkSecurity, [last: fail])
        case .holding(let since, var ends):
            ends[last] = fail
            state = .holding(since: since, ends)
        }
        return last
    }

    /// Releases a procedure. Returns false if it is no longer held.
    mutating func remove(_ number: UInt64) -> Bool {
        guard case .holding(let since, var ends) = state, ends.removeValue(forKey: number) != nil else { return false }
        state = ends.isEmpty ? .empty : .holding(since: since, ends)
        return true
    }

    /// Releases all procedures, in the order of their refusal.
    mutating func removeAll() -> [(GATTError) -> Void] {
        defer { state = .empty }
        return ends.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether another procedure may start before the held ones. Not after the security has changed: it would now be
    /// accepted although the held ones were requested first.
    func mayOvertake(at linkSecurity: LinkSecurity) -> Bool {
        switch state {
        case .empty: true
        case .holding(let since, _): linkSecurity == since
        }
    }
}
