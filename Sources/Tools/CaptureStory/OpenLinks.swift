/// The links of a story that have not ended.
///
/// Most records of a capture belong to the link of the record before them, so that one is found without a search.
struct OpenLinks: Sendable {
    /// A link is known by its handle on an adapter, or by its access address on the air.
    struct Key: Hashable, Sendable {
        let adapter: UInt32
        let number: UInt32
        let isAir: Bool
    }

    private var places: [Key: Int] = [:]
    /// Lists of one link, and of none where a link has ended. A link is large, and an exchange of lists moves none.
    private var links: [[LinkStory]] = []
    private var free: [Int] = []
    private var last: (key: Key, place: Int)?

    var count: Int { places.count }

    /// The keys of all links, in the order of their beginnings.
    var keys: [Key] {
        places.sorted { links[$0.value][0].number < links[$1.value][0].number }.map(\.key)
    }

    /// The link that was silent the longest.
    var leastRecent: Key? {
        func age(_ place: Int) -> (Int64, Int) { (links[place][0].lastPacket, links[place][0].number) }
        return places.min { age($0.value) < age($1.value) }?.key
    }

    subscript(_ key: Key) -> LinkStory? { places[key].flatMap { links[$0].first } }

    func contains(_ key: Key) -> Bool { last?.key == key || places[key] != nil }

    /// Adds a link with a new key.
    mutating func add(_ link: LinkStory, _ key: Key) {
        let place = free.popLast() ?? links.count
        if place == links.count { links.append([link]) } else { links[place] = [link] }
        places[key] = place
    }

    mutating func remove(_ key: Key) -> LinkStory? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        last = nil
        free.append(place)
        return links[place].popLast()
    }

    /// Exchanges the list with the link of a key and another list, without a copy. Does nothing if the key has none.
    mutating func exchange(_ key: Key, _ other: inout [LinkStory]) {
        if last?.key != key { last = places[key].map { (key, $0) } }
        guard let place = last?.place else { return }
        swap(&links[place], &other)
    }
}
