import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

extension CBPeripheral {
    /// The state that this module attaches to the peripheral.
    var asynchronous: PeripheralAnnex { annex { PeripheralAnnex() } }
}

/// The pending asynchronous operations of one peripheral.
final class PeripheralAnnex: Sendable {
    private struct Attempt {
        var waiting = 0
        /// Whether the first waiting call started the attempt, and not the app by `connect(_:options:)` of Core
        /// Bluetooth.
        var isOurs = false
    }

    private let attempt = Mutex(Attempt())
    let subscriptions = Subscriptions()
    /// The open streams of changes of the link.
    let linkWatchers = WatcherCount()

    /// Adds a call that waits for a connection to a peripheral in this state.
    func joinAttempt(_ state: CBPeripheralState) {
        attempt.withLock {
            if $0.waiting == 0 { $0.isOurs = state != .connecting && state != .connected }
            $0.waiting += 1
        }
    }

    /// Removes a waiting call. Returns whether it was the last one for an attempt that was started here.
    func leaveAttempt() -> Bool {
        attempt.withLock {
            $0.waiting -= 1
            return $0.waiting == 0 && $0.isOurs
        }
    }
}
