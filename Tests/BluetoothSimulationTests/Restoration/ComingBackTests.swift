import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Testing

/// Which apps are relaunched after which event (behaviours 10.15 to 10.18, 10.28): a test for each cell of the table of
/// TN3115.
@Suite struct ComingBackTests {
    /// How an app, or its preserved state, ends.
    enum End: CaseIterable {
        case crash, memory, forceQuit
        /// `restart` happens while the app runs; the others follow a crash.
        case restart, crashAndRestart
        case crashAndSettings, crashAndControlCentre
        /// Airplane mode switches Bluetooth off, or leaves it alone.
        case crashAndAirplane, crashAndAirplaneWithBluetooth
    }

    struct Cell: CustomTestStringConvertible {
        let end: End
        let version: Int
        let usesAccessorySetup: Bool
        /// Whether note 5 of TN3115 applies by its letter.
        var isLiteral = false

        /// Whether the app is relaunched, according to the rules.
        var comesBack: Bool {
            switch end {
            case .crash, .memory: true
            case .forceQuit: version >= 26 && usesAccessorySetup
            case .restart, .crashAndRestart: version > 10
            case .crashAndControlCentre, .crashAndAirplaneWithBluetooth: version > 10 && !losesByTheLetter
            case .crashAndSettings, .crashAndAirplane: false
            }
        }

        private var losesByTheLetter: Bool { isLiteral && version >= 26 && !usesAccessorySetup }

        var testDescription: String {
            "\(end), iOS \(version)\(usesAccessorySetup ? ", AccessorySetupKit" : "")\(isLiteral ? ", literal" : "")"
        }
    }

    static let cells = End.allCases.flatMap { end in
        [10, 11, 25, 26].flatMap { version in
            [false, true].map { Cell(end: end, version: version, usesAccessorySetup: $0) }
        }
    }

    /// The cells of the rows that note 5 of TN3115 is at, by its letter.
    static let literalCells = [25, 26].flatMap { version in
        [End.forceQuit, .crashAndRestart, .crashAndControlCentre, .crashAndAirplaneWithBluetooth].flatMap { end in
            [false, true].map { Cell(end: end, version: version, usesAccessorySetup: $0, isLiteral: true) }
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
        case .crashAndAirplane, .crashAndAirplaneWithBluetooth:
            world.collector.crash()
            world.phone.person.switchesAirplaneMode(true)
            world.phone.person.switchesAirplaneMode(false)
        }
    }

    /// The user switches Bluetooth on in airplane mode, which remembers that.
    private func keepBluetooth(_ phone: SimulatedDevice) {
        phone.person.switchesAirplaneMode(true)
        phone.setPower(true)
        phone.person.switchesAirplaneMode(false)
    }

    @Test(
        "behaviours 10.15 to 10.18, 10.23, 10.28: which apps are relaunched after which event, by version",
        arguments: cells + literalCells
    )
    func whichAppsComeBack(cell: Cell) {
        let world = RestorationWorld(
            usesAccessorySetup: cell.usesAccessorySetup,
            version: SystemVersion(integerLiteral: cell.version),
            restoresOnlySetUpApps: cell.isLiteral
        )
        if cell.end == .crashAndAirplaneWithBluetooth { keepBluetooth(world.phone) }
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
