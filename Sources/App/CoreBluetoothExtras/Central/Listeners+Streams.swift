import CoreBluetooth

extension Listeners {
    /// Creates a stream of the elements that `forward` sends for the events. The stream retains `owner`.
    func stream<Element>(
        keeping owner: any AnyObject & Sendable,
        _ forward: @escaping @Sendable (Update, EventStream<Element>.Source) -> Void
    ) -> EventStream<Element> {
        let (stream, source) = EventStream<Element>.make()
        let registration = add { forward($0, source) }
        source.onEnd { [self] in withExtendedLifetime(owner) { remove(registration) } }
        return stream
    }
}
