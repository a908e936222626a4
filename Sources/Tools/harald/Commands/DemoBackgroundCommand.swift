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
        if let air { world.captureAir(to: try writer(air)) }
        let anns = try capture.map { path throws(ToolError) in try writer(path) }
        let bens = try capture.map { path throws(ToolError) in
            try writer(CaptureFile.sibling(of: path, named: "ben"))
        }
        let story = BackgroundStory(world, captures: (anns, bens)) { Console.line($0) }
        story.run()
        if let capture {
            Console.line("HCI packets written to \(capture) and \(CaptureFile.sibling(of: capture, named: "ben"))")
        }
        if let air { Console.line("radio traffic written to \(air)") }
    }

    private func writer(_ path: String) throws(ToolError) -> @Sendable ([UInt8]) -> Void {
        let file = try CaptureFile.named(path)
        return { file.write($0) }
    }
}
