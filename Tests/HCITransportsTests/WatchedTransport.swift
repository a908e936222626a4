import EventLoops
import HCI

@testable import HCITransports

/// A transport to a controller on a loop of its own, and the events it reports. Closes the transport when it is
/// released.
final class WatchedTransport: Sendable {
    enum Event: Hashable, Sendable {
        case received(HCIPacket)
        case closed(HCITransportError)
    }

    let loop = NIOEventLoop()
    let transport: LoopBound<ControllerTransport>
    private let events: AsyncStream<Event>

    /// Starts to open the transport and sends a reset, which waits until it is open.
    init(_ address: ControllerAddress, _ finder: ControllerFinder) {
        let (events, continuation) = AsyncStream<Event>.makeStream()
        self.events = events
        let loop = loop
        transport = loop.make {
            let transport = ControllerTransport(address, loop: loop, finder: finder)
            transport.onReceive = { continuation.yield(.received($0)) }
            transport.onClose = { continuation.yield(.closed($0)) }
            transport.send(HCIPacket(Reset()))
            return transport
        }
    }

    deinit { transport.with { $0.close() } }

    func next() async -> Event? {
        for await event in events { return event }
        return nil
    }

    func send(_ packet: HCIPacket) { transport.with { $0.send(packet) } }

    /// Resets the device and returns the result.
    func resetDevice() async -> DeviceReset? {
        let (results, continuation) = AsyncStream<DeviceReset>.makeStream()
        transport.with { $0.resetDevice { continuation.yield($0) } }
        for await result in results { return result }
        return nil
    }
}
