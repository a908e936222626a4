import Accessories
import BluetoothSimulation
import Foundation

/// Writes the Swift test that repeats what was done in a world, at the same times.
enum WorldTestText {
    private static let head = """
        import Accessories
        import BluetoothTesting
        import CoreBluetooth
        import Synchronization
        import Testing

        """

    /// The source of the app, without its imports.
    private static let app: String = {
        let source = String(decoding: PackageResources.HeartRateWatch_txt, as: UTF8.self)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0.isEmpty || $0.hasPrefix("import ") }.joined(separator: "\n")
    }()

    /// Returns the text of the test.
    static func text(of world: LiveWorld) -> String {
        [head, beginning(of: world), acts(of: world), ending(of: world), "}\n", app].joined(separator: "\n")
    }

    private static func beginning(of world: LiveWorld) -> String {
        """
        /// Repeats what was done on the page of `harald demo --page`. Put your own app in place of the one below.
        ///
        /// It belongs in a test target, as `WorldTests.swift`. The target depends on the products `Accessories`,
        /// `BluetoothTesting` and `CoreBluetooth` of the package `harald`.
        @Test(.world(seed: \(world.seed))) func whatWasDone() async {
            let world = BluetoothTesting.world
            let screen = Screen()
            world.changeAir { $0.propagation.exponent = \(LiveWorld.exponent.written) }
            let phone = world.addDevice(named: "Phone")
            let sensor = world.addAccessory(.heartRate, at: \(code(LiveWorld.start)))
            phone.install("\(LiveWorld.app)", declaring: AppDeclaration(backgroundModes: .central)) { _, _ in
                HeartRateWatch { line in
                    screen.show(line)
                    world.note("the app shows: \\(line)")
                }
            }
            phone.open("\(LiveWorld.app)")

        """
    }

    private static func acts(of world: LiveWorld) -> String {
        var (lines, time): ([String], Int64) = ([], 0)
        for (index, deed) in world.deeds.filter({ !$0.isReplaced }).enumerated() {
            lines += wait(from: time, until: deed.milliseconds) + code(of: deed.act, number: index + 1).map(indented)
            time = deed.milliseconds
        }
        return (lines + wait(from: time, until: world.milliseconds)).joined(separator: "\n")
    }

    private static func wait(from start: Int64, until end: Int64) -> [String] {
        end > start ? [indented("await world.run(for: .milliseconds(\(end - start)))")] : []
    }

    private static func ending(of world: LiveWorld) -> String {
        let lines = world.screen.lines.map { indented(indented($0)) }.joined(separator: "\n")
        return """

                let shown = \"""
            \(lines)
                    \"""
                #expect(screen.lines.joined(separator: "\\n") == shown)
            """
    }

    private static func indented(_ line: String) -> String { "    " + line }

    // MARK: Acts

    private static func code(of act: WorldAct, number: Int) -> [String] {
        switch act {
        case .move(.phone, let position): return ["phone.move(to: \(code(position)))"]
        case .move(.sensor, let position): return ["sensor.device.move(to: \(code(position)))"]
        case .begin(let fault): return ["sensor.begin(\(code(fault)))"]
        case .end(let fault): return ["sensor.end(\(code(fault)))"]
        case .app(.open): return ["phone.open(\"\(LiveWorld.app)\")"]
        case .app(let verb): return ["phone.app(\"\(LiveWorld.app)\")?.\(verb.rawValue)()"]
        case .setNoise(nil): return ["world.changeAir { $0.channelNoise = [:] }"]
        case .setNoise(let noise?):
            let pair = "($0, \(noise.written))"
            return ["world.changeAir { $0.channelNoise = Dictionary(uniqueKeysWithValues: (0..<40).map { \(pair) }) }"]
        case .addWall(let wall):
            let ends = "from: \(code(wall.start)), to: \(code(wall.end))"
            return [
                "let wall\(number) = Wall(\(ends), attenuation: \(wall.attenuation.written))",
                "world.changeAir { $0.walls.append(wall\(number)) }",
            ]
        case .removeWall(let index): return ["world.changeAir { $0.walls.remove(at: \(index)) }"]
        }
    }

    private static func code(_ position: Position) -> String {
        "Position(x: \(position.x.written), y: \(position.y.written))"
    }

    private static func code(_ fault: DeviceFault) -> String {
        let number = fault.text.contains("=") ? ", \(fault.value.written)" : ""
        return "DeviceFault(.\(fault.kind)\(number))"
    }
}
