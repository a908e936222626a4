import BluetoothService
import CoreBluetooth
import Foundation
import Synchronization

extension CBPeripheral {
    /// What this module knows of the peripheral besides its own state.
    var asynchronous: PeripheralAnnex { annex.content { PeripheralAnnex() } }
}

/// What asynchronous code has going on with one peripheral.
final class PeripheralAnnex: Sendable {
    private struct Attempt {
        var waiting = 0
        /// Whether the first that waited began it, and not a delegate's app.
        var isOurs = false
    }

    private let attempt = Mutex(Attempt())
    let subscriptions = Subscriptions()
    /// Sequences of changes of the link.
    let linkWatchers = WatcherCount()

    /// Somebody waits for a connection to a peripheral in this state.
    func joinAttempt(_ state: CBPeripheralState) {
        attempt.withLock {
            if $0.waiting == 0 { $0.isOurs = state != .connecting && state != .connected }
            $0.waiting += 1
        }
    }

    /// Somebody does not wait any more. Says whether nobody else does, for an attempt that was begun here.
    func leaveAttempt() -> Bool {
        attempt.withLock {
            $0.waiting -= 1
            return $0.waiting == 0 && $0.isOurs
        }
    }
}
