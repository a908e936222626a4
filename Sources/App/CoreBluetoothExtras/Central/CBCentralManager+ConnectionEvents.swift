import CoreBluetooth
import Synchronization

/// A device was connected to this system or disconnected from it, by any app or by the system (behaviour 3.22).
public struct PeerConnectionEvent: Sendable {
    /// The device. This app has to connect to it before use.
    public var peripheral: CBPeripheral
    /// Whether the device is connected now.
    public var isConnected: Bool
}

extension CBCentralManager {
    /// The connections and disconnections of devices by any app or by the system, as long as the stream is iterated
    /// (behaviour 3.22).
    ///
    /// A manager has one registration: a further call replaces this one, and this stream ends with
    /// ``ExtrasError/replaced``. The stream ends with ``ExtrasError/notPoweredOn(_:)`` if the manager is not powered on
    /// at the call.
    ///
    /// - Parameter options: The devices, as for `registerForConnectionEvents(options:)`.
    /// - Returns: A new stream.
    public func connectionEvents(
        _ options: [CBConnectionEventMatchingOption: Any] = [:]
    ) -> EventStream<PeerConnectionEvent> {
        let watches = annex { Watches() }
        let (stream, source) = EventStream<PeerConnectionEvent>.make()
        guard state == .poweredOn else {
            source.finish(ExtrasError.notPoweredOn(state))
            return stream
        }
        let registration = updates.add {
            switch $0 {
            case .connectionChanged(let peripheral, let isConnected):
                source.send(PeerConnectionEvent(peripheral: peripheral, isConnected: isConnected))
            case .state, .discovered, .lost, .scanEnded: break
            }
        }
        let number = watches.replace(with: source)
        source.onEnd { [self] in
            updates.remove(registration)
            if watches.end(number), state == .poweredOn { registerForConnectionEvents(options: nil) }
        }
        registerForConnectionEvents(options: options)
        return stream
    }
}

/// The one stream of connection events of a manager.
private final class Watches: Sendable {
    private let present = Mutex<(number: UInt64, source: EventStream<PeerConnectionEvent>.Source?)>((0, nil))

    func replace(with source: EventStream<PeerConnectionEvent>.Source) -> UInt64 {
        let (old, number) = present.withLock { present in
            let old = present.source
            present = (present.number + 1, source)
            return (old, present.number)
        }
        old?.finish(ExtrasError.replaced)
        return number
    }

    func end(_ number: UInt64) -> Bool {
        present.withLock { present in
            guard present.number == number else { return false }
            present.source = nil
            return true
        }
    }
}
