import ArgumentParser
import CoreBluetooth
import Testing

@testable import harald

@Suite struct HelpTests {
    /// All commands without subcommands, below `root`.
    private func commands(below root: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        let own = root.configuration.subcommands
        return own.isEmpty ? [root] : own.flatMap { commands(below: $0) }
    }

    @Test func eachCommandTellsItsExitStatuses() {
        for command in commands(below: Harald.self) {
            let help = Harald.helpMessage(for: command).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(help.contains("xit status"), "\(command)")
        }
    }

    @Test("statuses that every command has come in order with those of the command")
    func sentences() {
        #expect(
            ExitStatus.text(.deviceNotFound)
                == """
                Exit status: 0 success, 1 any other failure, 5 device not found in time, or several fit, 64 usage error, 130 \
                interrupted (Ctrl-C).
                """
        )
        #expect(
            ExitStatus.textUntilInterrupted(.controllerUnreachable)
                == "Exit status: 0 success, 1 any other failure, 3 controller unreachable, 64 usage error."
        )
    }

    @Test(
        "statuses of failures are those of the help",
        arguments: [
            (ToolError.incomplete(""), 1), (.controllerUnreachable("", reason: ""), 3),
            (.controllerFailed("", reason: ""), 4), (.peerVanished("", doing: "", reason: ""), 6),
            (.notSecured("", reason: ""), 7), (.captureShowsFailure, 8), (.interrupted(2), 130),
            (.interrupted(15), 143),
            (.bluetooth(.unsupported), 3), (.bluetooth(.poweredOff), 4), (.bluetooth(.unauthorized), 1),
        ] as [(ToolError, Int32)]
    )
    func statuses(error: ToolError, status: Int32) {
        #expect(error.exitStatus == status)
    }
}
