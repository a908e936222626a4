/// A bounded table that forgets the entry that was used longest ago, except those that somebody keeps (AB-G02).
///
/// No operation takes longer for more entries: the order of use is a chain through the entries.
package struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var key: Key
        var value: Value
        var older: Int?
        var newer: Int?
    }

    /// Entries that can be forgotten, at most.
    package let limit: Int
    private var places: [Key: Int] = [:]
    private var entries: [Entry?] = []
    private var free: [Int] = []
    private var oldest: Int?
    private var newest: Int?
    private var chained = 0
    /// How often each kept key is kept, whether or not there is an entry for it.
    private var keepers: [Key: Int] = [:]

    /// An empty table for up to `limit` entries that nobody keeps, at least one.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Entries that there are.
    package var count: Int { places.count }

    /// The entries in no particular order.
    package var values: [Value] { entries.compactMap { $0?.value } }

    /// The entry of a key, without counting as a use.
    package subscript(_ key: Key) -> Value? {
        places[key].flatMap { entries[$0]?.value }
    }

    /// Uses the entry of a key: it becomes the newest. A new one may push the oldest out.
    ///
    /// - Returns: What was pushed out.
    @discardableResult
    package mutating func set(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        if let place = places[key] {
            entries[place]?.value = value
            if keepers[key] == nil {
                unchain(place)
                chain(place)
            }
            return nil
        }
        let isKept = keepers[key] != nil
        let pushedOut = !isKept && chained >= limit ? popOldest() : nil
        let place = free.popLast() ?? entries.count
        let entry = Entry(key: key, value: value, older: nil, newer: nil)
        if place == entries.count { entries.append(entry) } else { entries[place] = entry }
        places[key] = place
        if !isKept { chain(place) }
        return pushedOut
    }

    /// Changes an entry where it is, if there is one; not a use.
    package mutating func update(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = places[key], var entry = entries[place] else { return }
        change(&entry.value)
        entries[place] = entry
    }

    /// Forgets the entry of a key, kept or not.
    @discardableResult
    package mutating func removeValue(for key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        if keepers[key] == nil { unchain(place) }
        defer { vacate(place) }
        return entries[place]?.value
    }

    /// Forgets the oldest entry that nobody keeps.
    package mutating func popOldest() -> (key: Key, value: Value)? {
        guard let place = oldest, let entry = entries[place] else { return nil }
        unchain(place)
        places[entry.key] = nil
        vacate(place)
        return (entry.key, entry.value)
    }

    /// The oldest entry that nobody keeps.
    package var oldestEntry: (key: Key, value: Value)? {
        oldest.flatMap { entries[$0] }.map { ($0.key, $0.value) }
    }

    /// Keeps the entry of a key, now or when there is one, until as many ``release(_:)`` have come.
    package mutating func keep(_ key: Key) {
        keepers[key, default: 0] += 1
        if keepers[key] == 1, let place = places[key] { unchain(place) }
    }

    /// Takes one ``keep(_:)`` back. An entry that nobody keeps any more is the newest.
    ///
    /// - Returns: What was pushed out by it.
    @discardableResult
    package mutating func release(_ key: Key) -> (key: Key, value: Value)? {
        guard let count = keepers[key] else { return nil }
        keepers[key] = count == 1 ? nil : count - 1
        guard count == 1, let place = places[key] else { return nil }
        let pushedOut = chained >= limit ? popOldest() : nil
        chain(place)
        return pushedOut
    }

    /// Forgets all entries; what is kept goes on being kept.
    package mutating func removeAll() {
        places.removeAll()
        entries.removeAll()
        free.removeAll()
        (oldest, newest, chained) = (nil, nil, 0)
    }

    private mutating func vacate(_ place: Int) {
        entries[place] = nil
        free.append(place)
    }

    private mutating func chain(_ place: Int) {
        entries[place]?.older = newest
        entries[place]?.newer = nil
        if let newest { entries[newest]?.newer = place } else { oldest = place }
        newest = place
        chained += 1
    }

    private mutating func unchain(_ place: Int) {
        let (older, newer) = (entries[place]?.older, entries[place]?.newer)
        if let older { entries[older]?.newer = newer } else { oldest = newer }
        if let newer { entries[newer]?.older = older } else { newest = older }
        chained -= 1
    }
}
