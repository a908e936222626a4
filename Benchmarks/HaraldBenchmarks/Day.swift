import BluetoothSimulation
import CAllocations
import CoreBluetooth
import Dispatch
import Foundation
import Synchronization

/// A hundred notifications a second for as long as is wanted, on the simulated radio, to an app that does nothing wrong.
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

    /// Values that the app was told.
    var received: Int { follower.notified.value }

    /// Lets one second pass after the other.
    func run(seconds: Int) {
        for _ in 0..<seconds {
            for _ in 0..<100 {
                notifier.notify(Data(repeating: 0x55, count: 20), times: 1)
                world.run(for: .milliseconds(10))
            }
        }
    }

    /// Octets that the program has taken from the heap and not given back.
    static var heap: Int { Int(harald_heap()) }
}
