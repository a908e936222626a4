import ArgumentParser
import Foundation

struct ShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Run commands for devices interactively, with history and completion.",
        discussion: """
            The commands are scan, explore, connect, read, write, follow, pair, distance and devices, with their arguments, and \
            disconnect, help and quit. \(ClientOptions.discussion)

            A device stays connected from `connect` until `disconnect` or the end. Ctrl-C ends a command, Ctrl-D ends the shell. \
            Lines are split as in sh: with quotation marks, backslashes and comments after #.

            If standard input is not a terminal, the first command that fails ends the shell with its exit status.

            Examples:
              harald shell
              harald shell --controller hci0
              harald shell --keep-going < lines

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    /// Its own options, which its lines cannot have.
    static let options = VerbSyntax(ShellCommand.self)

    @OptionGroup var client: ClientOptions
    @OptionGroup var trust: TrustOptions

    @Flag(
        help:
            "Continue after a command that fails if standard input is not a terminal. Exit with its status at the end."
    )
    var keepGoing = false

    func validate() throws {
        try client.checkOptions(trust.given)
    }

    private var isInteractive: Bool { isatty(STDIN_FILENO) != 0 }
    /// Whether prompts can be shown.
    private var hasScreen: Bool { isInteractive && isatty(STDOUT_FILENO) != 0 }

    func run() throws {
        Console.endWithReader()
        let terminal = ShellTerminal(isTerminal: isInteractive, print: client.printToUser)
        let interrupts = ShellInterrupts(isInteractive: isInteractive)
        let session: ShellSession
        do throws(ToolError) {
            let host = try client.open(trust, keyboard: terminal, say: terminal.say, lost: interrupts.lost) {
                interrupts.fail($0)
            }
            let memory = ClientMemory(isForCompletion: hasScreen)
            session = ShellSession(host, memory, report: client.report, terminal, interrupts)
        } catch {
            throw error.report(json: client.showing.json)
        }
        handleSignals(interrupts, session)
        let status = status(of: session)
        session.leave()
        if status != 0 { throw ExitCode(status) }
    }

    private func handleSignals(_ interrupts: ShellInterrupts, _ session: ShellSession) {
        let (settings, hasScreen) = (TerminalSettings(), hasScreen)
        interrupts.begin {
            if hasScreen { Console.line("") }
        } redraw: {
            guard hasScreen else { return }
            Console.prompt(Shell.prompt(for: session.memory.connected.map(\.name)))
        } leave: { error in
            settings?.restore()
            session.leave()
            Foundation.exit(error.exitStatus)
        }
    }

    /// Runs the shell, once Bluetooth is on. Returns its status.
    private func status(of session: ShellSession) -> Int32 {
        if case .failure(let error) = session.perform(client.report, { _ in }) {
            client.report.fail(error)
            return error.exitStatus
        }
        let history = hasScreen ? ShellHistory() : nil
        let shell = Shell(
            session: session,
            source: source(ShellCompleter(memory: session.memory), history),
            history: history,
            json: client.showing.json,
            keepsGoing: keepGoing || isInteractive
        )
        let status = shell.run()
        // At a terminal, the user has seen what has failed.
        return isInteractive && session.end == nil ? 0 : status
    }

    private func source(_ completer: ShellCompleter, _ history: ShellHistory?) -> any LineSource {
        guard let history else { return PlainLines(showsPrompt: false) }
        if let editor = LibeditLines(history: history.lines(), complete: completer.complete) { return editor }
        Console.problem("harald: \(LibeditLines.advice)")
        return PlainLines(showsPrompt: true)
    }
}
