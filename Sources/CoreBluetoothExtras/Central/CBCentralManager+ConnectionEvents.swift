import CoreBluetooth
import Synchronization

/// A device was connected to this system by anyone, or is not any more.
public struct ConnectionChange: Sendable {
    /// The device. It has to be connected by this app before use.
    public var peripheral: CBPeripheral
    /// Whether it is connected now.
    public var isConnected: Bool
}

extension CBCentralManager {
    /// Connections and disconnections by anyone on this system, as long as somebody goes through the stream. A manager has one list of
    /// those that it is told of: another stream takes its place, and this one ends with ``ExtrasError/replaced``.
    ///
    /// - Parameter options: Which devices, as for `registerForConnectionEvents`.
    public func connectionEvents(
        _ options: [CBConnectionEventMatchingOption: Any] = [:]
    ) -> EventStream<ConnectionChange> {
        let watches = annex.content { Watches() }
        let (stream, source) = EventStream<ConnectionChange>.make()
        guard state == .poweredOn else {
            source.finish(ExtrasError.notPoweredOn(state))
            return stream
        }
        let registration = happenings.add {
            switch $0 {
            case .connectionChanged(let peripheral, let isConnected):
                source.send(ConnectionChange(peripheral: peripheral, isConnected: isConnected))
            case .state, .discovered, .lost, .scanEnded: break
            }
        }
        let number = watches.replace(with: source)
        source.onEnd { [self] in
            happenings.remove(registration)
            if watches.end(number), state == .poweredOn { registerForConnectionEvents(options: nil) }
        }
        registerForConnectionEvents(options: options)
        return stream
    }
}

/// The one stream of connection events of a manager.
private final class Watches: Sendable {
    private let present = Mutex<(number: UInt64, source: EventStream<ConnectionChange>.Source?)>((0, nil))

    func replace(with source: EventStream<ConnectionChange>.Source) -> UInt64 {
        let (old, number) = present.withLock { present in
            let old = present.source
            present = (present.number + 1, source)
            return (old, present.number)
        }
        old?.finish(ExtrasError.replaced)
        return number
    }

    /// Says whether it was the present one.
    func end(_ number: UInt64) -> Bool {
        present.withLock { present in
            guard present.number == number else { return false }
            present.source = nil
            return true
        }
    }
}
