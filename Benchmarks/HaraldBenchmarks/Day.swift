import BluetoothSimulation
import CAllocations
import CoreBluetooth
import Dispatch
import Foundation
import Synchronization

/// A hundred notifications a second for any length of time, on the simulated radio, to a well-behaved app.
final class Day {
    private let world = SimulatedWorld(seed: 1)
    private let notifier: NotifyingApp
    private let follower: FollowingApp

    init() {
        let sensor = world.addDevice(named: "sensor").launch("sensor") { _ in NotifyingApp() }
        (notifier, follower) = (sensor, world.addDevice(named: "phone").launch("phone") { _ in FollowingApp() })
        let isReady = world.run(for: .seconds(60)) { [follower] in follower.isReady.load(ordering: .acquiring) }
        precondition(isReady, "the two find each other")
    }

    /// The number of values that the app received.
    var received: Int { follower.notified.value }

    /// Runs for a number of seconds.
    func run(seconds: Int) {
        for _ in 0..<seconds {
            for _ in 0..<100 {
                notifier.notify(Data(repeating: 0x55, count: 20), times: 1)
                world.run(for: .milliseconds(10))
            }
        }
    }

    /// The number of heap octets in use by the program.
    static var heap: Int { Int(harald_heap()) }
}
