/// The reasons for which a user of the radio is paused. It resumes when the last one is removed.
struct RadioHolders {
    enum Holder {
        /// The address or the resolving list is changing.
        case privacy
        /// Another user has its turn.
        case turns
    }

    private var holders: Set<Holder> = []

    mutating func add(_ holder: Holder) { holders.insert(holder) }

    /// Removes a reason and returns whether none is left.
    mutating func remove(_ holder: Holder) -> Bool {
        holders.remove(holder)
        return holders.isEmpty
    }
}
