import CoreBluetooth

extension Listeners {
    /// Creates a stream of the elements that `take` sends for the events. The stream retains `owner`.
    func stream<Element>(
        keeping owner: any AnyObject & Sendable,
        _ take: @escaping @Sendable (Update, EventStream<Element>.Source) -> Void
    ) -> EventStream<Element> {
        let (stream, source) = EventStream<Element>.make()
        let registration = add { take($0, source) }
        source.onEnd { [self] in withExtendedLifetime(owner) { remove(registration) } }
        return stream
    }
}
