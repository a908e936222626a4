/// Who keeps a user of the radio silent for a while. It goes on when the last of them lets go.
struct RadioHolders {
    enum Holder {
        /// The address or the resolving list changes.
        case privacy
        /// It is the turn of somebody else.
        case turns
    }

    private var holders: Set<Holder> = []

    mutating func add(_ holder: Holder) { holders.insert(holder) }

    /// Whether nobody is left.
    mutating func remove(_ holder: Holder) -> Bool {
        holders.remove(holder)
        return holders.isEmpty
    }
}
