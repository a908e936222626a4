import ArgumentParser
import BluetoothSimulation
import Demos
import Foundation
import HCI

struct DemoBackgroundCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "background",
        abstract: "Show Bluetooth while apps go to the background, are suspended, end and come back.",
        discussion: """
            Two phones in virtual time: the ten minutes of the story pass at once.

            Example:
              harald demo background --air story.pcapng

            \(ExitStatus.text())
            """
    )

    @Option(help: ArgumentHelp("The seed for all random numbers of the simulation.", valueName: "N"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "Write Ann's HCI packets to this btsnoop file, and Ben's next to it (NAME.ben.EXT).",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var capture: String?

    @Option(help: ArgumentHelp("Write all radio traffic to this pcapng file.", valueName: "FILE"), completion: .file())
    var air: String?

    func execute() throws(ToolError) {
        let world = SimulatedWorld(seed: seed)
        if let writer = try CaptureFile.writer(air) { world.captureAir(to: writer) }
        let anns = try CaptureFile.writer(capture)
        let bens = try CaptureFile.writer(capture.map { CaptureFile.sibling(of: $0, named: "ben") })
        let story = BackgroundStory(world, captures: (anns, bens)) { Console.line($0) }
        story.run()
        if let capture {
            Console.line("HCI packets written to \(capture) and \(CaptureFile.sibling(of: capture, named: "ben"))")
        }
        if let air { Console.line("radio traffic written to \(air)") }
    }
}
