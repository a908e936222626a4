/// A bounded least-recently-used table with pinned entries, which are never evicted (AB-G02).
///
/// Every operation takes constant time: the order of use is a linked list through the entries. It is public and inlinable so
/// that other modules specialize it, which the compiler does not do for what is inlinable in a package: an advertising report
/// then takes a third less time.
public struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var key: Key
        @usableFromInline var value: Value
        @usableFromInline var older: Int?
        @usableFromInline var newer: Int?

        @inlinable
        init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }

        @inlinable
        mutating func change(_ body: (inout Value) -> Void) { body(&value) }
    }

    /// The maximum number of unpinned entries.
    public let limit: Int
    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var entries: [Entry?] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var oldest: Int?
    @usableFromInline var newest: Int?
    @usableFromInline var chained = 0
    /// The number of pins of each pinned key, whether or not it has an entry.
    @usableFromInline var keepers: [Key: Int] = [:]

    /// Creates an empty table for up to `limit` unpinned entries, at least one.
    @inlinable
    public init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// The number of entries, pinned ones included.
    @inlinable
    public var count: Int { places.count }

    /// The entries, in no particular order.
    @inlinable
    public var values: [Value] { entries.compactMap { $0?.value } }

    /// Returns the entry of a key. This does not count as a use.
    @inlinable
    public subscript(_ key: Key) -> Value? {
        places[key].flatMap { entries[$0]?.value }
    }

    /// Returns the entry of a key, which becomes the most recent.
    @inlinable
    public mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        renew(place, key)
        return entries[place]?.value
    }

    /// Inserts or replaces the entry of a key, which becomes the most recent. A new entry may evict the oldest one.
    ///
    /// - Returns: The evicted entry, if any.
    @inlinable
    @discardableResult
    public mutating func set(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        if let place = places[key] {
            entries[place]?.value = value
            renew(place, key)
            return nil
        }
        let isKept = isKept(key)
        let pushedOut = !isKept && chained >= limit ? popOldest() : nil
        let place = free.popLast() ?? entries.count
        let entry = Entry(key: key, value: value)
        if place == entries.count { entries.append(entry) } else { entries[place] = entry }
        places[key] = place
        if !isKept { chain(place) }
        return pushedOut
    }

    /// Changes an entry in place, if it exists. This does not count as a use.
    @inlinable
    public mutating func update(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = places[key] else { return }
        entries[place]?.change(change)
    }

    /// Removes the entry of a key, pinned or not.
    @inlinable
    @discardableResult
    public mutating func removeValue(for key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        if !isKept(key) { unchain(place) }
        defer { vacate(place) }
        return entries[place]?.value
    }

    /// Removes the oldest unpinned entry.
    @inlinable
    public mutating func popOldest() -> (key: Key, value: Value)? {
        guard let place = oldest, let entry = entries[place] else { return nil }
        unchain(place)
        places[entry.key] = nil
        vacate(place)
        return (entry.key, entry.value)
    }

    /// The oldest unpinned entry; nil if there is none.
    @inlinable
    public var oldestEntry: (key: Key, value: Value)? {
        oldest.flatMap { entries[$0] }.map { ($0.key, $0.value) }
    }

    /// Pins a key, whether or not it has an entry yet. Pins are counted; ``release(_:)`` takes one back.
    @inlinable
    public mutating func keep(_ key: Key) {
        keepers[key, default: 0] += 1
        if keepers[key] == 1, let place = places[key] { unchain(place) }
    }

    /// Takes back one ``keep(_:)``. An entry that loses its last pin becomes the most recent and may evict the oldest
    /// one.
    ///
    /// - Returns: The evicted entry, if any.
    @inlinable
    @discardableResult
    public mutating func release(_ key: Key) -> (key: Key, value: Value)? {
        guard let count = keepers[key] else { return nil }
        keepers[key] = count == 1 ? nil : count - 1
        guard count == 1, let place = places[key] else { return nil }
        let pushedOut = chained >= limit ? popOldest() : nil
        chain(place)
        return pushedOut
    }

    /// Removes all entries. Pins stay.
    @inlinable
    public mutating func removeAll() {
        places.removeAll()
        entries.removeAll()
        free.removeAll()
        (oldest, newest, chained) = (nil, nil, 0)
    }

    @inlinable
    func isKept(_ key: Key) -> Bool { !keepers.isEmpty && keepers[key] != nil }

    @inlinable
    mutating func renew(_ place: Int, _ key: Key) {
        guard newest != place, !isKept(key) else { return }
        unchain(place)
        chain(place)
    }

    @inlinable
    mutating func vacate(_ place: Int) {
        entries[place] = nil
        free.append(place)
    }

    @inlinable
    mutating func chain(_ place: Int) {
        entries[place]?.older = newest
        entries[place]?.newer = nil
        if let newest { entries[newest]?.newer = place } else { oldest = place }
        newest = place
        chained += 1
    }

    @inlinable
    mutating func unchain(_ place: Int) {
        let (older, newer) = (entries[place]?.older, entries[place]?.newer)
        if let older { entries[older]?.newer = newer } else { oldest = newer }
        if let newer { entries[newer]?.older = older } else { newest = older }
        chained -= 1
    }
}
