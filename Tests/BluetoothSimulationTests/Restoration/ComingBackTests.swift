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
}
