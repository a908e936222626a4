import Accessories
import ArgumentParser
import BluetoothTypes
import Foundation
import HCI

/// Tests a device by the steps of a file.
struct TestCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Test an accessory by the steps and expectations of a file.",
        discussion: """
            An accessory, of a file or ready-made, is simulated in virtual time. Without one, the steps are for the device in range \
            that --device or the file of steps names. Documentation/Accessories.md describes both files.

            \(ClientOptions.discussion)

            Examples:
              harald test lamp.json steps.json
              harald test heart-rate steps.json --junit results.xml
              harald test steps.json --device Pulse

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed))
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The accessory file, or the name of a ready-made accessory, if it is simulated; then the file of steps.",
            valueName: "FILE"
        ),
        completion: .file(extensions: ["json"])
    )
    var files: [String]

    @Option(help: ArgumentHelp("The device in range: \(DeviceSelector.forms)", valueName: "DEVICE"))
    var device: DeviceSelector?

    @Option(
        help: ArgumentHelp("Write the results to this file, in the XML format of JUnit.", valueName: "FILE"),
        completion: .file(extensions: ["xml"])
    )
    var junit: String?

    @Option(
        help: ArgumentHelp("The seed of the simulation (default: that of the steps, or 1).", valueName: "N")
    )
    var seed: UInt64?

    @OptionGroup var client: ClientOptions
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        guard (1...2).contains(files.count) else {
            throw ValidationError("name the file of steps, or an accessory and the file of steps")
        }
        guard files.count == 2 else { return try client.checkOptions(trust.given) }
        let others: [(name: String, isGiven: Bool)] = [
            ("--device", device != nil), ("--controller", client.line.controller != nil),
            ("--service", client.service.service != nil),
        ]
        if let first = (others + trust.given).first(where: \.isGiven) {
            throw ValidationError("\(first.name) is for a device in range; a simulated accessory does not need it")
        }
    }

    var showing: ShowingOptions { client.showing }

    func execute() throws(ToolError) {
        var steps = try Self.steps(of: files[files.count - 1])
        if let seed { steps.seed = seed }
        guard files.count == 2 else { return try runInRange(steps) }
        try simulate(try ServedAccessory(files[0], name: nil).accessory, steps)
    }

    private static func steps(of path: String) throws(ToolError) -> DeviceSteps {
        do throws(AccessoryError) {
            return try DeviceSteps(contentsOf: URL(filePath: path))
        } catch {
            guard (try? Accessory(contentsOf: URL(filePath: path))) != nil else {
                throw .incomplete("\(path.visible): \(error)")
            }
            throw .incomplete(
                "\(path.visible) is the file of an accessory; the file of steps comes last: harald test ACCESSORY STEPS"
            )
        }
    }

    private func name(of steps: DeviceSteps) -> String {
        steps.name ?? URL(filePath: files[files.count - 1]).deletingPathExtension().lastPathComponent
    }

    private func simulate(_ accessory: Accessory, _ steps: DeviceSteps) throws(ToolError) {
        let report = report
        let capture = try client.line.captureFile(reading: files)
        var world = StepWorld(accessory: accessory, steps: steps)
        if let capture { world.capture = { capture.write($0) } }
        let outcome = world.run { Self.show($0, report) }
        try conclude(StepReport(name: name(of: steps), results: outcome.results, story: outcome.story), report)
    }

    private func runInRange(_ steps: DeviceSteps) throws(ToolError) {
        let (report, command) = (report, self)
        guard let selector = device ?? steps.device.flatMap({ DeviceSelector(argument: $0) }) else {
            throw .incomplete(
                """
                no device is named; name one with --device, or with "device" in the file of steps, or an accessory to simulate \
                before the file
                """
            )
        }
        try client.run(trust: trust) { client async throws(ToolError) in
            let results = await StepRunner(client, .inRange(selector)).run(steps) { Self.show($0, report) }
            try command.conclude(StepReport(name: command.name(of: steps), results: results), report)
        }
    }

    private static func show(_ result: StepResult, _ report: ToolReport) {
        report.show(StepDocument(result), as: StepReport.line(result))
    }

    private func conclude(_ result: StepReport, _ report: ToolReport) throws(ToolError) {
        report.show(TestedDocument(result), as: result.lines)
        if let junit {
            do throws(OutputFile.Failure) {
                try OutputFile.write(Array(result.junit.utf8), to: junit, reading: files)
            } catch {
                throw .incomplete("cannot write \(junit.visible): \(error.reason)")
            }
        }
        if let summary = result.summary { throw .incomplete(summary) }
    }
}
