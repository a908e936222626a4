import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import HCITransports

/// The rows of apps that use async calls and sequences.
extension HaraldBenchmarks {
    /// The number of notifications that are on their way at most: half as many as a sequence holds.
    private static let mostAhead = 512

    /// The two systems of ``delegates()``, with a task at each end. Tasks run on threads of their own; `taskset -c 0`
    /// keeps them on one core.
    static func calls() {
        let pair = DelegatePair(on: NIOEventLoop())
        guard let sender = pair.notifier.sender, let found = pair.follower.found else {
            preconditionFailure("the two have found each other")
        }
        let (count, value) = (Measurement.count(20_000), Data(repeating: 0x55, count: 20))
        let received = Tally()
        let listener = Task {
            for try await _ in found.peripheral.notifications(of: found.notified) { received.add() }
        }
        let notified = {
            let before = received.value
            Task {
                for number in 0..<count {
                    // On a busy machine the listener may fall behind, and its sequence would end with an overflow.
                    while before + number - received.value > mostAhead { await Task.yield() }
                    try await sender.manager.update(value, for: sender.characteristic)
                }
            }
            received.wait(for: before + count)
        }
        row("notifications of 20 octets, await to await", count, Measurement(notified), both)
        listener.cancel()
        let written = {
            let before = pair.notifier.written.value
            Task { for _ in 0..<count { try await found.peripheral.writeWithoutResponse(value, for: found.written) } }
            pair.notifier.written.wait(for: before + count)
        }
        row("writes without response of 20 octets, await to delegate", count, Measurement(written), both)
    }
}
