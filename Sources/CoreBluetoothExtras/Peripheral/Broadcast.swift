/// The streams that are given the same elements, the oldest first.
struct Broadcast<Element: Sendable>: Sendable {
    /// Streams of one kind that are open at a time; another one ends at once.
    static var maximumStreams: Int { 64 }

    private(set) var sources: [(number: UInt64, source: EventStream<Element>.Source)] = []
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { sources.isEmpty }

    /// Another stream, and what feeds it; nothing does when there are too many, and then it has ended.
    mutating func open(
        with first: [Element]
    ) -> (stream: EventStream<Element>, opened: (number: UInt64, source: EventStream<Element>.Source)?) {
        let (stream, source) = EventStream<Element>.make()
        guard sources.count < Self.maximumStreams else {
            source.finish(ExtrasError.overflow)
            return (stream, nil)
        }
        for element in first { source.send(element) }
        lastNumber += 1
        sources.append((lastNumber, source))
        return (stream, (lastNumber, source))
    }

    /// Takes a stream out that has ended.
    mutating func remove(_ number: UInt64) { sources.removeAll { $0.number == number } }
}
