import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Synchronization

/// A story about two phones whose apps go to the background, are suspended, end and come back (behaviours 7.24, 9.1 to
/// 9.7, 10.3 to 10.7, 10.16).
package final class BackgroundStory {
    private let world: SimulatedWorld
    private let ann: SimulatedDevice
    private let ben: SimulatedDevice
    private let line: @Sendable (String) -> Void
    private let bens: NoteApp

    package init(
        _ world: SimulatedWorld,
        captures: (ann: (@Sendable ([UInt8]) -> Void)?, ben: (@Sendable ([UInt8]) -> Void)?) = (nil, nil),
        line: @escaping @Sendable (String) -> Void
    ) {
        self.world = world
        self.line = line
        ann = world.addDevice(named: "Ann's phone", capture: captures.ann)
        ben = world.addDevice(named: "Ben's phone", capture: captures.ben)
        let (sayAnn, sayBen) = (Self.speaker("Ann", world, line), Self.speaker("Ben", world, line))
        ann.watchApps { _, phase in sayAnn("( her app is \(phase.text) )") }
        ben.watchApps { _, phase in sayBen("( his app is \(phase.text) )") }
        ann.install("reader", declaring: AppDeclaration(backgroundModes: .central)) { _, launch in
            sayAnn(
                "her app is launched by \(launch.isInBackground ? "the system" : "her"), restoring \(launch.restoring.centrals)"
            )
            return NoteReader(say: sayAnn)
        }
        bens = ben.launch("notes", declaring: AppDeclaration(backgroundModes: .peripheral)) { NoteApp($0, say: sayBen) }
    }

    private static func speaker(
        _ who: String,
        _ world: SimulatedWorld,
        _ line: @escaping @Sendable (String) -> Void
    ) -> @Sendable (String) -> Void {
        { text in
            let now = world.now.nanoseconds / 1_000_000
            line(String(format: "%2d:%06.3f  %@  %@", now / 60_000, Double(now % 60_000) / 1_000, who, text))
        }
    }

    private func chapter(_ title: String) {
        line("")
        line(title)
    }

    /// Runs the whole story.
    package func run() {
        discoverInBackground()
        receiveWhileSuspended()
        relaunchAfterTermination()
        forceQuitApp()
    }

    private func discoverInBackground() {
        chapter("Ben's app advertises a note, and Ben puts his phone away.")
        world.run(for: .seconds(1))
        bens.app.leave()
        world.run(for: .seconds(40))
        chapter("Ann opens her app. It scans for the service, and therefore finds Ben's app in the overflow area.")
        ann.open("reader")
        world.run(for: .seconds(10))
    }

    private func receiveWhileSuspended() {
        chapter("Ann puts her phone away too. Each note from Ben wakes her app for ten seconds.")
        ann.app("reader")?.leave()
        world.run(for: .seconds(60))
        write("Gone shopping")
    }

    private func relaunchAfterTermination() {
        chapter("Ann's phone needs memory and terminates the app. The connection and the subscription remain.")
        ann.app("reader")?.removeFromMemory()
        world.run(for: .seconds(300))
        write("Back at eight")
    }

    /// Ben opens his app, writes a note, and leaves the app.
    private func write(_ text: String) {
        bens.app.enter()
        bens.write(text)
        world.run(for: .seconds(1))
        bens.app.leave()
        world.run(for: .seconds(40))
    }

    private func forceQuitApp() {
        chapter("Ann force-quits the app. Nothing is preserved, and the system does not launch it again.")
        ann.app("reader")?.forceQuit()
        write("Are you there?")
        chapter("She opens it again, and it starts from scratch.")
        ann.open("reader")
        world.run(for: .seconds(10))
    }
}

extension AppPhase {
    fileprivate var text: String {
        switch self {
        case .foreground: "in the foreground"
        case .background: "running in the background"
        case .suspended: "suspended"
        case .notRunning(.removedFromMemory): "removed from memory"
        case .notRunning(.forceQuit): "force-quit by the user"
        case .notRunning(.crashed): "terminated by a crash"
        case .notRunning(.deviceRestarted): "terminated by a device restart"
        }
    }
}
