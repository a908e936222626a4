import BluetoothTypes
import HCI

extension LEEnhancedConnectionComplete {
    /// The same in the form with private addresses, none of which are known.
    init(_ event: LEConnectionComplete) {
        self.init(
            status: event.status,
            handle: event.handle,
            role: event.role,
            peerAddress: event.peerAddress,
            localResolvableAddress: BluetoothAddress(0, kind: .randomDevice),
            peerResolvableAddress: BluetoothAddress(0, kind: .randomDevice),
            interval: event.interval,
            latency: event.latency,
            supervisionTimeout: event.supervisionTimeout,
            centralClockAccuracy: event.centralClockAccuracy
        )
    }
}
