import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Testing

/// Which apps are relaunched after which event (behaviours 10.15 to 10.18): a test for each cell of that table.
@Suite struct ComingBackTests {
    /// How an app, or its preserved state, ends.
    enum End: CaseIterable {
        case crash, memory, forceQuit
        /// `restart` happens while the app runs; the others follow a crash.
        case restart, crashAndRestart
        case crashAndSettings, crashAndControlCentre
    }

    struct Cell: CustomTestStringConvertible {
        let end: End
        let version: Int
        let usesAccessorySetup: Bool

        /// Whether the app is relaunched, according to the rules.
        var comesBack: Bool {
            switch end {
            case .crash, .memory: true
            case .forceQuit: version >= 26 && usesAccessorySetup
            case .restart, .crashAndRestart, .crashAndControlCentre: version > 10
            case .crashAndSettings: false
            }
        }

        var testDescription: String {
            "\(end), iOS \(version)\(usesAccessorySetup ? ", AccessorySetupKit" : "")"
        }
    }

    static let cells = End.allCases.flatMap { end in
        [10, 11, 25, 26].flatMap { version in
            [false, true].map { Cell(end: end, version: version, usesAccessorySetup: $0) }
        }
    }

    private func meet(_ end: End, _ world: RestorationWorld) {
        switch end {
        case .crash: world.collector.crash()
        case .memory: world.collector.removeFromMemory()
        case .forceQuit: world.collector.forceQuit()
        case .restart: world.phone.restart()
        case .crashAndRestart:
            world.collector.crash()
            world.phone.restart()
        case .crashAndSettings:
            world.collector.crash()
            world.phone.setPower(false, by: .settings)
            world.phone.setPower(true, by: .settings)
        case .crashAndControlCentre:
            world.collector.crash()
            world.phone.setPower(false, by: .controlCentre)
            world.phone.setPower(true, by: .controlCentre)
        }
    }

    @Test("behaviours 10.15 to 10.18: which apps are relaunched after which event, by version", arguments: cells)
    func whichAppsComeBack(cell: Cell) {
        let world = RestorationWorld(
            usesAccessorySetup: cell.usesAccessorySetup,
            version: SystemVersion(integerLiteral: cell.version)
        )
        world.collect()
        meet(cell.end, world)
        world.world.run(for: .seconds(15))
        world.measure(61)
        let lines = world.collected.take()
        guard cell.comesBack else {
            #expect(lines.isEmpty)
            world.phone.open("collector")
            world.world.run(for: .seconds(5))
            #expect(world.collected.take().prefix(2) == ["launched by the person, with []", "state 5"])
            return
        }
        #expect(lines.prefix(2) == ["launched for [\"central collector\"]", "restores in state 0"])
        #expect(lines.filter { $0.hasPrefix("launched") }.count == 1)
        #expect(lines.last == "value [0, 61]")
    }

    /// The event within 10 s after the end of an app that the test launched.
    enum Sequel: CaseIterable {
        case nothing, installed, launchedAgain
    }

    @Test(
        "behaviour 10.27: the connection of an app that nothing can launch ends 10 s after its process, unless the app is installed or launched again by then",
        arguments: [End.crash, .memory, .restart, .crashAndRestart],
        Sequel.allCases
    )
    func anAppThatIsNotInstalled(end: End, sequel: Sequel) {
        let world = RestorationWorld()
        let collected = world.collected
        func launch() {
            world.phone.launch("guest", declaring: AppDeclaration(backgroundModes: .central)) { _ in
                Collector(collected, identifier: "guest")
            }
        }
        launch()
        world.world.run(for: .seconds(5))
        #expect(world.sensed.take().last == "subscribed to 2A37")
        switch end {
        case .crash, .crashAndRestart: world.phone.app("guest")?.crash()
        default: if end == .memory { world.phone.app("guest")?.removeFromMemory() }
        }
        if end == .restart || end == .crashAndRestart { world.phone.restart() }
        world.world.run(for: .seconds(5))
        _ = collected.take()
        switch sequel {
        case .nothing: break
        case .installed:
            world.phone.install("guest", declaring: AppDeclaration(backgroundModes: .central)) { _, _ in
                Collector(collected, identifier: "guest")
            }
        case .launchedAgain: launch()
        }
        world.world.run(for: .seconds(20))
        _ = (collected.take(), world.sensed.take())
        world.measure(61)
        #expect(world.measure(62) == (sequel != .nothing))
        #expect(collected.all.contains("value [0, 62]") == (sequel != .nothing))
        // An app that is launched later begins anew.
        guard sequel == .nothing else { return }
        launch()
        world.world.run(for: .seconds(5))
        #expect(!collected.all.contains { $0.hasPrefix("restore") })
        #expect(collected.all.last == "notifying true")
    }
}
