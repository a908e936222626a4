/// The handles of the Client Characteristic Configuration descriptors that a client has found, as far as no change of
/// the database has made them invalid.
struct ConfigurationDescriptors {
    /// The number of database changes so far.
    private(set) var changes: UInt64 = 0
    private var handles: [UInt16: UInt16] = [:]

    /// The descriptor of a value; nil if it has to be discovered.
    subscript(_ value: UInt16) -> UInt16? { handles[value] }

    /// Records the descriptor of a value, unless the database has changed since it was looked for.
    mutating func learn(_ descriptor: UInt16?, of value: UInt16, since change: UInt64) {
        if changes == change { handles[value] = descriptor }
    }

    /// Forgets the descriptors of the values in a range that has changed.
    mutating func databaseChanged(_ range: ClosedRange<UInt16>) {
        changes &+= 1
        handles = handles.filter { !range.contains($0.key) }
    }
}
