import CoreBluetooth

extension Listeners {
    /// A stream of what `take` makes of what happens. It keeps `owner` as long as somebody has it.
    func stream<Element>(
        keeping owner: any AnyObject & Sendable,
        _ take: @escaping @Sendable (Happening, EventStream<Element>.Source) -> Void
    ) -> EventStream<Element> {
        let (stream, source) = EventStream<Element>.make()
        let registration = add { take($0, source) }
        source.onEnd { [self] in withExtendedLifetime(owner) { remove(registration) } }
        return stream
    }
}
