import ArgumentParser
import EventLoops
import HCITransports
import ServiceMessages
import ServiceProcess

struct AgentCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Answer prompts of the Bluetooth service at this terminal, until interrupted.",
        discussion: """
            Prompts ask whether to pair, and whether an app may use Bluetooth. If there are several agents, the newest gets them.

            Example:
              harald agent

            \(ExitStatus.textUntilInterrupted())
            """
    )

    /// Without input it would keep prompts from other agents, and answer each with no.
    private static let inputEnded = "the input has ended, so no prompt can be answered; run harald agent at a terminal"

    @OptionGroup var service: ServiceOptions

    func execute() throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let client = service.connect(outcome, loop: loop) { client in
            let prompter = TerminalPrompter(
                loop: loop,
                prepared: nil,
                remedy: "bring it to the foreground with fg",
                onEnd: { outcome.finish(.failure(.service(Self.inputEnded))) }
            )
            let agent = Agent(prompter) { [weak client] in client?.answer($0, $1) }
            client.onPrompt = { agent.asked($0, $1) }
            client.onPromptClosed = { agent.closed($0) }
            client.ask(.prompts) { outcome.finish($0.map { _ in }.mapError(ToolError.init)) }
            Console.line("prompts of the Bluetooth service appear here")
            // Notices the end of the input even without a prompt.
            prompter.read()
        }
        defer { client.with { $0.close() } }
        try outcome.wait()
    }
}
