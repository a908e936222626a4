import BluetoothTypes

/// Procedures that the server refused, while the owner secures the link.
struct HeldProcedures {
    private var held: [UInt64: (GATTError) -> Void] = [:]
    private var last: UInt64 = 0
    /// The link as it was when the first of them was refused.
    private var security: LinkSecurity?

    var count: Int { held.count }

    /// Holds a procedure, which `fail` ends; the number is for taking it back.
    mutating func add(at security: LinkSecurity, fail: @escaping (GATTError) -> Void) -> UInt64 {
        if held.isEmpty { self.security = security }
        last &+= 1
        held[last] = fail
        return last
    }

    /// Takes a procedure back; false when that has been done already.
    mutating func remove(_ number: UInt64) -> Bool {
        held.removeValue(forKey: number) != nil
    }

    /// Takes all back, in the order of their refusal.
    mutating func removeAll() -> [(GATTError) -> Void] {
        defer { held = [:] }
        return held.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether another procedure may start before these. Not when the link has become another one: they would be let in now,
    /// and they were asked for first.
    func mayOvertake(at security: LinkSecurity) -> Bool {
        held.isEmpty || security == self.security
    }
}
