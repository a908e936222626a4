import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Testing

/// Requests in the last callback before a process ends.
@Suite struct LastWordsTests {
    /// When the process ends, relative to the callback that makes a request.
    enum Moment: CaseIterable {
        /// On the thread that runs the world, after the run.
        case afterTheRun
        /// On the thread that runs the world, as soon as the callback has returned.
        case betweenTwoSteps
        /// On a thread outside the world.
        case onAnotherThread
    }

    private static let relaunch = [
        "launched for [\"central collector\"]", "restores in state 0", "restored Belt, state 1", "state 5",
        "connected", "notifying true",
    ]

    @Test(
        "behaviours 10.3, 10.5: a connection requested in an app's last callback is pending, and launches the app when it succeeds",
        arguments: Moment.allCases
    )
    func aConnectionThatWasAskedForLast(moment: Moment) async {
        let world = RestorationWorld().collecting()
        let (collected, app) = (world.collected, world.collector)
        world.belt.move(to: .init(x: 5_000))
        let isOver = world.world.run(for: .seconds(60)) {
            guard collected.all.contains("disconnected") else { return false }
            if moment == .betweenTwoSteps { app.removeFromMemory() }
            return true
        }
        #expect(isOver)
        #expect(collected.take() == ["disconnected"])
        switch moment {
        case .afterTheRun: app.removeFromMemory()
        case .betweenTwoSteps: break
        case .onAnotherThread: _ = await Task.detached { app.removeFromMemory() }.value
        }
        world.world.run(for: .seconds(60))
        #expect(collected.take().isEmpty)
        world.belt.move(to: .init(x: 1))
        world.world.run(for: .seconds(20))
        #expect(collected.take() == Self.relaunch)
    }
}
