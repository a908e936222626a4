/// The open streams that receive the same elements, the oldest first.
struct Broadcast<Element: Sendable>: Sendable {
    /// The maximum number of open streams of one kind. A further one ends at once.
    static var maximumStreams: Int { 64 }

    private(set) var sources: [(number: UInt64, source: EventStream<Element>.Source)] = []
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { sources.isEmpty }

    /// Adds a stream that begins with the given elements. If there are too many, the stream has ended and there is no
    /// writing end.
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

    /// Removes a stream that has ended.
    mutating func remove(_ number: UInt64) { sources.removeAll { $0.number == number } }
}
