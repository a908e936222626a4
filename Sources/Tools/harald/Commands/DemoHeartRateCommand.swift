import ArgumentParser
import BluetoothSimulation
import Demos
import EventLoops
import HCI

struct DemoHeartRateCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "heart-rate",
        abstract: "Run a heart-rate sensor and an app that connect on the virtual radio, pair, and reconnect.",
        discussion: """
            Unless time is virtual, a line that you type begins a fault of the sensor, such as out-of-range or lossy=0.5; "end \
            out-of-range" ends it, and "?" lists the faults.

            --page shows another world until it is interrupted: a sensor and an app that finds it again and again. The page has a \
            map, on which the devices can be moved, and controls for time and faults; "Save as a test" writes what was done as a \
            Swift test.

            Examples:
              harald demo heart-rate
              harald demo heart-rate --page
              harald demo heart-rate --virtual-time --seed 2
              harald demo heart-rate --capture heart.btsnoop --air heart.pcapng

            \(ExitStatus.text()) With --page, Ctrl-C is the regular end, with status 0.
            """
    )

    @Option(help: ArgumentHelp("The seed for all random numbers of the simulation.", valueName: "N"))
    var seed: UInt64 = 1

    @Flag(help: "Run in virtual time: the same events, without waiting.")
    var virtualTime = false

    @Option(
        help: ArgumentHelp(
            "Write the app's HCI packets to this btsnoop file, and the sensor's next to it (NAME.sensor.EXT).",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var capture: String?

    @Option(help: ArgumentHelp("Write all radio traffic to this pcapng file.", valueName: "FILE"), completion: .file())
    var air: String?

    @OptionGroup var showing: PageOptions

    func validate() throws {
        guard !showing.page || !virtualTime && capture == nil && air == nil else {
            throw ValidationError("--page cannot be combined with --virtual-time, --capture and --air")
        }
    }

    func execute() throws(ToolError) {
        if showing.page { return try WorldOnPage.run(seed: seed, showing) }
        let captures = (
            phone: try CaptureFile.writer(capture),
            sensor: try CaptureFile.writer(capture.map { CaptureFile.sibling(of: $0, named: "sensor") }),
            air: try CaptureFile.writer(air)
        )
        let pace = virtualTime ? nil : Pace.realTime
        let demo = HeartRateDemo(seed: seed, at: pace, captures: captures) { Console.line($0) }
        do throws(HeartRateDemo.Failure) {
            try demo.run {
                guard !virtualTime else { return }
                DemoFaults(device: demo.sensor, app: "sensor", say: demo.speaker("fault")).readLines()
            }
        } catch {
            throw .incomplete("\(error)")
        }
        if let capture {
            Console.line("HCI packets written to \(capture) and \(CaptureFile.sibling(of: capture, named: "sensor"))")
        }
        if let air { Console.line("radio traffic written to \(air)") }
    }
}
