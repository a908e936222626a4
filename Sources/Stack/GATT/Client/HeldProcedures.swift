import BluetoothTypes

/// The refused procedures that wait while the owner secures the link.
struct HeldProcedures {
    private var ends: [UInt64: (GATTError) -> Void] = [:]
    /// The security when the first of them was refused.
    private var since = LinkSecurity()
    private var last: UInt64 = 0

    var count: Int { ends.count }

    /// Holds a procedure, which `fail` ends. Returns a number for ``remove(_:)``.
    mutating func add(at linkSecurity: LinkSecurity, fail: @escaping (GATTError) -> Void) -> UInt64 {
        last &+= 1
        if ends.isEmpty { since = linkSecurity }
        ends[last] = fail
        return last
    }

    /// Releases a procedure. Returns false if it is no longer held.
    mutating func remove(_ number: UInt64) -> Bool { ends.removeValue(forKey: number) != nil }

    /// Releases all procedures, in the order of their refusal.
    mutating func removeAll() -> [(GATTError) -> Void] {
        defer { ends = [:] }
        return ends.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether another procedure may start before the held ones. Not after the security has changed: it would now be
    /// accepted although the held ones were requested first.
    func mayOvertake(at linkSecurity: LinkSecurity) -> Bool { ends.isEmpty || linkSecurity == since }
}
