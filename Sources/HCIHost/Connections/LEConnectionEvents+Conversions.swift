import BluetoothTypes
import HCI

extension LEEnhancedConnectionComplete {
    /// Converts the event to the enhanced form, without resolvable private addresses.
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
